import type { RowState } from '../../../../shared/run/item-state.ts'
import type { ResultRow } from '../../../../shared/run/results.ts'
import type { RunView } from '../../journal/run-view.ts'
import { createPostIdMapper } from '../../mapping/row-mapper.ts'
import { createPlaceReader } from '../journal/intake-writer.ts'
import { CUT_OFF_MESSAGE } from '../journal/recovery.ts'

/** What a {@link JoinedRow} is read from `row` and `result`. */
const JOINED_COLUMNS = `row.id, row.cells, row.item, result.state, result.attempts, result.status,
  result.error_code, result.message, result.task_id, result.duration_us, result.custom_index_item_id, result.answer,
  result.callback_us, row.kinds`

/** A row with its result, as SQLite gives it. */
interface JoinedRow {
  id: number
  cells: string
  item: number | null
  state: string | null
  attempts: number | null
  status: number | null
  error_code: string | null
  message: string | null
  task_id: string | null
  duration_us: number | null
  custom_index_item_id: string | null
  answer: string | null
  callback_us: number | null
  kinds: string | null
}

/** A row as one run of a whole shows it, with what it was made of. */
export interface RunRow {
  result: ResultRow
  joined: JoinedRow
}

/** Reads rows of one run as the results table shows them, ascending by number; those that the run lacks are left out. */
export function readRunRows(view: RunView, ids: readonly number[]): RunRow[] {
  const wanted = JSON.stringify(ids)
  const joined = view.db
    .prepare(
      `SELECT ${JOINED_COLUMNS} FROM row LEFT JOIN result ON result.row = row.id
       WHERE row.id IN (SELECT value FROM json_each(?)) ORDER BY row.id`,
    )
    .all(wanted) as unknown as JoinedRow[]
  const toResult = createResultRows(view, readRules(view, wanted))
  return joined.map((row) => ({ result: toResult(row), joined: row }))
}

/** The rules that each of the rows triggered; `ids` is a JSON array. */
function readRules({ db }: RunView, ids: string): ReadonlyMap<number, ResultRow['triggeredRules']> {
  const found = db
    .prepare(
      `SELECT row, rule_id, rule_name FROM row_rule INDEXED BY row_rule_by_row
       JOIN rule ON rule.id = row_rule.rule WHERE row IN (SELECT value FROM json_each(?)) ORDER BY row, rule.id`,
    )
    .all(ids)
  const rules = new Map<number, ResultRow['triggeredRules']>()
  for (const { row, rule_id, rule_name } of found) {
    const rule = { ruleId: String(rule_id), ruleName: String(rule_name) }
    const others = rules.get(Number(row))
    if (others === undefined) rules.set(Number(row), [rule])
    else others.push(rule)
  }
  return rules
}

/** Completes rows with what stands elsewhere: their places, their post_ids and what is wrong with them. */
function createResultRows(
  { db, record, isCutOff }: RunView,
  rules: ReadonlyMap<number, ResultRow['triggeredRules']>,
): (joined: JoinedRow) => ResultRow {
  const toPlace = createPlaceReader(db)
  const toPostId = createPostIdMapper(record.plan, record.columns, record.runToken)
  const errorsOf = db.prepare(
    "SELECT field, message, found FROM problem WHERE row = ? AND severity = 'error' ORDER BY id",
  )
  return (joined) => {
    const cells = JSON.parse(joined.cells) as string[]
    const isInvalid = joined.item === null
    const problems = isInvalid ? errorsOf.all(joined.id) : []
    const state = toState(joined, record.claimed)
    // Nobody is sending any more; such a row is shown as recovery will leave it.
    const isUnsettled = isCutOff && state === 'sending'
    const message = isInvalid ? problems.map(toProblemMessage).join('; ') : joined.message
    return {
      row: joined.id,
      place: toPlace(joined.id),
      state: isUnsettled ? 'unknown' : state,
      status: isUnsettled ? null : joined.status,
      errorCode: isUnsettled ? null : joined.error_code,
      message: isUnsettled ? CUT_OFF_MESSAGE : message,
      taskId: joined.task_id,
      postId: isInvalid ? null : toPostId(joined.id, cells, joined.kinds),
      triggeredRules: isInvalid || joined.state === null ? [] : (rules.get(joined.id) ?? []),
      customIndexItemId: joined.custom_index_item_id,
      answer: joined.answer as ResultRow['answer'],
      durationMs: joined.duration_us === null ? null : joined.duration_us / 1000,
      callbackLatencyMs: joined.callback_us === null ? null : joined.callback_us / 1000,
      attempts: (joined.attempts ?? 0) + (isUnsettled ? 1 : 0),
      cells,
    }
  }
}

function toState({ item, state, id }: JoinedRow, claimed: number): RowState {
  if (item === null) return 'invalid'
  return (state as RowState | null) ?? (id <= claimed ? 'sending' : 'pending')
}

function toProblemMessage({ field, message, found }: Record<string, unknown>): string {
  const where = typeof field === 'string' ? `${field}: ` : ''
  return `${where}${message}${typeof found === 'string' ? `, found \`${found}\`` : ''}`
}
