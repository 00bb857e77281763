import type { InboxReader } from '../receiver/inbox.ts'
import { CALLBACK_RANKS, type CallbackRank, rankCallback } from '../service/callback-rank.ts'
import type { Judgement } from '../service/judgement.ts'
import { isWarmup } from './load-pacer.ts'
import type { LoadTally } from './load-tally.ts'
import { toClockUs } from './load-threads.ts'

/** Callbacks that are read at once. */
const BATCH_MAX = 2_000

/**
 * Most requests that await no callback and whose callback is recognized; that of an older one counts as
 * doubled.
 */
const ENDED_MAX = 500_000

export type CallbackCount = keyof LoadTally['callbacks']

interface LoadCallback extends Pick<Judgement, 'rules'> {
  receivedAtUs: number
  rank: CallbackRank
}

/** What a request's end says of its callback: it must come, may come, or must not. */
type CallbackPromise = 'given' | 'unknown' | 'refused'

/** Why a request awaits no callback: it had one of this rank, none in time, or was refused. */
type EndOfWait = CallbackRank | 'given_up' | 'refused'

export interface LoadCallbacksOptions {
  inbox: InboxReader
  runToken: string
  timeoutMs: number
  judge: (body: string, item: number) => Judgement | null
  onLatency: (latencyUs: number, receivedAtUs: number) => void
  /** What a callback's result says: once per item, and again for one that counts more than the one before. */
  onResult: (callback: LoadCallback, before: CallbackRank | null) => void
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
  /** Requests that await no callback, the oldest first. */
  readonly #ended = new Map<number, EndOfWait>()
  #inboxRead = 0

  constructor(options: LoadCallbacksOptions) {
    this.#options = options
  }

  get awaited(): number {
    return this.#awaited.size
  }

  /** Takes in the end of a request, whose callback is then awaited unless it was refused. */
  noteEnd(item: number, sentAtUs: number, promise: CallbackPromise): void {
    if (this.#isAnswered(item)) return
    const early = this.#early.get(item)
    this.#early.delete(item)
    if (promise === 'refused') this.#refuse(item, early)
    else if (early !== undefined) this.#answer(item, sentAtUs, early)
    else {
      const before = this.#awaited.get(item)
      if (before !== undefined) {
        if (!this.#firstSent.has(item)) this.#firstSent.set(item, before)
        this.#awaited.delete(item)
      }
      this.#awaited.set(item, sentAtUs)
      this.#ended.delete(item)
      if (promise === 'given') this.#unpromised.delete(item)
      else this.#unpromised.add(item)
    }
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
        const { rules, answer } = judgement
        const rank = rankCallback(judgement.outcome !== 'succeeded', answer)
        this.#settle(item, { receivedAtUs, rules, rank })
      }
      if (batch.length === 0) break
    }
    this.#giveUp()
  }

  /** Reads the last callbacks, once every request has ended: those that match none are second ones. */
  finish(): void {
    this.take()
    for (const callback of this.#early.values()) this.#count('doubled', callback)
    this.#early.clear()
  }

  close(): void {
    this.#options.inbox.close()
  }

  #settle(item: number, callback: LoadCallback): void {
    const sentAtUs = this.#awaited.get(item)
    const ended = this.#ended.get(item)
    const early = this.#early.get(item)
    if (sentAtUs !== undefined) this.#answer(item, this.#firstSent.get(item) ?? sentAtUs, callback)
    else if (ended === 'refused') this.#count('ofRefused', callback)
    else if (ended === 'given_up') {
      this.#ended.set(item, callback.rank)
      this.#count('late', callback)
      this.#options.onResult(callback, null)
    } else if (ended !== undefined) {
      this.#count(ended === callback.rank ? 'doubled' : 'differing', callback)
      if (callback.rank <= ended) return
      this.#ended.set(item, callback.rank)
      this.#options.onResult(callback, ended)
    } else if (early === undefined) this.#early.set(item, callback)
    else {
      const [less, more] = callback.rank > early.rank ? [early, callback] : [callback, early]
      this.#count(less.rank === more.rank ? 'doubled' : 'differing', less)
      // The latency is that of the first one.
      this.#early.set(item, { ...more, receivedAtUs: early.receivedAtUs })
    }
  }

  #forget(item: number): void {
    this.#awaited.delete(item)
    this.#firstSent.delete(item)
    this.#unpromised.delete(item)
  }

  #isAnswered(item: number): boolean {
    return typeof this.#ended.get(item) === 'number'
  }

  #answer(item: number, sentAtUs: number, callback: LoadCallback): void {
    const { receivedAtUs, rank } = callback
    this.#forget(item)
    this.#ended.set(item, rank)
    this.#count(null, callback)
    this.#options.onLatency(Math.max(0, receivedAtUs - sentAtUs), receivedAtUs)
    this.#options.onResult(callback, null)
  }

  #refuse(item: number, early: LoadCallback | undefined): void {
    // The callback of an earlier try may come.
    if (this.#awaited.has(item) || this.#ended.has(item)) return
    this.#ended.set(item, 'refused')
    if (early !== undefined) this.#count('ofRefused', early)
  }

  /** Counts a callback whose kind is known; null for the first one in time. */
  #count(what: CallbackCount | null, { receivedAtUs, rank }: LoadCallback): void {
    const { onCount } = this.#options
    if (what !== null) onCount(what, receivedAtUs)
    if (rank === CALLBACK_RANKS.error && what !== 'ofRefused') onCount('rejected', receivedAtUs)
  }

  #giveUp(): void {
    const { nowMs, timeoutMs, onCount } = this.#options
    const nowUs = nowMs() * 1000
    const beforeUs = nowUs - timeoutMs * 1000
    for (const [item, sentAtUs] of this.#awaited) {
      if (sentAtUs > beforeUs) break
      if (!this.#unpromised.has(item)) onCount('overdue', nowUs)
      this.#forget(item)
      this.#ended.set(item, 'given_up')
    }
    for (const item of this.#ended.keys()) {
      if (this.#ended.size <= ENDED_MAX) break
      this.#ended.delete(item)
    }
    // A second callback, whose request ended long ago.
    for (const [item, callback] of this.#early) {
      if (callback.receivedAtUs > beforeUs && this.#early.size < BATCH_MAX * 10) break
      this.#early.delete(item)
      this.#count('doubled', callback)
    }
  }
}
