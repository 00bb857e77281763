import { IN_FLIGHT_MAX } from '../../../../shared/load/load-pace.ts'
import type { RowFilter } from '../../../../shared/run/results.ts'
import type { RunView } from '../../journal/run-view.ts'
import type { SQLInputValue } from '../../workspace/sqlite-types.ts'
import { countUnaccounted, readFacetCounts } from './family-counts.ts'

/** States of items that ended without success. */
export const UNSUCCESSFUL = ['rejected', 'failed', 'unknown', 'overdue']

/** Where the rows that match a filter are found, so that SQLite walks the shortest index and never sorts. */
export interface PageSource {
  from: string
  where: string[]
  params: SQLInputValue[]
  /** What the rows are ordered by; ascends with the row number. */
  key: string
}

const ROWS = 'row LEFT JOIN result ON result.row = row.id'

/** Finds the rows of one run that match a filter that the journal's own indexes answer, see `isSimple`. */
export function toPageSource(view: RunView, filter: RowFilter): PageSource {
  const { ruleIds: [ruleId] = [], errorCode, answer } = filter
  const byResult = toResultConditions(view, filter)
  if (ruleId !== undefined) {
    const from = `row_rule CROSS JOIN result ON result.row = row_rule.row
      CROSS JOIN row ON row.id = row_rule.row`
    const where = ['row_rule.rule = (SELECT id FROM rule WHERE rule_id = ?)', ...byResult.where]
    return { from, where, params: [ruleId, ...byResult.params], key: 'row_rule.row' }
  }
  if (answer !== undefined) {
    const from = 'result INDEXED BY result_by_answer CROSS JOIN row ON row.id = result.row'
    return { from, ...byResult, key: 'result.row' }
  }
  if (errorCode !== undefined) {
    const from = 'result INDEXED BY result_by_error CROSS JOIN row ON row.id = result.row'
    return { from, ...byResult, key: 'result.row' }
  }
  return toStateSource(view, filter)
}

function toStateSource(view: RunView, { state, unsuccessful }: RowFilter): PageSource {
  const unsettled = view.isCutOff ? toUnsettled(view) : null
  if (unsuccessful) {
    const invalid = 'SELECT id FROM row INDEXED BY row_invalid WHERE item IS NULL'
    const settled = `SELECT row FROM result INDEXED BY result_by_state WHERE state IN (${toList(UNSUCCESSFUL)})`
    const sources = unsettled === null ? [invalid, settled] : [invalid, settled, unsettled.sql]
    return { from: ROWS, where: [isIn(sources)], params: unsettled?.params ?? [], key: 'row.id' }
  }
  if (state === undefined) return { from: ROWS, where: [], params: [], key: 'row.id' }
  if (state === 'invalid') {
    const from = 'row INDEXED BY row_invalid LEFT JOIN result ON result.row = row.id'
    return { from, where: ['row.item IS NULL'], params: [], key: 'row.id' }
  }
  if (state === 'unknown' && unsettled !== null) {
    const settled = "SELECT row FROM result WHERE state = 'unknown'"
    return { from: ROWS, where: [isIn([settled, unsettled.sql])], params: unsettled.params, key: 'row.id' }
  }
  // Nobody is sending any more.
  if (state === 'sending' && view.isCutOff) return { from: ROWS, where: ['FALSE'], params: [], key: 'row.id' }
  if (state === 'pending' || state === 'sending') {
    // What was never tried has no result: it stands above the watermark, or is in flight just below it.
    const untried =
      state === 'pending'
        ? 'SELECT id FROM row WHERE id > ? AND item IS NOT NULL'
        : `SELECT id FROM (SELECT id FROM row WHERE id <= ? AND item IS NOT NULL
           ORDER BY id DESC LIMIT ${IN_FLIGHT_MAX})`
    return {
      from: ROWS,
      where: [
        isIn(['SELECT row FROM result WHERE state = ?', untried]),
        '(result.state IS NULL OR result.state = ?)',
      ],
      params: [state, view.record.claimed, state],
      key: 'row.id',
    }
  }
  const from = 'result INDEXED BY result_by_state CROSS JOIN row ON row.id = result.row'
  return { from, where: ['result.state = ?'], params: [state], key: 'result.row' }
}

/** The rows that were marked and never settled by a process that is gone. */
function toUnsettled(view: RunView): { sql: string; params: SQLInputValue[] } {
  const sending = readFacetCounts(view.db).get('state')?.get('sending') ?? 0
  const untried = countUnaccounted(view) - sending
  return {
    // The bound ends the walk where the last of them is found; they lie close under the watermark.
    sql: `SELECT row FROM result WHERE state = 'sending' UNION ALL
      SELECT id FROM (SELECT id FROM row WHERE id <= ? AND item IS NOT NULL
      AND NOT EXISTS (SELECT 1 FROM result WHERE result.row = row.id) ORDER BY id DESC LIMIT ?)`,
    params: [view.record.claimed, Math.max(0, untried)],
  }
}

function toResultConditions(
  { isCutOff }: RunView,
  { state, errorCode, answer, unsuccessful }: RowFilter,
): { where: string[]; params: SQLInputValue[] } {
  const where: string[] = []
  const params: SQLInputValue[] = []
  const cutOff = isCutOff ? ['sending'] : []
  if (answer !== undefined) {
    where.push('result.answer = ?')
    params.push(answer)
  }
  if (unsuccessful) where.push(`result.state IN (${toList([...UNSUCCESSFUL, ...cutOff])})`)
  if (errorCode !== undefined) {
    // A row that is to be tried again, or was delivered before, has the code of a try and no error.
    where.push(`result.error_code = ? AND result.state IN (${toList(UNSUCCESSFUL)})`)
    params.push(errorCode)
  }
  if (state === 'unknown') where.push(`result.state IN (${toList(['unknown', ...cutOff])})`)
  else if (state === 'sending' && isCutOff) where.push('FALSE')
  else if (state !== undefined) {
    where.push('result.state = ?')
    params.push(state)
  }
  return { where, params }
}

function isIn(sources: readonly string[]): string {
  return `row.id IN (${sources.join(' UNION ALL ')})`
}

function toList(states: readonly string[]): string {
  return states.map((state) => `'${state}'`).join(', ')
}
