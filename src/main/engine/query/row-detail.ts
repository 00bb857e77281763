import { SluiceError } from '../../../shared/errors.ts'
import type { Problem } from '../../../shared/problem.ts'
import type { AttemptDetail, CallbackDetail, RowDetail } from '../../../shared/results.ts'
import { readReceiverSettings } from '../journal/receiver-settings.ts'
import { resolveMapping } from '../mapping/resolve-mapping.ts'
import { createRowMapper } from '../mapping/row-mapper.ts'
import { createOperationExchange } from '../service/operation-exchange.ts'
import { createRunAddresses } from '../service/run-addresses.ts'
import { createResultRows, JOINED_COLUMNS, type JoinedRow } from './result-rows.ts'
import type { RunView } from './run-view.ts'

/** Rows among which those of an item are looked for; invalid ones may stand between them. */
const ITEM_SPAN_MAX = 100_000

/** Reads everything known of one row. Throws `BAD_USAGE` where the run has no such row. */
export function readRow(view: RunView, row: number): RowDetail {
  const { db, record } = view
  const joined = db
    .prepare(
      `SELECT ${JOINED_COLUMNS}, (SELECT response FROM result WHERE result.row = row.item) AS response
       FROM row LEFT JOIN result ON result.row = row.id WHERE row.id = ?`,
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
  const item = joined.item
  const request = toRequest(view, row, item)
  return {
    result,
    columns: record.columns,
    requestBody: item === null ? null : request.body,
    ...(request.part === null ? {} : { requestPart: request.part }),
    requestMethod: request.method,
    requestUrl: request.url,
    responseBody: joined.response,
    attempts: item === null ? [] : readAttempts(view, item),
    callbacks: item === null ? [] : readCallbacks(view, item),
    problems: readProblemsOf(view, row),
    classScores:
      item === null
        ? []
        : db
            .prepare('SELECT class, score FROM row_class WHERE row = ? ORDER BY score DESC, class')
            .all(row)
            .map((row) => ({ className: String(row['class']), score: Number(row['score']) })),
  }
}

/** The exact request of a row's item, as it was or will be sent: a pure function of the plan and the rows' cells. */
function toRequest({ db, record, workspace }: RunView, row: number, item: number | null) {
  const { plan, columns, runToken } = record
  const addresses = createRunAddresses(record, () => readReceiverSettings(workspace).secret)
  const mapping = resolveMapping(plan, columns)
  const mapRow = createRowMapper({ ...plan, mapping }, columns, runToken, addresses)
  const exchange = createOperationExchange(plan, { deliveredCodes: [], nowMs: Date.now })
  const rows =
    item === null
      ? db.prepare('SELECT id, cells FROM row WHERE id = ?').all(row)
      : db
          .prepare('SELECT id, cells FROM row WHERE item = ?1 AND id BETWEEN ?1 AND ?1 + ?2 ORDER BY id')
          .all(item, ITEM_SPAN_MAX)
  const bodies = rows.map(({ id, cells }) => mapRow(Number(id), JSON.parse(String(cells)) as string[]).body)
  const request = exchange.toRequest(bodies, item === null ? null : addresses.toCallbackUrl(item))
  const own = rows.length < 2 ? undefined : bodies[rows.findIndex(({ id }) => Number(id) === row)]
  const part = own === undefined ? null : { body: JSON.stringify(own), rows: rows.length }
  return { ...request, part, url: exchange.baseUrl.replace(/\/+$/, '') + request.path }
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

function readCallbacks({ db }: RunView, item: number): CallbackDetail[] {
  return db
    .prepare('SELECT received_at_us, effect, body FROM callback WHERE item = ? ORDER BY id')
    .all(item)
    .map((row) => ({
      receivedAt: new Date(Number(row['received_at_us']) / 1000).toISOString(),
      effect: String(row['effect']),
      body: String(row['body']),
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
