import type { InboxReader } from '../receiver/inbox.ts'
import type { Judgement } from '../service/judgement.ts'
import { isWarmup } from './load-pacer.ts'
import type { LoadTally } from './load-tally.ts'
import { toClockUs } from './load-threads.ts'

/** Callbacks that are read at once. */
const BATCH_MAX = 2_000

/** Most requests given up on whose callback is recognized as late; that of an older one counts as doubled. */
const GIVEN_UP_MAX = 100_000

export type CallbackCount = keyof LoadTally['callbacks']

interface LoadCallback extends Pick<Judgement, 'rules' | 'answer'> {
  receivedAtUs: number
}

export interface LoadCallbacksOptions {
  inbox: InboxReader
  runToken: string
  timeoutMs: number
  judge: (body: string, item: number) => Judgement | null
  onLatency: (latencyUs: number, receivedAtUs: number) => void
  /** What a callback's result says, once per item. */
  onResult: (callback: LoadCallback) => void
  /** Counts one callback of this kind, at a Unix microsecond. */
  onCount: (what: CallbackCount, atUs: number) => void
  nowMs: () => number
}

/** Measures the time from a request to its callback (docs/load-tests.md §1). Keeps only awaited ones. */
export class LoadCallbacks {
  readonly #options: LoadCallbacksOptions
  /**
   * When the requests with an awaited callback were sent, Unix microseconds, roughly in the order they were
   * sent.
   */
  readonly #awaited = new Map<number, number>()
  /** When the first try of a resent request was sent: its callback may answer that one. */
  readonly #firstSent = new Map<number, number>()
  /** Unacknowledged requests, which were promised no callback. */
  readonly #unpromised = new Set<number>()
  /** Callbacks whose requests had not been reported yet. */
  readonly #early = new Map<number, LoadCallback>()
  /** Arrival of callbacks for requests that may be resent: they await no other. */
  readonly #answered = new Map<number, number>()
  /** Requests whose callback did not come in time, the oldest first. */
  readonly #givenUp = new Set<number>()
  #inboxRead = 0

  constructor(options: LoadCallbacksOptions) {
    this.#options = options
  }

  get awaited(): number {
    return this.#awaited.size
  }

  /** Adds a sent request whose callback is awaited. */
  await(item: number, sentAtUs: number, isAcknowledged: boolean): void {
    if (this.#answered.has(item)) return
    const early = this.#early.get(item)
    if (early === undefined) {
      const before = this.#awaited.get(item)
      if (before !== undefined) {
        if (!this.#firstSent.has(item)) this.#firstSent.set(item, before)
        this.#awaited.delete(item)
      }
      this.#awaited.set(item, sentAtUs)
      this.#givenUp.delete(item)
      if (isAcknowledged) this.#unpromised.delete(item)
      else this.#unpromised.add(item)
      return
    }
    this.#early.delete(item)
    if (!isAcknowledged) this.#answered.set(item, early.receivedAtUs)
    this.#note(sentAtUs, early)
  }

  /** Reads new callbacks and gives up on overdue ones. */
  take(): void {
    const { inbox, runToken, judge, onCount } = this.#options
    for (;;) {
      const batch = inbox.readAfter(runToken, this.#inboxRead, BATCH_MAX)
      for (const { id, item, receivedAtUs: unixUs, body } of batch) {
        this.#inboxRead = id
        if (isWarmup(item - 1)) continue
        const receivedAtUs = toClockUs(unixUs)
        onCount('received', receivedAtUs)
        const judgement = judge(body, item)
        // It belongs to another request; this one's own may still come.
        if (judgement?.echo.kind === 'mismatched') {
          onCount('otherPost', receivedAtUs)
          continue
        }
        // It is not a result, which may still come.
        if (judgement === null) {
          onCount('unreadable', receivedAtUs)
          continue
        }
        if (judgement.outcome !== 'succeeded') onCount('rejected', receivedAtUs)
        const { rules, answer } = judgement
        this.#settle(item, { receivedAtUs, rules, answer })
      }
      if (batch.length === 0) break
    }
    this.#giveUp()
  }

  /** Reads the last callbacks, once every request has ended: those that match none are second ones. */
  finish(): void {
    this.take()
    for (const { receivedAtUs } of this.#early.values()) this.#options.onCount('doubled', receivedAtUs)
    this.#early.clear()
  }

  close(): void {
    this.#options.inbox.close()
  }

  #settle(item: number, callback: LoadCallback): void {
    const sentAtUs = this.#awaited.get(item)
    if (sentAtUs !== undefined) {
      const firstSentAtUs = this.#firstSent.get(item) ?? sentAtUs
      if (this.#unpromised.has(item)) this.#answered.set(item, callback.receivedAtUs)
      this.#forget(item)
      this.#note(firstSentAtUs, callback)
    } else if (this.#givenUp.delete(item)) {
      this.#answered.set(item, callback.receivedAtUs)
      this.#options.onCount('late', callback.receivedAtUs)
      this.#options.onResult(callback)
    } else if (this.#early.has(item)) this.#options.onCount('doubled', callback.receivedAtUs)
    else this.#early.set(item, callback)
  }

  #forget(item: number): void {
    this.#awaited.delete(item)
    this.#firstSent.delete(item)
    this.#unpromised.delete(item)
  }

  #note(sentAtUs: number, callback: LoadCallback): void {
    const { receivedAtUs } = callback
    this.#options.onLatency(Math.max(0, receivedAtUs - sentAtUs), receivedAtUs)
    this.#options.onResult(callback)
  }

  #giveUp(): void {
    const { nowMs, timeoutMs, onCount } = this.#options
    const nowUs = nowMs() * 1000
    const beforeUs = nowUs - timeoutMs * 1000
    for (const [item, sentAtUs] of this.#awaited) {
      if (sentAtUs > beforeUs) break
      if (!this.#unpromised.has(item)) onCount('overdue', nowUs)
      this.#forget(item)
      this.#givenUp.add(item)
    }
    for (const item of this.#givenUp) {
      if (this.#givenUp.size <= GIVEN_UP_MAX) break
      this.#givenUp.delete(item)
    }
    for (const [item, receivedAtUs] of this.#answered) {
      if (receivedAtUs > beforeUs) break
      this.#answered.delete(item)
    }
    // A second callback, whose request ended long ago.
    for (const [item, { receivedAtUs }] of this.#early) {
      if (receivedAtUs > beforeUs && this.#early.size < BATCH_MAX * 10) break
      this.#early.delete(item)
      onCount('doubled', receivedAtUs)
    }
  }
}
