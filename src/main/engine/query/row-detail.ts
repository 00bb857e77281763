import { SluiceError } from '../../../shared/errors.ts'
import type { Problem } from '../../../shared/problem.ts'
import type { AttemptDetail, RowDetail } from '../../../shared/results.ts'
import { resolveMapping } from '../mapping/resolve-mapping.ts'
import { createRowMapper } from '../mapping/row-mapper.ts'
import { createTaskRequests } from '../service/task-request.ts'
import { createResultRows, type JoinedRow } from './result-rows.ts'
import type { RunView } from './run-view.ts'

/** Reads everything known of one row. Throws `BAD_USAGE` where the run has no such row. */
export function readRow(view: RunView, row: number): RowDetail {
  const { db, record } = view
  const joined = db
    .prepare(
      `SELECT row.id, row.cells, row.item, result.state, result.attempts, result.status, result.error_code,
       result.message, result.task_id, result.duration_us, result.response
       FROM row LEFT JOIN result ON result.item = row.item WHERE row.id = ?`,
    )
    .get(row) as unknown as (JoinedRow & { response: string | null }) | undefined
  const [result] = joined === undefined ? [] : createResultRows(view, [joined])
  if (joined === undefined || result === undefined) {
    throw new SluiceError({
      code: 'BAD_USAGE',
      message: `run ${record.runId} has no row ${row}`,
      hint: `Its rows were read from ${record.plan.source.path}; ${record.rowsRead} rows in all.`,
    })
  }
  const request = toRequest(view, row, result.cells)
  const item = joined.item
  return {
    result,
    columns: record.columns,
    requestBody: item === null ? null : request.body,
    requestUrl: record.plan.connection.baseUrl.replace(/\/+$/, '') + request.path,
    responseBody: joined.response,
    attempts: item === null ? [] : readAttempts(view, item),
    problems: readProblemsOf(view, row),
    classScores:
      item === null
        ? []
        : db
            .prepare('SELECT class, score FROM item_class WHERE item = ? ORDER BY score DESC, class')
            .all(item)
            .map((row) => ({ className: String(row['class']), score: Number(row['score']) })),
  }
}

/** The exact request of a row, as it was or will be sent: a pure function of the plan and the row's cells. */
function toRequest(
  { record }: RunView,
  row: number,
  cells: readonly string[],
): { path: string; body: string | null } {
  const mapping = resolveMapping(record.plan, record.columns)
  const mapRow = createRowMapper({ ...record.plan, mapping }, record.columns, record.runToken)
  return createTaskRequests(record.plan)(mapRow(row, cells).body)
}

function readAttempts({ db }: RunView, item: number): AttemptDetail[] {
  return db
    .prepare('SELECT * FROM attempt WHERE item = ? ORDER BY number')
    .all(item)
    .map((row) => ({
      number: Number(row['number']),
      sentAt: row['sent_at_us'] === null ? '' : new Date(Number(row['sent_at_us']) / 1000).toISOString(),
      outcome: String(row['outcome']),
      status: toNumber(row['status']),
      errorCode: toText(row['error_code']),
      message: toText(row['message']),
      durationMs: toMs(row['duration_us']),
      waitingMs: toMs(row['waiting_us']),
      connectMs: toMs(row['connect_us']),
      tlsMs: toMs(row['tls_us']),
    }))
}

function readProblemsOf({ db }: RunView, row: number): Problem[] {
  return db
    .prepare('SELECT row, severity, code, field, message, found FROM problem WHERE row = ? ORDER BY id')
    .all(row)
    .map(toProblem)
}

/** A problem as the journal stores it. */
export function toProblem(row: Record<string, unknown>): Problem {
  const field = toText(row['field'])
  const found = toText(row['found'])
  return {
    row: Number(row['row']),
    severity: row['severity'] as Problem['severity'],
    code: row['code'] as Problem['code'],
    message: String(row['message']),
    ...(field === null ? {} : { field }),
    ...(found === null ? {} : { found }),
  }
}

function toMs(us: unknown): number | null {
  const number = toNumber(us)
  return number === null ? null : number / 1000
}

function toNumber(value: unknown): number | null {
  return value === null || value === undefined ? null : Number(value)
}

function toText(value: unknown): string | null {
  return value === null || value === undefined ? null : String(value)
}
