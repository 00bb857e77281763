import { formatProblem, type Problem } from '../../../shared/run/problem.ts'
import type { Engine } from '../../engine/engine-interface.ts'
import { toPrintable } from '../terminal/printable.ts'
import { formatTable } from '../terminal/table.ts'
import type { Terminal } from '../terminal/terminal.ts'

const MOST_ROWS = 50

/** The problem's sentence without the row, which stands in a column of its own. */
function toReason(problem: Problem): string {
  return formatProblem(problem).replace(/^row \d+[,:] /, '')
}

/** A table of the rows that did not succeed and why, in the order of the source. */
export async function formatUnsuccessfulRows(
  terminal: Terminal,
  engine: Engine,
  runId: string,
): Promise<string[]> {
  const reasons: { row: number; cells: string[] }[] = []
  for (const state of ['invalid', 'rejected', 'failed', 'unknown'] as const) {
    const page = await engine.readPage(runId, { filter: { state }, offset: 0, limit: MOST_ROWS })
    for (const result of page.rows) {
      const { problems } = await engine.readRow(runId, result.row)
      const errors = problems.filter((problem) => problem.severity === 'error')
      const answer = [result.status, result.errorCode, result.message].filter((part) => part !== null)
      const reason = errors.length > 0 ? errors.map(toReason).join('; ') : answer.join(' ')
      reasons.push({ row: result.row, cells: [String(result.row), state, toPrintable(reason)] })
    }
  }
  if (reasons.length === 0) return []
  const table = formatTable(
    terminal,
    [
      { title: 'ROW', align: 'right' },
      { title: 'STATE', align: 'left' },
      { title: 'WHY', align: 'left', minColumns: 20 },
    ],
    reasons.toSorted((one, other) => one.row - other.row).map(({ cells }) => cells),
    2,
  )
  return [terminal.tone('strong', 'Rows that did not succeed'), ...table]
}
