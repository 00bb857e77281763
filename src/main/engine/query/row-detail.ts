import { SluiceError } from '../../../shared/errors.ts'
import { formatCounted } from '../../../shared/figure-text.ts'
import type { Problem } from '../../../shared/problem.ts'
import type { AttemptDetail, RowDetail } from '../../../shared/results.ts'
import { findRowNamed } from '../journal/intake-writer.ts'
import { createPlaceReader } from '../journal/row-places.ts'
import type { DatabaseSync } from '../journal/sqlite-types.ts'
import { createResultRows, JOINED_COLUMNS, type JoinedRow } from './result-rows.ts'
import { createRowRequests, type RowRequest } from './row-requests.ts'
import type { RunView } from './run-view.ts'
import { createExchangeReader } from './stored-exchange.ts'

/** Reads everything known of one row. Throws `BAD_USAGE` where the run has no such row. */
export function readRow(view: RunView, row: number): RowDetail {
  const { db, record } = view
  const joined = db
    .prepare(`SELECT ${JOINED_COLUMNS} FROM row LEFT JOIN result ON result.row = row.id WHERE row.id = ?`)
    .get(row) as unknown as JoinedRow | undefined
  if (joined === undefined) {
    throw new SluiceError({
      code: 'BAD_USAGE',
      message: `run ${record.runId} has no row ${row}`,
      hint: `Its rows were read from ${record.plan.source.path}; ${formatCounted(record.rowsRead, 'row')} in all.`,
    })
  }
  const result = createResultRows(view)(joined)
  const item = joined.item
  const request = createRowRequests(view).toRequest(row, item)
  const exchanges = createExchangeReader(db)
  const answer = item === null ? null : exchanges.readAnswer(item)
  return {
    result,
    columns: record.columns,
    requestBody: item === null ? null : request.body,
    ...toRequestPart(request, row),
    requestMethod: request.method,
    requestUrl: request.url,
    responseBody: answer?.text ?? null,
    responseCutFrom: answer?.cutFrom ?? null,
    attempts: item === null ? [] : readAttempts(view, item),
    callbacks: item === null ? [] : exchanges.readCallbacks(item),
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

/** The row's own part of a request that carries several. */
function toRequestPart({ parts }: RowRequest, row: number): Pick<RowDetail, 'requestPart'> {
  const own = parts.length < 2 ? undefined : parts.find((part) => part.row === row)
  return own === undefined ? {} : { requestPart: { body: JSON.stringify(own.body), rows: parts.length } }
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
    .map(createProblemReader(db))
}

/** A function that makes a problem of what the journal stores, with the places of its row and of the row it names. */
export function createProblemReader(db: DatabaseSync): (row: Record<string, unknown>) => Problem {
  const toPlace = createPlaceReader(db)
  return (row) => {
    const problem = toProblem(row)
    const also = findRowNamed(problem.code, problem.message)
    return {
      ...problem,
      place: toPlace(problem.row),
      ...(also === null ? {} : { alsoAt: toPlace(also) }),
    }
  }
}

/** A problem as the journal stores it. */
function toProblem(row: Record<string, unknown>): Problem {
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
