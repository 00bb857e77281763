import { formatProblem } from '../../../shared/run/problem.ts'
import type { Engine } from '../../engine/engine-interface.ts'
import type { CliContext } from '../context.ts'
import { formatProblemGroups } from '../summary/problems-text.ts'
import { toPrintable } from '../terminal/printable.ts'

const EXAMPLES = 10
const PAGE_ROWS = 500

/** Prints what is wrong with the rows of a run's source: by cause, then each row where the examples leave some out. */
export async function printProblems(context: CliContext, engine: Engine, runId: string): Promise<void> {
  const { out, outTerminal } = context
  const groups = await engine.readProblems(runId)
  if (groups.length === 0) {
    await out.writeLine('No problems: every row is valid.')
    return
  }
  for (const line of formatProblemGroups(outTerminal, groups, EXAMPLES)) await out.writeLine(line)
  const isCut = groups.some((group) => group.severity === 'error' && group.rows > group.examples.length)
  if (!isCut) return
  await out.writeLine(`\n${outTerminal.tone('strong', 'All invalid rows')}`)
  for (let offset = 0; out.isOpen(); offset += PAGE_ROWS) {
    const { rows } = await engine.readPage(runId, {
      filter: { state: 'invalid' },
      offset,
      limit: PAGE_ROWS,
    })
    for (const { row } of rows) {
      const { problems } = await engine.readRow(runId, row)
      for (const problem of problems) {
        if (problem.severity === 'error') await out.writeLine(`  ${toPrintable(formatProblem(problem))}`)
      }
    }
    if (rows.length < PAGE_ROWS) return
  }
}
