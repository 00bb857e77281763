import type { Command } from 'commander'
import { SluiceError } from '../../../shared/messages/errors.ts'
import { formatProblem, toWordedProblem } from '../../../shared/messages/problem-messages.ts'
import { toStateName } from '../../../shared/messages/state-name.ts'
import { toNumbered } from '../../../shared/plan/source-place.ts'
import type { RowDetail } from '../../../shared/run/results.ts'
import { isLoadRun } from '../../../shared/run/run.ts'
import type { Engine } from '../../engine/engine.ts'
import type { CliContext } from '../context.ts'
import { writeDocument } from '../documents/write-document.ts'
import { withEngine } from '../engine-access.ts'
import { parseRowArgument } from '../options/parse-values.ts'
import { RUN_ARGUMENT_HELP, resolveRun } from '../options/run-reference.ts'
import { addDocumentOptions, addExamples, type DocumentFlags } from '../options/shared-options.ts'
import { printSummary } from '../session/settle-run.ts'
import { formatProblemGroups, formatRowDetail, toWordedGroups } from '../summary/row-text.ts'
import { toPrintable, toSnakeCase } from '../terminal/output.ts'

interface ShowFlags extends DocumentFlags {
  problems?: true
  row?: string
}

/** A row as programs read it: its state and its problems in words. */
function toNamed(detail: RowDetail) {
  const { result, problems } = detail
  return {
    ...detail,
    result: { ...toNumbered(result), state: toStateName(result.state) },
    problems: problems.map(toWordedProblem),
  }
}

/** A load test submits each row many times, and keeps a sample of them. */
function refuseRow(runId: string): never {
  throw new SluiceError({ id: 'row_of_load', runId })
}

/** Adds `show RUN`: the whole run, the problems of its rows, or one row with its exact exchange. */
export function addShowCommand(program: Command, context: CliContext): void {
  const command = program
    .command('show')
    .argument('<run>', RUN_ARGUMENT_HELP)
    .description('Shows the state and results of a run.')
    .option('--problems', 'problems in the source, grouped by cause')
    .option(
      '--row <n>',
      'one row, numbered as in the spreadsheet (the header is row 1), with its cells, request, attempts, answer and callbacks',
      parseRowArgument,
    )
  addDocumentOptions(command).action(async (reference: string, flags: ShowFlags) => {
    await withEngine(context, flags.workspace, async (engine) => {
      const run = await resolveRun(engine, reference)
      if (flags.row !== undefined) {
        if (isLoadRun(run)) refuseRow(run.run_id)
        const detail = await engine.results.readRow(
          run.run_id,
          await engine.results.findRow(run.run_id, flags.row),
        )
        if (flags.json) return writeDocument(context.out, toSnakeCase(toNamed(detail)) as object)
        return context.out.writeLine(formatRowDetail(context.outTerminal, detail))
      }
      if (flags.problems) {
        if (!flags.json) return printProblems(context, engine, run.run_id)
        const problems = await engine.results.readProblems(run.run_id)
        return writeDocument(context.out, { run_id: run.run_id, problems: toWordedGroups(problems) })
      }
      await printSummary(context, engine, run, flags)
    })
  })
  addExamples(command, ['show latest', 'show latest --problems', 'show latest --row 17'])
}

const EXAMPLES = 10
const PAGE_ROWS = 500

/** Prints what is wrong with the rows of a run's source: by cause, then each row where the examples leave some out. */
export async function printProblems(context: CliContext, engine: Engine, runId: string): Promise<void> {
  const { out, outTerminal } = context
  const groups = await engine.results.readProblems(runId)
  if (groups.length === 0) {
    await out.writeLine('No problems: every row is valid.')
    return
  }
  for (const line of formatProblemGroups(outTerminal, groups, EXAMPLES, 'with_fixes'))
    await out.writeLine(line)
  const isCut = groups.some((group) => group.severity === 'error' && group.rows > group.examples.length)
  if (!isCut) return
  await out.writeLine(`\n${outTerminal.tone('strong', 'All invalid rows')}`)
  for (let offset = 0; out.isOpen(); offset += PAGE_ROWS) {
    const { rows } = await engine.results.readPage(runId, {
      filter: { state: 'invalid' },
      offset,
      limit: PAGE_ROWS,
    })
    for (const { row } of rows) {
      const { problems } = await engine.results.readRow(runId, row)
      for (const problem of problems) {
        if (problem.severity === 'error') await out.writeLine(`  ${toPrintable(formatProblem(problem))}`)
      }
    }
    if (rows.length < PAGE_ROWS) return
  }
}
