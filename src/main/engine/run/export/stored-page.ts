import { isAsync, toRowsPerItem } from '../../../../shared/operations/operations.ts'
import type { AttemptDetail, CallbackDetail } from '../../../../shared/run/results.ts'
import { selectSentItem } from '../../journal/item-rows.ts'
import type { RunView } from '../../journal/run-family.ts'
import {
  createExchangeReader,
  readStoredBody,
  type StoredBody,
  toCallback,
} from '../../journal/stored-bodies.ts'
import { hasTraces } from '../../journal/traces.ts'
import { createPlaceReader } from '../journal/intake-writer.ts'
import {
  createResultRows,
  type FoundBeside,
  JOINED_COLUMNS,
  type JoinedRow,
  readErrors,
} from '../results/family-rows.ts'
import { addResponses, readAttempts, toAttempt, toLostTry } from '../results/row-detail.ts'
import { createAnswersReader } from './found-answers.ts'
import { type Stretch, StretchStatement } from './stretch.ts'

/** A row of a journal with the service's answer. */
export interface StoredRow extends JoinedRow {
  /** The answer, if it is short enough to be stored in its row. */
  response: string | null
  /** The trace context of the last try; null if it had none. */
  traceparent: string | null
}

const ATTEMPT_COLUMNS = [
  ...['item', 'number', 'sent_at_us', 'outcome', 'status', 'error_code', 'message', 'duration_us'],
  ...['waiting_us', 'connect_us', 'tls_us'],
]
const TRACED_COLUMNS = [...ATTEMPT_COLUMNS, 'traceparent']

/** Most compressed bytes of an answer that is read with its page. */
const READ_TOGETHER_MAX = 4096

/** `content` is null for an answer that is read on demand. */
type LongAnswer = [row: number, content: Uint8Array | null, bytes: number]

type CallbackTuple = [item: number, receivedAtUs: number, effect: string, body: string, bytes: number | null]

/**
 * A page of rows from one run of a whole. It takes one statement per table, whatever the rows, and no read
 * stays open afterwards. Long bodies are read on demand: those of a page would fill the memory.
 */
export class StoredPage {
  readonly view: RunView
  rows: ReadonlyMap<number, StoredRow> = new Map()
  readonly toResult: ReturnType<typeof createResultRows>
  readonly #statements: ReturnType<typeof prepareStatements>
  readonly #exchanges: ReturnType<typeof createExchangeReader>
  readonly #beside: FoundBeside
  /** Whether a request carries one row, so that its tries and answer belong to that row. */
  readonly isAlone: boolean
  /** Answers too long to be stored in their rows, by row. */
  #longAnswers: ReadonlyMap<number, LongAnswer> = new Map()
  #callbacks: ReadonlyMap<number, CallbackTuple[]> = new Map()
  #tries: ReadonlyMap<number, AttemptDetail[]> = new Map()
  /** For an item with several rows, whose first row may be on another page. */
  #lastTried: { item: number; tries: AttemptDetail[] } | null = null

  constructor(view: RunView) {
    const { db } = view
    this.view = view
    this.isAlone = toRowsPerItem(view.record.plan.operation) === 1
    this.#statements = prepareStatements(view)
    this.#exchanges = createExchangeReader(db)
    const nothing = { rules: new Map(), scores: new Map(), errors: new Map() }
    this.#beside = { ...nothing, toPlace: createPlaceReader(db) }
    this.toResult = createResultRows(view, this.#beside)
  }

  readRows(stretch: Stretch): void {
    const tuples = this.#statements.rows.readTuples<RowTuple>(stretch)
    this.rows = new Map(tuples.map((tuple) => [tuple[0], toStoredRow(tuple)]))
    this.#tries = new Map()
    this.#lastTried = null
  }

  /** Reads the tables that go with these rows. */
  readBeside(stretch: Stretch): void {
    const { db, record } = this.view
    const unsendable = [...this.rows.values()].filter(({ item }) => item === null).map(({ id }) => id)
    Object.assign(this.#beside, {
      ...this.#statements.readAnswers(stretch),
      errors: unsendable.length === 0 ? new Map() : readErrors(this.view, JSON.stringify(unsendable)),
      toPlace: createPlaceReader(db),
    } satisfies FoundBeside)
    const long = this.#statements.longAnswers.readTuples<LongAnswer>(stretch)
    this.#longAnswers = new Map(long.map((answer) => [answer[0], answer]))
    if (!isAsync(record.plan.operation)) return
    const callbacks = this.#statements.callbacks.readTuples<CallbackTuple>(stretch)
    this.#callbacks = Map.groupBy(callbacks, ([item]) => item)
  }

  readTries(stretch: Stretch): void {
    const tuples = this.#statements.attempts.readTuples<[item: number, ...unknown[]]>(stretch)
    this.#tries = new Map(
      [...Map.groupBy(tuples, ([item]) => item)].map(([item, tries]) => [
        item,
        tries.map((tuple) =>
          toAttempt(
            this.view.record,
            Object.fromEntries(TRACED_COLUMNS.map((name, index) => [name, tuple[index]])),
          ),
        ),
      ]),
    )
  }

  /** The run's tries of a row, with the answers other than the row's own; see {@link addResponses}. */
  listAnsweredTries(row: number, isOfEarlierRun: boolean): readonly AttemptDetail[] {
    const tries = this.listTries(row)
    const stored = this.rows.get(row)
    const item = this.#findItem(row)
    // A row that will not be sent again has no answer of its own.
    const isEarlier = isOfEarlierRun || stored?.item === null
    // The answer to a first try is in the row.
    if (item === null || (tries.length < 2 && !isEarlier)) return tries
    const tried = this.isAlone ? undefined : (stored?.attempts ?? 0)
    return addResponses(tries, item, this.#exchanges, { isEarlier, tried })
  }

  listTries(row: number): readonly AttemptDetail[] {
    const stored = this.rows.get(row)
    const item = this.#findItem(row)
    if (item === null || stored === undefined) return []
    const tries = this.#listItemTries(item)
    const own = this.isAlone ? tries : tries.filter(({ number }) => number <= (stored.attempts ?? 0))
    return [...own, ...toLostTry(this.view, stored, tries)]
  }

  #listItemTries(item: number): readonly AttemptDetail[] {
    if (this.isAlone) return this.#tries.get(item) ?? []
    if (this.#lastTried?.item !== item) this.#lastTried = { item, tries: readAttempts(this.view, item) }
    return this.#lastTried.tries
  }

  /** The item that a row was sent in; a correction may have made the row invalid, or left it out, since. */
  #findItem(row: number): number | null {
    const { item = null, attempts } = this.rows.get(row) ?? {}
    if (item !== null || (attempts ?? 0) === 0) return item
    return this.isAlone ? row : Number(this.#statements.sentItem.get(row)?.['item'])
  }

  /** The answer to the last try of the item that a row was sent in; null if there was none. */
  readAnswer({ id, item, attempts, response }: StoredRow): StoredBody | null {
    if (item === null) return null
    const [, content, bytes] = this.#longAnswers.get(id) ?? []
    if (item === id && content !== null) return readStoredBody(response, content, bytes)
    return this.#exchanges.readAnswer(item, this.isAlone ? undefined : (attempts ?? 0))
  }

  /** The callbacks of the item that a row was sent in, in order of arrival; none if the run is not async. */
  readCallbacks({ id }: Pick<StoredRow, 'id'>): CallbackDetail[] {
    const item = this.#findItem(id)
    if (item === null || !isAsync(this.view.record.plan.operation)) return []
    const found = this.#callbacks.get(item) ?? []
    if (item !== id || found.some(([, , , , bytes]) => bytes !== null)) {
      return this.#exchanges.readCallbacks(item)
    }
    return found.map(([, receivedAtUs, effect, body]) =>
      toCallback({ received_at_us: receivedAtUs, effect }, readStoredBody(body, null, null)),
    )
  }
}

function prepareStatements({ db }: RunView) {
  const isTraced = hasTraces(db)
  const traceparent = `(SELECT traceparent FROM attempt WHERE attempt.item = ${selectSentItem('row')}
    AND attempt.number = result.attempts)`
  return {
    rows: new StretchStatement(
      db,
      'row.id',
      (condition) =>
        `SELECT ${JOINED_COLUMNS}, result.response, ${isTraced ? traceparent : 'NULL'} FROM row
         LEFT JOIN result ON result.row = row.id WHERE ${condition} ORDER BY row.id`,
    ),
    longAnswers: new StretchStatement(
      db,
      'id',
      (condition) =>
        `SELECT id, iif(length(content) <= ${READ_TOGETHER_MAX}, content, NULL), bytes FROM long_answer WHERE ${condition}`,
    ),
    callbacks: new StretchStatement(
      db,
      'item',
      (condition) =>
        `SELECT item, received_at_us, effect, body, bytes FROM callback INDEXED BY callback_by_item
         LEFT JOIN long_callback ON long_callback.id = callback.id WHERE ${condition} ORDER BY item, callback.id`,
    ),
    attempts: new StretchStatement(
      db,
      'item',
      (condition) =>
        `SELECT ${(isTraced ? TRACED_COLUMNS : ATTEMPT_COLUMNS).join(', ')} FROM attempt WHERE ${condition} ORDER BY item, number`,
    ),
    readAnswers: createAnswersReader(db),
    sentItem: db.prepare(`SELECT ${selectSentItem('row')} AS item FROM row WHERE id = ?`),
  }
}

/** The columns of {@link JOINED_COLUMNS}, the answer, and the trace context. */
type RowTuple = [
  ...[id: number, cells: string, item: number | null, state: string | null, attempts: number | null],
  ...[status: number | null, errorCode: string | null, message: string | null, taskId: string | null],
  ...[durationUs: number | null, itemId: string | null, answer: string | null, callbackUs: number | null],
  ...[kinds: string | null, response: string | null],
  traceparent: string | null,
]

function toStoredRow(tuple: RowTuple): StoredRow {
  return {
    id: tuple[0],
    cells: tuple[1],
    item: tuple[2],
    state: tuple[3],
    attempts: tuple[4],
    status: tuple[5],
    error_code: tuple[6],
    message: tuple[7],
    task_id: tuple[8],
    duration_us: tuple[9],
    custom_index_item_id: tuple[10],
    answer: tuple[11],
    callback_us: tuple[12],
    kinds: tuple[13],
    response: tuple[14],
    traceparent: tuple[15],
  }
}
