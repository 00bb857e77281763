import { type ItemState, nextItemState, type RowAnswer } from '../../../shared/run/item-state.ts'
import { isKeyRefusal } from '../../../shared/service/errors.ts'
import { countError } from '../journal/counters.ts'
import { type Found, FoundWriter } from '../journal/found-writer.ts'
import type { Journal } from '../journal/journal.ts'
import { isTimed, SecondWriter } from '../journal/seconds.ts'
import { LongBodies, type PackedBody, packBody, TryAnswers, toHeldBytes } from '../journal/stored-bodies.ts'
import { makeRoomForTraces } from '../journal/traces.ts'
import type { MeasuredTry, SecondMeter } from '../sending/second-meter.ts'
import type { Exchange } from '../service/exchange.ts'
import type { Judgement } from '../service/judgement.ts'
import { BulkInsert, type StatementSync } from '../workspace/sqlite.ts'

/**
 * Most tries that wait for a commit (docs/architecture.md §2.1), and approximate bytes of their answers:
 * large ones must not fill the memory.
 */
const GROUP_MAX = 500
const GROUP_MAX_BYTES = 16 * 1024 * 1024

export interface SentItem {
  item: number
  rows: readonly number[]
  /** Tries before, in this run. */
  attempts: number
  /** See `ClaimedItem`. */
  isMarked?: true
}

/** A finished try: what was sent, the answer, its meaning, and what follows. */
interface FinishedTry extends Pick<MeasuredTry, 'scheduledAtUs' | 'hasWaited'> {
  sent: SentItem
  exchange: Exchange
  judgement: Judgement
  /** Whether the item is tried again later, whole or in parts. */
  again: boolean
  /** Whether an earlier try of the item may have been accepted. */
  mayBeTaken: boolean
  /** Whether a callback settled the item while this try was in flight. */
  isSettled: boolean
}

/** Keeps finished tries until their group is committed, and measures them. */
export class Recorder {
  readonly #journal: Journal
  readonly #meter: SecondMeter
  readonly #outcomes: OutcomeWriter
  readonly #seconds: SecondWriter
  #waiting: AttemptRecord[] = []
  #waitingBytes = 0
  /** Additions to the messages of committed rows. */
  #remarks: { rows: readonly number[]; note: string }[] = []

  constructor(journal: Journal, meter: SecondMeter) {
    this.#journal = journal
    this.#meter = meter
    this.#outcomes = new OutcomeWriter(journal)
    this.#seconds = new SecondWriter(journal)
  }

  /** Tries that wait for the next commit. */
  get waiting(): number {
    return this.#waiting.length
  }

  /** Whether to commit what waits now. */
  get isFull(): boolean {
    return this.#waiting.length >= GROUP_MAX || this.#waitingBytes >= GROUP_MAX_BYTES
  }

  /** Adds a finished try; returns the item's new state, or null if a callback settled it before. */
  note(finished: FinishedTry): ItemState | null {
    const { sent, exchange, judgement, again } = finished
    this.#meter.note({
      outcome: judgement.outcome,
      timings: exchange.timings,
      isSent: exchange.kind === 'answer' || exchange.sent,
      isTimed: isTimed(judgement),
      scheduledAtUs: finished.scheduledAtUs,
      hasWaited: finished.hasWaited,
    })
    // This try was certainly not accepted; an earlier one may have been.
    const isLost = !finished.isSettled && !again && finished.mayBeTaken && wasNotLookedAt(judgement)
    const state = isLost ? next('lost') : finished.isSettled ? null : toState(judgement, again)
    const { timings } = exchange
    const record: AttemptRecord = {
      item: sent.item,
      rows: sent.rows,
      number: sent.attempts + 1,
      isMarked: sent.isMarked === true,
      state,
      outcome: judgement.outcome,
      sentAtUs: timings.sentAtUs,
      status: judgement.status,
      errorCode: judgement.errorCode,
      message: isLost ? toLostMessage(judgement.message) : judgement.message,
      taskId: judgement.taskId,
      customIndexItemId: judgement.customIndexItemId,
      answer: again ? null : judgement.answer,
      rowOutcomes:
        again || judgement.rows === null
          ? null
          : judgement.rows.map(({ outcome, answer, message }) => ({
              state: next(outcome === 'unknown' ? 'lost' : outcome),
              answer,
              message,
            })),
      durationUs: timings.durationUs,
      waitingUs: timings.waitingUs,
      connectUs: timings.connectUs,
      tlsUs: timings.tlsUs,
      traceparent: exchange.traceparent ?? null,
      response: exchange.kind === 'answer' ? packBody(exchange.body) : null,
      rules: judgement.rules,
      classes: judgement.classes,
      names: judgement.names,
    }
    this.#waiting.push(record)
    this.#waitingBytes += toHeldBytes(record.response)
    this.#count(record, judgement)
    return state
  }

  /** Adds a remark to those rows of a noted item that succeeded or are acknowledged. */
  remark({ item, rows }: SentItem, note: string): void {
    const waiting = this.#waiting.findLast((record) => record.item === item)
    if (waiting === undefined) this.#remarks.push({ rows, note })
    else waiting.message = waiting.message === null ? note : `${waiting.message}; ${note}`
  }

  /**
   * Writes what waits and the seconds that are over; returns a function that takes them back if the commit
   * fails, and takes them back itself if it throws. The caller has a transaction open.
   */
  write(options: { allSeconds: boolean }): () => void {
    const written = this.#waiting
    const writtenBytes = this.#waitingBytes
    const seconds = this.#meter.take(options.allSeconds)
    const remarks = this.#remarks
    this.#remarks = []
    const undo = (): void => {
      this.#waiting.unshift(...written)
      this.#waitingBytes += writtenBytes
      this.#remarks.unshift(...remarks)
      this.#meter.giveBack(seconds)
      this.#outcomes.forget()
    }
    this.#waiting = []
    this.#waitingBytes = 0
    try {
      this.#outcomes.write(written)
      for (const { rows, note } of remarks) this.#outcomes.writeRemark(rows, note)
      for (const second of seconds) this.#seconds.write(second)
    } catch (error) {
      undo()
      throw error
    }
    return undo
  }

  #count(record: AttemptRecord, judgement: Judgement): void {
    const { counters } = this.#journal
    this.#outcomes.count(record)
    const { state } = record
    if (state === null) return
    if (judgement.isDelivered && !judgement.isAcknowledgement)
      counters.add('result_lost', '', record.rows.length)
    const succeeded =
      record.rowOutcomes?.filter((row) => row.state === 'succeeded').length ??
      (state === 'succeeded' ? record.rows.length : 0)
    const alike = judgement.rows?.filter((row) => row.isAlike && row.outcome === 'succeeded').length ?? 0
    counters.add('echo', judgement.echo.kind, succeeded - alike)
    if (alike > 0) counters.add('echo', 'alike', alike)
    if (record.rowOutcomes === null) {
      // Most rows succeed; their records need not be copied.
      if (state !== 'succeeded') countError(counters, { ...record, state }, record.rows.length)
      return
    }
    for (const outcome of record.rowOutcomes) countError(counters, { ...record, ...outcome }, 1)
  }
}

/** Whether a try says nothing about its item: it was certainly not accepted, or the key was refused. */
function wasNotLookedAt({ repeat, status, errorCode }: Judgement): boolean {
  return repeat === 'safe' || isKeyRefusal(status, errorCode)
}

function toLostMessage(message: string | null): string {
  const why = 'an earlier try may have been taken'
  return message === null ? why : `${message}; ${why}`
}

function toState(judgement: Judgement, again: boolean): ItemState {
  if (again) return next('retry')
  if (judgement.outcome === 'unknown') return next('lost')
  if (judgement.isAcknowledgement) return next('acknowledged')
  return next(judgement.outcome)
}

function next(event: Parameters<typeof nextItemState>[1]): ItemState {
  const state = nextItemState('sending', event)
  if (state === null) throw new Error(`an item that is being sent cannot take ${event}`)
  return state
}

/** Outcome of one row in an item of several. */
export interface RowOutcome {
  state: ItemState
  answer: RowAnswer | null
  message: string | null
}

/** One finished try of an item, and the state it leaves the item in. Times are microseconds. */
export interface AttemptRecord
  extends Found,
    Pick<
      Judgement,
      'outcome' | 'status' | 'errorCode' | 'message' | 'taskId' | 'customIndexItemId' | 'answer'
    > {
  item: number
  /** The rows sent: all of the item, its number first, or some of them after a retry. */
  rows: readonly number[]
  /** 1 for the first try. */
  number: number
  /** Whether its rows are `sending` in the journal. */
  isMarked: boolean
  /** Null if a callback settled the item while this try was in flight: only the try itself is written. */
  state: ItemState | null
  /** Unix microseconds of the first byte sent, or of the try if none was. */
  sentAtUs: number
  /** One per row, in order, if rows of the item ended differently; null if all ended like the item. */
  rowOutcomes: readonly RowOutcome[] | null
  durationUs: number | null
  waitingUs: number | null
  connectUs: number | null
  tlsUs: number | null
  /** The trace context it was sent with; null if it had none. */
  traceparent: string | null
  /** The answer's body, prepared for storing. */
  response: string | PackedBody | null
}

const INTO_RESULT = `INSERT INTO result (row, state, attempts, status, error_code, message, task_id, duration_us, response,
  custom_index_item_id, answer, acknowledged_at)`
const INTO_ATTEMPT = `INSERT INTO attempt (item, number, sent_at_us, outcome, status, error_code, message, duration_us,
  waiting_us, connect_us, tls_us)`
const INTO_TRACED_ATTEMPT = INTO_ATTEMPT.replace('tls_us)', 'tls_us, traceparent)')
const REPLACING = `ON CONFLICT (row) DO UPDATE SET state = excluded.state, attempts = excluded.attempts,
  status = excluded.status, error_code = excluded.error_code, message = excluded.message, task_id = excluded.task_id,
  duration_us = excluded.duration_us, response = excluded.response,
  custom_index_item_id = coalesce(excluded.custom_index_item_id, custom_index_item_id),
  answer = coalesce(excluded.answer, answer), acknowledged_at = coalesce(excluded.acknowledged_at, acknowledged_at)`

/** Writes outcomes; the caller groups them into transactions. */
export class OutcomeWriter {
  readonly #journal: Journal
  readonly #result: BulkInsert
  readonly #attempt: BulkInsert
  readonly #tracedAttempt: BulkInsert
  /** For most tries: a first try that succeeded. Half of their values are constant and not bound. */
  readonly #plainResult: BulkInsert
  readonly #plainAttempt: BulkInsert
  readonly #found: FoundWriter
  readonly #longAnswers: LongBodies
  readonly #tryAnswers: TryAnswers
  readonly #remark: StatementSync

  constructor(journal: Journal) {
    this.#journal = journal
    const { db } = journal
    this.#result = new BulkInsert(db, INTO_RESULT, '(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)', REPLACING)
    this.#attempt = new BulkInsert(db, INTO_ATTEMPT, '(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)')
    const traced = '(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)'
    this.#tracedAttempt = new BulkInsert(db, INTO_TRACED_ATTEMPT, traced)
    const result = "(?, 'succeeded', 1, ?, NULL, NULL, ?, ?, ?, NULL, NULL, NULL)"
    this.#plainResult = new BulkInsert(db, INTO_RESULT, result, REPLACING)
    const attempt = "(?, 1, ?, 'succeeded', ?, NULL, NULL, ?, ?, NULL, NULL)"
    this.#plainAttempt = new BulkInsert(db, INTO_ATTEMPT, attempt)
    this.#found = new FoundWriter(journal)
    this.#longAnswers = new LongBodies(db, 'long_answer')
    this.#tryAnswers = new TryAnswers(db)
    this.#remark = db.prepare(
      "UPDATE result SET message = coalesce(message || '; ' || ?, ?) WHERE row = ? AND state IN ('succeeded', 'acknowledged')",
    )
  }

  /** Counts an outcome once, when it happens, however often its transaction must be tried. */
  count(record: AttemptRecord): void {
    const { counters } = this.#journal
    counters.add('request', record.outcome, 1)
    if (record.number > 1) counters.add('request', 'retried', 1)
    if (record.state === null) return
    if (record.isMarked) counters.add('state', 'sending', -record.rows.length)
    if (record.rowOutcomes === null) {
      counters.add('state', record.state, record.rows.length)
      if (record.answer !== null) counters.add('answer', record.answer, record.rows.length)
    } else {
      for (const { state, answer } of record.rowOutcomes) {
        counters.add('state', state, 1)
        if (answer !== null) counters.add('answer', answer, 1)
      }
    }
    this.#countFound(record, record.rows.length)
  }

  /**
   * Writes outcomes, those of one item in order. The caller has a transaction open. Items are written in the
   * order of the tables, which halves the pages that a group touches: SQLite splits pages evenly unless rows
   * come at the end.
   */
  write(records: readonly AttemptRecord[]): void {
    const sorted = records.toSorted((a, b) => a.item - b.item)
    // Before any result is written, since it may replace an earlier group's answer.
    for (const [at, record] of sorted.entries()) this.#keepAnswers(record, sorted[at - 1], sorted[at + 1])
    if (sorted.some(({ traceparent }) => traceparent !== null)) makeRoomForTraces(this.#journal.db)
    for (const record of sorted) this.#writeOne(record)
    for (const bulk of this.#bulks) bulk.flush()
    this.#found.flush()
  }

  /** Writes and counts what a callback found in a row, over earlier findings. Needs an open transaction. */
  replaceFound(row: number, found: Found): void {
    this.#found.take(row)
    this.#countFound(found, 1)
    this.#found.write(row, found)
    this.#found.flush()
  }

  /** Adds a note to rows that succeeded or are acknowledged. The caller has a transaction open. */
  writeRemark(rows: readonly number[], note: string): void {
    for (const row of rows) this.#remark.run(note, note, row)
  }

  /** Forgets what an undone transaction had written. */
  forget(): void {
    this.#found.forget()
    for (const bulk of this.#bulks) bulk.forget()
  }

  /** Keeps answers that a try replaces or its own does not, given the item's other tries in this group. */
  #keepAnswers(record: AttemptRecord, before?: AttemptRecord, after?: AttemptRecord): void {
    const { item, number, state, response } = record
    const takesPlace = state !== null && hasFirstRow(record)
    if (number > 1 && takesPlace && before?.item !== item) this.#tryAnswers.keep(item)
    const isReplaced = after?.item === item && after.state !== null
    if (!takesPlace || isReplaced) this.#tryAnswers.write(item, number, response)
  }

  #writeOne(record: AttemptRecord): void {
    const { item, status, errorCode, message, durationUs, sentAtUs, outcome, waitingUs } = record
    const { connectUs, tlsUs, traceparent } = record
    if (isPlain(record, outcome, message) && connectUs === null && tlsUs === null && traceparent === null) {
      this.#plainAttempt.add(item, sentAtUs, status, durationUs, waitingUs)
    } else {
      const timings = [durationUs, waitingUs, connectUs, tlsUs]
      const values = [item, record.number, sentAtUs, outcome, status, errorCode, message, ...timings]
      if (traceparent === null) this.#attempt.add(...values)
      else this.#tracedAttempt.add(...values, traceparent)
    }
    if (record.state === null) return
    if (record.number > 1 && hasFirstRow(record)) this.#longAnswers.remove(item)
    if (record.rowOutcomes !== null) this.#writeApart(record, record.rowOutcomes)
    else for (const row of record.rows) this.#writeRow(record, row, record.state, message, record.answer)
    for (const row of record.rows) {
      // A later try determines the row; nothing of an earlier one stays.
      if (record.number > 1) this.#found.take(row)
      this.#found.write(row, record)
    }
  }

  #countFound({ rules, names }: Found, rows: number): void {
    const { counters } = this.#journal
    for (const { ruleId } of rules) counters.add('rule', ruleId, rows)
    if (names.fromCache) counters.add('from_cache', '', rows)
  }

  get #bulks(): BulkInsert[] {
    const plain = [this.#plainAttempt, this.#plainResult]
    return [...plain, this.#attempt, this.#tracedAttempt, this.#result]
  }

  #writeApart(record: AttemptRecord, outcomes: readonly RowOutcome[]): void {
    for (const [index, row] of record.rows.entries()) {
      const outcome = outcomes[index]
      if (outcome === undefined) throw new Error(`item ${record.item} has no outcome for row ${row}`)
      this.#writeRow(record, row, outcome.state, outcome.message, outcome.answer)
    }
  }

  #writeRow(
    record: AttemptRecord,
    row: number,
    state: ItemState,
    message: string | null,
    answer: RowAnswer | null,
  ): void {
    const { status, taskId, durationUs, customIndexItemId } = record
    const response = row === record.item ? this.#longAnswers.write(row, record.response) : null
    if (isPlain(record, state, message) && customIndexItemId === null && answer === null) {
      this.#plainResult.add(row, status, taskId, durationUs, response)
      return
    }
    const acknowledgedAt =
      state === 'acknowledged' ? Math.round((record.sentAtUs + (durationUs ?? 0)) / 1000) : null
    const told = [taskId, durationUs, response, customIndexItemId, answer, acknowledgedAt]
    this.#result.add(row, state, record.number, status, record.errorCode, message, ...told)
  }
}

/** Whether a try included the row that stores its item's answer. */
function hasFirstRow({ item, rows }: AttemptRecord): boolean {
  return rows[0] === item
}

/** Nothing was written before a row's first try, so the order of statements does not matter. */
function isPlain({ number, errorCode }: AttemptRecord, ended: ItemState, message: string | null): boolean {
  return number === 1 && ended === 'succeeded' && errorCode === null && message === null
}
