import { SluiceError } from '../../../../shared/messages/errors.ts'
import { toRowsPerItem } from '../../../../shared/operations/operations.ts'
import type { Problem } from '../../../../shared/run/problem.ts'
import type { AttemptDetail, CallbackDetail, ExportRow, RowDetail } from '../../../../shared/run/results.ts'
import { selectItemRows, selectSentItem } from '../../journal/item-rows.ts'
import type { RunFamily, RunView } from '../../journal/run-family.ts'
import { createSentAsReader, createSentKindsReader } from '../../journal/sent-as.ts'
import { createExchangeReader } from '../../journal/stored-bodies.ts'
import { type Body, writeBody } from '../../mapping/json-text.ts'
import { createRowHash } from '../../mapping/row-hash.ts'
import { toHalf } from '../../mapping/split-row.ts'
import { createItemRequests, type ItemRow } from '../../sending/item-requests.ts'
import { toNumber, toText } from '../../workspace/sqlite.ts'
import { createPlaceAdder } from '../journal/problem-places.ts'
import { CUT_OFF_MESSAGE } from '../journal/recovery.ts'
import { PROBLEM_COLUMNS, toStoredProblem } from '../journal/stored-problems.ts'
import {
  findNewest,
  isUnsettled,
  type JoinedRow,
  listEarlier,
  readFamilyRows,
  readRunRows,
} from './family-rows.ts'

/** Reads everything known of one row. Throws `BAD_USAGE` if the run has no such row. */
export function readRow(family: RunFamily, row: number): RowDetail {
  const newest = findNewest(family, [row])[0]?.member
  if (newest === undefined) throw toNoRow(family, row)
  const earlier = listEarlier(family, newest)
  const detail = readRowOf(newest, row)
  const tried = detail.attempts.length > 0 || newest.record.parentRunId === null
  // A row that a retry has not sent yet shows the last answer before it.
  const answered = tried ? newest : (earlier.find((run) => readTries(run, row).length > 0) ?? newest)
  const before = answered === newest ? null : readRowOf(answered, row)
  const [shown] = readFamilyRows(family, [{ id: row, member: newest }])
  const runs = [...earlier.reverse(), newest]
  return {
    ...(before === null ? detail : toNext(before, detail)),
    result: shown?.result ?? detail.result,
    attempts: numberTries(runs.map((run) => readTries(run, row, run !== answered))),
    callbacks: runs.flatMap((run) => readCallbacksOf(run, row)),
  }
}

/**
 * Tries of several runs in order, numbered through; those of one run keep their numbers, since a request that
 * was too large and was split leaves its tries with its first half.
 */
export function numberTries(ofRuns: readonly (readonly AttemptDetail[])[]): AttemptDetail[] {
  const tries = ofRuns.flat()
  return ofRuns.length === 1 ? tries : tries.map((tried, index) => ({ ...tried, number: index + 1 }))
}

/** The last answer of a row, with its present problems and corrections. */
function toNext(
  { corrections: _sentBefore, ...before }: RowDetail,
  { problems, corrections }: RowDetail,
): RowDetail {
  return { ...before, problems, ...(corrections !== undefined && { corrections }) }
}

function findItem({ db }: RunView, row: number): number | null {
  const found = db
    .prepare(
      `SELECT iif(item IS NOT NULL OR attempts > 0, ${selectSentItem('row')}, NULL) AS item FROM row
       LEFT JOIN result ON result.row = row.id WHERE id = ?`,
    )
    .get(row)
  return found?.['item'] == null ? null : Number(found['item'])
}

/** The tries of a row in one run; its last answer is the row's unless it `isEarlier`. */
function readTries(run: RunView, row: number, isEarlier = false): AttemptDetail[] {
  const item = findItem(run, row)
  if (item === null) return []
  const tried = findTries(run, row)
  const tries = addResponses(readAttempts(run, item, tried), item, createExchangeReader(run.db), {
    isEarlier: isEarlier || isUnsendable(run, row),
    tried,
  })
  return [...tries, ...readLostTry(run, row)]
}

/** {@link toLostTry} of a row in one run. */
function readLostTry(run: RunView, row: number): AttemptDetail[] {
  const [found] = run.isCutOff ? readRunRows(run, [row]) : []
  if (found === undefined) return []
  return toLostTry(run, found.joined, readAttempts(run, found.joined.item ?? row))
}

/**
 * The try of a row that was in flight when its process died, as recovery will record it; none of any other
 * row. `tries` are the recorded ones of its item.
 */
export function toLostTry(
  run: RunView,
  joined: JoinedRow,
  tries: readonly Pick<AttemptDetail, 'number'>[],
): AttemptDetail[] {
  if (!isUnsettled(run, joined)) return []
  const number = Math.max(joined.attempts ?? 0, tries.at(-1)?.number ?? 0) + 1
  return [toAttempt(run.record, { number, sent_at_us: null, outcome: 'unknown', message: CUT_OFF_MESSAGE })]
}

/** Whether a row will not be sent again, and so has no answer of its own. */
function isUnsendable({ db }: RunView, row: number): boolean {
  return db.prepare('SELECT 1 FROM row WHERE id = ? AND item IS NULL').get(row) !== undefined
}

/** How often a row in a request of several was tried; undefined if it is alone: its tries are its item's. */
function findTries({ db, record }: RunView, row: number): number | undefined {
  if (toRowsPerItem(record.plan.operation) === 1) return undefined
  return Number(db.prepare('SELECT attempts FROM result WHERE row = ?').get(row)?.['attempts'] ?? 0)
}

/**
 * Adds the answers to tries other than the row's own answer; with `isEarlier` the run's last answer is not
 * its own either. `tried` is how often a row in a request of several was tried.
 */
export function addResponses(
  tries: readonly AttemptDetail[],
  item: number,
  exchanges: ReturnType<typeof createExchangeReader>,
  { isEarlier, tried }: { isEarlier: boolean; tried?: number | undefined },
): AttemptDetail[] {
  const answers = new Map(exchanges.readTryAnswers(item))
  const last = tries.findLast(({ number, status }) => status !== null && !answers.has(number))
  // The item's stored answer may be that to an earlier try of a row of several.
  const isOwn = tried === undefined || last?.number === tried
  const answer = last !== undefined && (isEarlier || !isOwn) ? exchanges.readAnswer(item) : null
  if (last !== undefined && answer !== null) answers.set(last.number, answer)
  if (tried !== undefined && !isEarlier) answers.delete(tried)
  return tries.map((tried) => {
    const body = answers.get(tried.number)
    return body === undefined ? tried : { ...tried, response: { body: body.text, cutFrom: body.cutFrom } }
  })
}

function readCallbacksOf(run: RunView, row: number): CallbackDetail[] {
  const item = findItem(run, row)
  return item === null ? [] : createExchangeReader(run.db).readCallbacks(item)
}

function toNoRow({ record }: RunView, row: number): SluiceError {
  return new SluiceError({
    id: 'record_not_found',
    runId: record.runId,
    record: row,
  })
}

function readRowOf(view: RunView, row: number): RowDetail {
  const { db, record } = view
  const [found] = readRunRows(view, [row])
  if (found === undefined) throw toNoRow(view, row)
  const { result, joined } = found
  const item = joined.item
  const requests = createRowRequests(view)
  const sentKinds = readSentKinds(view, joined)
  const own = { row, cells: result.cells, kinds: sentKinds ?? joined.kinds }
  const request = requests.toRequest(row, item, sentKinds === null ? null : own)
  const { corrections } = requests.mapRow(row, result.cells, joined.kinds)
  const half = toHalf(row, joined.kinds)
  const exchanges = createExchangeReader(db)
  const tried = findTries(view, row)
  const sentItem = findItem(view, row)
  const answer = item === null ? null : exchanges.readAnswer(item, tried)
  return {
    result,
    columns: record.columns,
    rowHash: createRowHash(record.columns)(result.cells, joined.kinds),
    requestBody: item === null ? null : request.body,
    ...(item === null && request.body !== null && { unsentBody: request.body }),
    ...toRequestPart(request, row),
    requestMethod: request.method,
    requestUrl: request.url,
    responseBody: answer?.text ?? null,
    responseCutFrom: answer?.cutFrom ?? null,
    attempts: sentItem === null ? [] : [...readAttempts(view, sentItem, tried), ...readLostTry(view, row)],
    callbacks: sentItem === null ? [] : exchanges.readCallbacks(sentItem),
    problems: readProblemsOf(view, row),
    ...(corrections !== undefined && { corrections: [...corrections] }),
    ...(half !== null && half.of !== row && { halfOf: half.of }),
  }
}

/** The kinds with which a row was last sent, if a correction has queued it since; null if none has. */
export function readSentKinds(
  { db }: RunView,
  { id, state, attempts }: Pick<JoinedRow, 'id' | 'state' | 'attempts'>,
): string | null {
  if (state !== 'pending' || (attempts ?? 0) === 0) return null
  return createSentAsReader(db)(id, attempts ?? 0)?.kinds ?? null
}

/** A request as it was or will be sent. */
export interface RowRequest extends NonNullable<ExportRow['request']> {
  /** Rows of the item, each with its own part of the body. */
  parts: { row: number; body: Readonly<Body> }[]
}

/** Prepares a run's requests: of an item, or of a row that is never sent, whose `item` is null. */
export function createRowRequests({ db, record, workspace }: RunView) {
  const { mapRow, exchange, toRequest } = createItemRequests(record, workspace)
  const oneRow = db.prepare('SELECT id, cells, kinds FROM row WHERE id = ?')
  const itemRows = db.prepare(
    selectItemRows('row.id, row.cells, row.kinds, coalesce(attempts, 0) AS tried', {
      join: 'LEFT JOIN result ON result.row = row.id',
      former: true,
    }),
  )
  const readSentKindsOf = createSentKindsReader(db)
  /**
   * The rows last sent together with a row, as they were then: those that ended in an earlier try were not
   * resent, and those that were may have been corrected since.
   */
  const readTogether = (row: number, item: number): Record<string, unknown>[] => {
    const rows = itemRows.all(item)
    const own = Number(rows.find(({ id }) => Number(id) === row)?.['tried'] ?? 0)
    return rows
      .filter(({ tried }) => Number(tried) >= own)
      .map((other) => ({ ...other, ...(own > 0 && readSentKindsOf(Number(other['id']), own)) }))
  }
  const isAlone = toRowsPerItem(record.plan.operation) === 1
  const readParts = (row: number, item: number | null): ItemRow[] =>
    (item === null || isAlone ? oneRow.all(row) : readTogether(row, item)).map(({ id, cells, kinds }) => ({
      row: Number(id),
      cells: JSON.parse(String(cells)) as string[],
      kinds: toText(kinds),
    }))
  return {
    mapRow,
    /** `own` is the row itself, if it was already read. */
    toRequest(row: number, item: number | null, own: ItemRow | null = null): RowRequest {
      const rows = isAlone && own !== null ? [own] : readParts(row, item)
      const { request, bodies } = toRequest(item, rows)
      return {
        method: request.method,
        url: exchange.baseUrl.replace(/\/+$/, '') + request.path,
        body: request.body,
        parts: rows.map((part, index) => ({ row: part.row, body: bodies[index] ?? {} })),
      }
    },
  }
}

/** The row's own part of a request that carries several. */
function toRequestPart({ parts }: RowRequest, row: number): Pick<RowDetail, 'requestPart'> {
  const own = parts.length < 2 ? undefined : parts.find((part) => part.row === row)
  return own === undefined ? {} : { requestPart: { body: writeBody(own.body), rows: parts.length } }
}

/** The tries of an item in one run, up to a number. */
export function readAttempts(
  { db, record }: RunView,
  item: number,
  upTo = Number.MAX_SAFE_INTEGER,
): AttemptDetail[] {
  return db
    .prepare('SELECT * FROM attempt WHERE item = ? AND number <= ? ORDER BY number')
    .all(item, upTo)
    .map((row) => toAttempt(record, row))
}

/** A try from a row of the journal. */
export function toAttempt({ runId }: RunView['record'], row: Record<string, unknown>): AttemptDetail {
  return {
    runId,
    number: Number(row['number']),
    sentAt: row['sent_at_us'] === null ? null : new Date(Number(row['sent_at_us']) / 1000).toISOString(),
    outcome: String(row['outcome']),
    status: toNumber(row['status']),
    errorCode: toText(row['error_code']),
    message: toText(row['message']),
    durationMs: toMs(row['duration_us']),
    waitingMs: toMs(row['waiting_us']),
    connectMs: toMs(row['connect_us']),
    tlsMs: toMs(row['tls_us']),
    // Journals without traces do not have the column.
    ...(row['traceparent'] != null && { traceparent: String(row['traceparent']) }),
  }
}

function readProblemsOf({ db }: RunView, row: number): Problem[] {
  return db
    .prepare(`SELECT ${PROBLEM_COLUMNS} FROM problem WHERE row = ? ORDER BY id`)
    .all(row)
    .map(toStoredProblem)
    .map(createPlaceAdder(db))
}

function toMs(us: unknown): number | null {
  const number = toNumber(us)
  return number === null ? null : number / 1000
}
