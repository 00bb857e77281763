import { type ItemState, nextItemState } from '../../../shared/run/item-state.ts'
import { countError } from '../journal/counters.ts'
import type { Journal } from '../journal/journal.ts'
import { isTimed, SecondWriter } from '../journal/seconds.ts'
import type { SecondMeter } from '../sending/second-meter.ts'
import type { Exchange } from '../service/exchange.ts'
import type { Judgement, RowJudgement } from '../service/judgement.ts'
import { type AttemptRecord, OutcomeWriter, type RowOutcome } from './journal/outcome-writer.ts'
import { packBody, toHeldBytes } from './journal/stored-bodies.ts'

/**
 * Tries that wait for a commit at most (docs/architecture.md §2.1), and bytes of their answers, about: large ones must
 * not fill the memory.
 */
const GROUP_MAX = 500
const GROUP_MAX_BYTES = 16 * 1024 * 1024

/** An item that was sent. */
export interface SentItem {
  item: number
  /** Rows that it carries. */
  rows: readonly number[]
  /** Tries it had before, in this run. */
  attempts: number
}

/** A finished try: what was sent, what came back, what it means, and what follows. */
interface FinishedTry {
  sent: SentItem
  exchange: Exchange
  judgement: Judgement
  /** The item is tried again later, whole or in parts. */
  again: boolean
  /** A callback settled the item while this try was in flight. */
  isSettled: boolean
  /** Unix microseconds the request was due; null under a closed pace. */
  scheduledAtUs: number | null
  /** It was due before and could not go out, since the cap was full or sending was held. */
  hasWaited: boolean
}

/** Keeps finished tries until their group is committed, and measures them. */
export class Recorder {
  readonly #journal: Journal
  readonly #meter: SecondMeter
  readonly #outcomes: OutcomeWriter
  readonly #seconds: SecondWriter
  #waiting: AttemptRecord[] = []
  #waitingBytes = 0

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

  /** Whether what waits is to be committed now. */
  get isFull(): boolean {
    return this.#waiting.length >= GROUP_MAX || this.#waitingBytes >= GROUP_MAX_BYTES
  }

  /** Takes a finished try in; returns the state its item is in now, null where a callback settled it before. */
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
    const state = finished.isSettled ? null : toState(judgement, again)
    const { timings } = exchange
    const record: AttemptRecord = {
      item: sent.item,
      rows: sent.rows,
      number: sent.attempts + 1,
      state,
      outcome: judgement.outcome,
      sentAtUs: timings.sentAtUs,
      status: judgement.status,
      errorCode: judgement.errorCode,
      message: judgement.message,
      taskId: judgement.taskId,
      customIndexItemId: judgement.customIndexItemId,
      answer: again ? null : judgement.answer,
      rowOutcomes: again || judgement.rows === null ? null : judgement.rows.map(toRowOutcome),
      durationUs: timings.durationUs,
      waitingUs: timings.waitingUs,
      connectUs: timings.connectUs,
      tlsUs: timings.tlsUs,
      response: exchange.kind === 'answer' ? packBody(exchange.body) : null,
      rules: judgement.rules,
      classes: judgement.classes,
    }
    this.#waiting.push(record)
    this.#waitingBytes += toHeldBytes(record.response)
    this.#count(record, judgement)
    return state
  }

  /**
   * Writes what waits, and the seconds that are over; returns the way to take them back where the commit fails, and
   * takes them back itself where it throws. The caller has a transaction open.
   */
  write(options: { allSeconds: boolean }): () => void {
    const written = this.#waiting
    const writtenBytes = this.#waitingBytes
    const seconds = this.#meter.take(options.allSeconds)
    const undo = (): void => {
      this.#waiting.unshift(...written)
      this.#waitingBytes += writtenBytes
      this.#meter.giveBack(seconds)
      this.#outcomes.forget()
    }
    this.#waiting = []
    this.#waitingBytes = 0
    try {
      this.#outcomes.write(written)
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
    if (judgement.fromCache) counters.add('from_cache', '', record.rows.length)
    if (judgement.isResultLost) counters.add('result_lost', '', record.rows.length)
    if (record.rowOutcomes === null) {
      // Most rows succeed, and their records need not be copied.
      if (state !== 'succeeded') countError(counters, { ...record, state }, record.rows.length)
      return
    }
    for (const outcome of record.rowOutcomes) countError(counters, { ...record, ...outcome }, 1)
  }
}

function toRowOutcome({ outcome, answer, message }: RowJudgement): RowOutcome {
  return { state: next(outcome), answer, message }
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
