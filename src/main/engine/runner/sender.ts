import { isSettled } from '../../../shared/item-state.ts'
import type { Plan } from '../../../shared/plan.ts'
import type { ClaimedItem } from '../journal/item-claims.ts'
import type { Journal } from '../journal/journal.ts'
import type { RunRecord } from '../journal/run-record.ts'
import type { Exchange } from '../service/exchange.ts'
import type { Judgement } from '../service/judgement.ts'
import type { ServiceClient, ServiceRequest } from '../service/service-client.ts'
import { BurnGuard } from './burn-guard.ts'
import { Gate } from './gate.ts'
import { ItemFeed } from './item-feed.ts'
import { type Job, Lanes } from './lanes.ts'
import { createPacer, type Pacer } from './pace.ts'
import { Recorder } from './recorder.ts'
import { toRetryDelayMs } from './retry-timing.ts'
import type { SecondMeter } from './second-meter.ts'

/** Outcomes are committed at most this far apart, milliseconds and tries (design §2). */
const GROUP_MS = 50
const GROUP_MAX = 500
/** How often an open pace looks for what is due, milliseconds. */
const TICK_MS = 1

/** How a stretch of sending ended. `burning`: it stopped itself. `done`: nothing is left to send. */
export type SendingEnd = { kind: 'done' } | { kind: 'stopped' } | { kind: 'burning'; reason: string }

/** What a sender is made of. */
export interface SenderOptions {
  plan: Plan
  journal: Journal
  record: RunRecord
  meter: SecondMeter
  createClient: () => ServiceClient
  /** A pure function of the item: a resend has the same body. */
  toRequest: (item: ClaimedItem) => ServiceRequest
  judge: (exchange: Exchange) => Judgement
  random: () => number
}

/** Sends what the journal holds, at the plan's pace, until it is done, stopped, or would burn its rows. */
export class Sender {
  readonly #options: SenderOptions
  readonly #journal: Journal
  readonly #meter: SecondMeter
  readonly #lanes: Lanes
  readonly #feed: ItemFeed
  readonly #recorder: Recorder
  readonly #pacer: Pacer
  readonly #gate: Gate
  #guard: BurnGuard
  #end: PromiseWithResolvers<SendingEnd> | null = null
  #timers: NodeJS.Timeout[] = []
  #gateTimer: NodeJS.Timeout | undefined
  #isEnding = false
  #failure: unknown = null

  constructor(options: SenderOptions) {
    this.#options = options
    this.#journal = options.journal
    this.#meter = options.meter
    this.#pacer = createPacer(options.plan.pace)
    this.#gate = new Gate(options.plan.retry.maxRetryAfterMs)
    this.#guard = this.#createGuard()
    this.#recorder = new Recorder(options.journal, this.#meter)
    this.#feed = new ItemFeed(options.journal, options.record, {
      schedule: (delayMs, callback) => {
        const timer = setTimeout(callback, delayMs)
        return () => clearTimeout(timer)
      },
      onDue: () => this.#lanes.wake(1),
    })
    this.#lanes = new Lanes({
      concurrency: this.#pacer.concurrency,
      createClient: options.createClient,
      take: () => this.#take(),
      onError: (error) => this.#fail(error),
    })
  }

  get inFlight(): number {
    return this.#lanes.inFlight
  }

  /** Sends until done, stopped or burning; with `limit`, at most that many items that were not tried before. */
  async send(options: { limit?: number | undefined } = {}): Promise<SendingEnd> {
    this.#end = Promise.withResolvers()
    this.#isEnding = false
    this.#guard = this.#createGuard()
    this.#feed.limitFresh(options.limit ?? Infinity)
    this.#pacer.start(performance.now())
    this.#timers = [setInterval(() => this.#flushIfAny(), GROUP_MS)]
    if (Number.isFinite(this.#pacer.due(performance.now()))) {
      this.#timers.push(setInterval(() => this.#wakeAll(), TICK_MS))
    }
    this.#lanes.open()
    this.#wakeAll()
    this.#finishIfDone()
    const end = await this.#end.promise
    await this.#lanes.close()
    for (const timer of this.#timers.splice(0)) clearInterval(timer)
    clearTimeout(this.#gateTimer)
    this.#gateTimer = undefined
    this.#feed.cancel()
    // After a failed commit this is the last chance for what the service has answered to reach the disk, and for what
    // never went out to be pending there and not unknown.
    this.#commit({ refill: false, allSeconds: true })
    try {
      this.#feed.release()
    } catch (error) {
      this.#failure ??= error
    }
    if (this.#failure !== null) throw this.#failure
    return end
  }

  /** Lets what is in flight end and takes the rest back; {@link send} then resolves. */
  stop(): void {
    this.#finish({ kind: 'stopped' })
  }

  setConcurrency(concurrency: number): void {
    this.#lanes.setConcurrency(concurrency)
  }

  /** Closes every connection. */
  async close(): Promise<void> {
    await this.#lanes.destroy()
  }

  #take(): Job | null {
    const nowMs = performance.now()
    if (this.#isEnding || this.#pacer.due(nowMs) < 1) return null
    const closedForMs = this.#gate.closedForMs(nowMs)
    if (closedForMs > 0) {
      this.#gateTimer ??= setTimeout(() => this.#reopenGate(), closedForMs)
      return null
    }
    const claimed = this.#nextItem()
    if (claimed === null) {
      this.#finishIfDone()
      return null
    }
    const scheduledMs = this.#pacer.take()
    const scheduledAtUs = scheduledMs === null ? null : (performance.timeOrigin + scheduledMs) * 1000
    return {
      request: this.#toRequest(claimed),
      onEnd: (exchange) => this.#noteEnd(claimed, exchange, scheduledAtUs),
    }
  }

  #toRequest(claimed: ClaimedItem): ServiceRequest {
    try {
      return this.#options.toRequest(claimed)
    } catch (error) {
      this.#isEnding = true
      this.#feed.putBack(claimed)
      throw error
    }
  }

  #nextItem(): ClaimedItem | null {
    const ready = this.#feed.next()
    if (ready !== null || !this.#feed.canRefill) return ready
    this.#commit({ refill: true, allSeconds: false })
    return this.#isEnding ? null : this.#feed.next()
  }

  #noteEnd(claimed: ClaimedItem, exchange: Exchange, scheduledAtUs: number | null): void {
    const judgement = this.#options.judge(exchange)
    const attempts = claimed.attempts + 1
    const { retry } = this.#options.plan
    const again = judgement.repeat !== 'never' && attempts <= retry.limit
    const state = this.#recorder.note({ claimed, exchange, judgement, again, scheduledAtUs })
    this.#guard.note(judgement, isSettled(state))
    this.#gate.note(judgement, this.#guard.isAway, performance.now())
    if (judgement.retryAfterMs !== null) this.#journal.counters.add('retry_after_answers', '', 1)
    if (again) {
      const delayMs = toRetryDelayMs(attempts, judgement.retryAfterMs, retry, this.#options.random)
      if (judgement.retryAfterMs !== null) this.#journal.counters.add('retry_after_ms', '', delayMs)
      this.#feed.backOff(claimed.item, attempts, delayMs)
    }
    const reason = this.#guard.reason()
    if (reason !== null) this.#finish({ kind: 'burning', reason })
    if (this.#recorder.waiting >= GROUP_MAX) this.#commit({ refill: false, allSeconds: false })
    // The lane that calls this takes its next job, or finds that nothing is left, right after.
  }

  /** Writes outcomes, and with `refill` marks the next items, in one transaction. */
  #commit(options: { refill: boolean; allSeconds: boolean }): void {
    let undo: () => void = () => {}
    try {
      // The watermark must be on disk before what it covers goes out, through a power cut too.
      this.#journal.transact(options.refill ? 'power' : 'process', () => {
        undo = this.#recorder.write(options)
        if (options.refill) this.#feed.refill(this.#meter.ratePerSecond, this.#blockMin)
      })
    } catch (error) {
      undo()
      this.#fail(error)
    }
  }

  /** Lets what is in flight end; {@link send} then rejects with the first of such errors. */
  #fail(error: unknown): void {
    this.#failure ??= error
    this.#finish({ kind: 'stopped' })
  }

  #flushIfAny(): void {
    if (this.#recorder.waiting > 0 && this.#failure === null) {
      this.#commit({ refill: false, allSeconds: false })
    }
    this.#finishIfDone()
  }

  /** A closed pace wants one item for each lane at once; an open one takes them as they fall due. */
  get #blockMin(): number {
    return this.#options.plan.pace.kind === 'closed' ? this.#lanes.concurrency : 1
  }

  #finishIfDone(): void {
    if (this.#lanes.inFlight === 0 && this.#feed.isExhausted) this.#finish({ kind: 'done' })
  }

  #finish(end: SendingEnd): void {
    this.#isEnding = true
    this.#end?.resolve(end)
  }

  #reopenGate(): void {
    this.#gateTimer = undefined
    this.#wakeAll()
  }

  /** Offers every lane what is due; more than one job for each would only be refused. */
  #wakeAll(): void {
    this.#lanes.wake(Math.min(this.#lanes.concurrency, this.#pacer.due(performance.now())))
  }

  #createGuard(): BurnGuard {
    const { connection } = this.#options.plan
    return new BurnGuard({
      nowMs: () => performance.now(),
      origin: new URL(connection.baseUrl).origin,
      apiKeyEnv: connection.apiKeyEnv,
    })
  }
}
