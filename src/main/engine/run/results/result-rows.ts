import type { ResultRow, RowState } from '../../../../shared/run/results.ts'
import type { RunRecord } from '../../journal/run-record.ts'
import type { RunView } from '../../journal/run-view.ts'
import { resolveMapping } from '../../mapping/resolve-mapping.ts'
import { createRowMapper } from '../../mapping/row-mapper.ts'
import { createPlaceReader } from '../journal/intake-writer.ts'
import { CUT_OFF_MESSAGE } from '../journal/recovery.ts'

/** What a {@link JoinedRow} is read from `row` and `result`. */
export const JOINED_COLUMNS = `row.id, row.cells, row.item, result.state, result.attempts, result.status,
  result.error_code, result.message, result.task_id, result.duration_us, result.custom_index_item_id, result.answer,
  result.callback_us, row.kinds`

/** A row with its result, as SQLite gives it. */
export interface JoinedRow {
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

/** Prepares completing rows with what stands elsewhere: their post_id and their triggered rules. */
export function createResultRows({ db, record, isCutOff }: RunView): (joined: JoinedRow) => ResultRow {
  const toPlace = createPlaceReader(db)
  const toPostId = createPostIds(record)
  const rulesOf = db.prepare(
    `SELECT rule_id, rule_name FROM row_rule JOIN rule ON rule.id = row_rule.rule WHERE row = ? ORDER BY rule.id`,
  )
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
      postId: isInvalid ? null : toPostId(joined.id, cells),
      triggeredRules:
        joined.item === null || joined.state === null
          ? []
          : rulesOf.all(joined.id).map((rule) => ({
              ruleId: String(rule['rule_id']),
              ruleName: String(rule['rule_name']),
            })),
      customIndexItemId: joined.custom_index_item_id,
      answer: joined.answer as ResultRow['answer'],
      durationMs: joined.duration_us === null ? null : joined.duration_us / 1000,
      callbackLatencyMs: joined.callback_us === null ? null : joined.callback_us / 1000,
      attempts: (joined.attempts ?? 0) + (isUnsettled ? 1 : 0),
      cells,
    }
  }
}

/** Null for rows that have none, such as those of a watchlist. */
function createPostIds(record: RunRecord): (row: number, cells: readonly string[]) => string | null {
  const mapping = resolveMapping(record.plan, record.columns)
  const mapRow = createRowMapper({ ...record.plan, mapping }, record.columns, record.runToken)
  return (row, cells) => mapRow(row, cells).postId || null
}

function toState({ item, state, id }: JoinedRow, claimed: number): RowState {
  if (item === null) return 'invalid'
  return (state as RowState | null) ?? (id <= claimed ? 'sending' : 'pending')
}

function toProblemMessage({ field, message, found }: Record<string, unknown>): string {
  const where = typeof field === 'string' ? `${field}: ` : ''
  return `${where}${message}${typeof found === 'string' ? `, found \`${found}\`` : ''}`
}
