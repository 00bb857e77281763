import { isAsync } from '../../../shared/operations/operations.ts'
import { isSettled } from '../../../shared/run/item-state.ts'
import type { Slowdown, StopNotice } from '../../../shared/run/snapshot.ts'
import { toUnixMs } from '../../../shared/unix-clock.ts'
import type { Journal } from '../journal/journal.ts'
import type { ItemRequest } from '../sending/item-requests.ts'
import { type Job, Lanes } from '../sending/lanes.ts'
import { createPacer, type Pacer } from '../sending/pace.ts'
import { RecentTasks } from '../sending/recent-tasks.ts'
import { RetryBudget, toRetryDelayMs } from '../sending/retry.ts'
import type { MeasuredTry, SecondMeter } from '../sending/second-meter.ts'
import type { Exchange } from '../service/exchange.ts'
import { createJudgement, type JudgeExchange, type Judgement } from '../service/judgement.ts'
import type { ServiceClient } from '../service/service-client.ts'
import type { CallbackSettler } from './callback-settler.ts'
import { ItemFeed } from './item-feed.ts'
import type { SettledItem } from './journal/callback-writer.ts'
import type { ClaimedItem, ItemClaims } from './journal/item-claims.ts'
import { Recorder, type SentItem } from './recorder.ts'
import { type LimitsOptions, ServiceLimits } from './service-limits.ts'

/** How a period of sending ended. `failing`: it stopped itself. `done`: nothing is left to send. */
export type SendingEnd = { kind: 'done' } | { kind: 'stopped' } | { kind: 'failing'; reason: StopNotice }

export interface SenderOptions extends LimitsOptions {
  journal: Journal
  claims: ItemClaims
  /** Processes callbacks; null for sync runs. */
  settler: CallbackSettler | null
  meter: SecondMeter
  createClient: () => ServiceClient
  /** A pure function of the item: a resend has the same body. */
  toRequest: (item: ClaimedItem) => Pick<ItemRequest, 'request' | 'rowKeys'>
  judge: JudgeExchange
  random: () => number
  /** UTF-16 code units of bodies in flight above which nothing more is sent (default: 64 M). */
  bodiesMax?: number | undefined
}

/** An item in flight, without the contents of its request, which may be large. */
interface InFlight extends Pick<MeasuredTry, 'hasWaited'> {
  sent: SentItem
  rowKeys: readonly string[]
  bodyLength: number
  /** When its lane got it, milliseconds, monotonic. */
  takenAtMs: number
  /** When an open pace had it due, milliseconds, monotonic; null for a closed one. */
  scheduledMs: number | null
}

/** Longest time between commits of outcomes, milliseconds (docs/architecture.md §2.1). */
const GROUP_MS = 50
/** How often an open pace checks for due requests, milliseconds. */
const TICK_MS = 1
/** UTF-16 code units of bodies in flight above which sending pauses: huge rows must not fill the memory. */
const BODIES_MAX = 64 * 1024 * 1024

const NO_TRIES: readonly number[] = []

/** Note on a row whose answer proves nothing, if the next answer on its connection was another row's. */
const BEFORE_A_SWAP =
  'the next answer on its connection was that of another row, so this one may be, too; nothing of it tells'

const IS_REPLACED =
  'the service has this post_id already, as it was sent before a correction: correct post_id, too'
const MAY_BE_REPLACED =
  'the service has this post_id already; it may be what was sent before a correction: correct post_id, too'

/** Sends what the journal holds, at the plan's pace, until it is done or stopped, or most rows would fail. */
export class Sender {
  readonly #options: SenderOptions
  readonly #journal: Journal
  readonly #meter: SecondMeter
  readonly #lanes: Lanes
  readonly #feed: ItemFeed
  readonly #recorder: Recorder
  readonly #pacer: Pacer
  readonly #limits: ServiceLimits
  #end: PromiseWithResolvers<SendingEnd> | null = null
  #timers: NodeJS.Timeout[] = []
  #gateTimer: NodeJS.Timeout | undefined
  #isEnding = false
  #failure: unknown = null
  readonly #retries: RetryBudget
  readonly #bodiesMax: number
  /** Bodies in flight, UTF-16 code units. */
  #bodies = 0
  #committedMs = Number.NEGATIVE_INFINITY
  /** By connection, the item with its last answer, if that does not prove whose it is; null if it does. */
  readonly #unproven = new WeakMap<ServiceClient, { item: SentItem | null }>()
  /** Null if results come as callbacks, or are not those of tasks. */
  readonly #tasks: RecentTasks | null
  /** The service gives several rows one task, so that does not show that answers were swapped. */
  #areTasksShared = false
  /** The last time nothing could be sent because the cap was full or sending was held. */
  #heldAtMs = Number.NEGATIVE_INFINITY
  /** The last of these times at which the service was unreachable or limited the rate. */
  #heldByServiceAtMs = Number.NEGATIVE_INFINITY

  constructor(options: SenderOptions) {
    this.#options = options
    this.#journal = options.journal
    this.#meter = options.meter
    this.#pacer = createPacer(options.plan.pace)
    this.#limits = new ServiceLimits(options)
    this.#retries = new RetryBudget(options.plan.retry.limit)
    this.#bodiesMax = options.bodiesMax ?? BODIES_MAX
    const { operation } = options.plan
    this.#tasks = operation.kind === 'task' && !isAsync(operation) ? new RecentTasks() : null
    this.#recorder = new Recorder(options.journal, this.#meter)
    this.#feed = new ItemFeed(options.journal, options.claims, {
      schedule: (delayMs, callback) => {
        const timer = setTimeout(callback, delayMs)
        return () => clearTimeout(timer)
      },
      onDue: () => this.#lanes.wake(1),
      onConfirmed: () => this.#wakeAll(),
      onError: (error) => this.#fail(error),
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

  /** What now keeps it from sending as fast as its plan allows; null if nothing does. */
  get slowdown(): Slowdown | null {
    return this.#end === null || this.#isEnding ? null : this.#limits.slowdown
  }

  /** Sends until all is done, it is stopped, or it fails, and at most `limit` items, of which `left` are not sent. */
  async send(options: { limit?: number | undefined } = {}): Promise<SendingEnd & { left: number }> {
    this.#end = Promise.withResolvers()
    this.#isEnding = false
    // Callbacks not written while the run was held are processed again.
    this.#failure = null
    this.#limits.begin()
    this.#retries.reset()
    this.#feed.limit(options.limit ?? Infinity)
    this.#pacer.start(performance.now())
    this.#timers = [setInterval(() => this.#flushIfAny(), GROUP_MS / 2)]
    if (Number.isFinite(this.#pacer.due(performance.now()))) {
      this.#timers.push(setInterval(() => this.#wakeAll(), TICK_MS))
    }
    this.#lanes.open()
    this.#wakeAll()
    this.#finishIfDone()
    const end = await this.#end.promise
    await this.#lanes.close()
    await this.#feed.confirmed
    for (const timer of this.#timers.splice(0)) clearInterval(timer)
    clearTimeout(this.#gateTimer)
    this.#gateTimer = undefined
    this.#feed.cancel()
    this.#limits.countTime(performance.now())
    // After a failed commit this is the last chance to write the service's answers to disk, and to make what
    // was never sent pending rather than unknown.
    this.#commit({ refill: false, allSeconds: true })
    try {
      this.#feed.release()
    } catch (error) {
      this.#failure ??= error
    }
    if (this.#failure !== null) throw this.#failure
    return { ...end, left: this.#feed.itemsLeft }
  }

  /** Processes new callbacks; for use while nothing is sent. */
  takeCallbacks(): void {
    try {
      if (this.#options.settler?.look()) this.#commit({ refill: false, allSeconds: false })
    } catch (error) {
      this.#fail(error)
    }
  }

  /** Processes callbacks until none is awaited, or until {@link stop}; sends nothing. */
  async awaitCallbacks(): Promise<SendingEnd> {
    const { settler } = this.#options
    if (settler === null) return { kind: 'done' }
    this.#end = Promise.withResolvers()
    const timer = setInterval(() => {
      this.takeCallbacks()
      if (settler.isOver) this.#finish({ kind: 'done' })
    }, GROUP_MS)
    const end = await this.#end.promise
    clearInterval(timer)
    this.#commit({ refill: false, allSeconds: true })
    if (this.#failure !== null) throw this.#failure
    return end
  }

  /** Lets requests in flight end and takes the rest back; {@link send} then resolves. */
  stop(): void {
    this.#finish({ kind: 'stopped' })
  }

  setConcurrency(concurrency: number): void {
    this.#lanes.setConcurrency(concurrency)
  }

  /** Closes every connection. */
  async close(): Promise<void> {
    this.#options.settler?.close()
    await this.#lanes.destroy()
  }

  #take(): Job | null {
    const nowMs = performance.now()
    if (this.#isEnding || this.#pacer.due(nowMs) < 1) return null
    if (this.#isHeld(nowMs)) {
      this.#heldAtMs = nowMs
      return null
    }
    const claimed = this.#nextItem()
    if (claimed === null) {
      if (this.#feed.isMarking) return null
      // Requests due while there is nothing to send are not made up for.
      this.#pacer.start(nowMs)
      this.#finishIfDone()
      return null
    }
    const { request, rowKeys } = this.#toRequest(claimed)
    const scheduledMs = this.#pacer.take()
    const sent: SentItem = {
      item: claimed.item,
      rows: claimed.rows.map(({ row }) => row),
      attempts: claimed.attempts,
    }
    if (claimed.isMarked) sent.isMarked = true
    const flight: InFlight = {
      sent,
      rowKeys,
      bodyLength: request.body?.length ?? 0,
      takenAtMs: nowMs,
      scheduledMs,
      hasWaited: scheduledMs !== null && scheduledMs < this.#heldAtMs,
    }
    this.#limits.noteSent(nowMs)
    // This lane now waits for its answer; the others continue at the service's pace.
    if (this.#limits.isThrottling) this.#wakeAfter(this.#limits.waitMs(nowMs))
    if (flight.hasWaited) {
      this.#journal.counters.add('waited', '', 1)
      const isOfService = scheduledMs !== null && scheduledMs < this.#heldByServiceAtMs
      if (isOfService) this.#journal.counters.add('held_by_service', '', 1)
    }
    this.#bodies += flight.bodyLength
    return { request, onEnd: (exchange, client) => this.#noteEnd(flight, exchange, client) }
  }

  /** Whether nothing may be sent now; lanes are woken once a wait of known length is over. */
  #isHeld(nowMs: number): boolean {
    const waitMs = this.#limits.waitMs(nowMs)
    const { inFlight } = this.#lanes
    if (waitMs > 0 || inFlight >= this.#limits.allowed) {
      this.#heldByServiceAtMs = nowMs
      if (waitMs > 0) this.#wakeAfter(waitMs)
      return true
    }
    return this.#bodies >= this.#bodiesMax && inFlight > 0
  }

  /** Wakes the lanes after this time; without a known end, the answer to a probe does. */
  #wakeAfter(waitMs: number): void {
    if (waitMs === Infinity) return
    this.#gateTimer ??= setTimeout(() => {
      this.#gateTimer = undefined
      this.#wakeAll()
    }, Math.ceil(waitMs))
  }

  #toRequest(claimed: ClaimedItem): ReturnType<SenderOptions['toRequest']> {
    try {
      return this.#options.toRequest(claimed)
    } catch (error) {
      this.#isEnding = true
      this.#feed.putBack(claimed)
      throw error
    }
  }

  #nextItem(): ClaimedItem | null {
    if (this.#feed.isLow) this.#commit({ refill: true, allSeconds: false })
    return this.#isEnding ? null : this.#feed.next()
  }

  #noteEnd(flight: InFlight, exchange: Exchange, client: ServiceClient): void {
    const nowMs = performance.now()
    const { sent, rowKeys, scheduledMs, hasWaited, takenAtMs } = flight
    if (this.#lanes.inFlight + 1 >= this.#lanes.concurrency) this.#heldAtMs = nowMs
    const wasFull = this.#bodies >= this.#bodiesMax
    this.#bodies -= flight.bodyLength
    const { claims } = this.#options
    const earlierTries =
      sent.attempts > 0 || claims.hasLostTries
        ? sent.rows.map((row) => claims.countUnknownTries(sent.item, row))
        : NO_TRIES
    const judgement = this.#judgeDelivered(sent, this.#options.judge(exchange, rowKeys, earlierTries))
    this.#tasks?.note(judgement, sent.item)
    this.#noteEcho(sent, exchange, judgement, client)
    const isSettledBefore = this.#options.settler?.noteEnd(sent.item, exchange.timings.sentAtUs) ?? false
    // If a retry sends only some rows of an item, the service has accepted all of them together before.
    const isSplit =
      judgement.isTooLarge && sent.rows.length > 1 && claims.isWhole(sent.item, sent.rows.length)
    const { allowed } = this.#limits
    const wasThrottling = this.#limits.isThrottling
    const isProbing = this.#limits.waitMs(nowMs) === Infinity
    this.#limits.note({ item: sent.item, judgement, sentAtMs: takenAtMs, nowMs })
    const again =
      !isSettledBefore &&
      (isSplit ||
        (judgement.repeat !== 'never' && this.#retries.take(sent.item, this.#limits.isSpared(judgement))))
    const state = this.#recorder.note({
      sent,
      exchange,
      judgement,
      again,
      mayBeTaken: earlierTries.some((tries) => tries > 0),
      isSettled: isSettledBefore,
      scheduledAtUs: scheduledMs === null ? null : toUnixMs(scheduledMs) * 1000,
      hasWaited,
    })
    if (state === null || state === 'acknowledged' || isSettled(state)) {
      this.#retries.forget(sent.item)
      if (!this.#mayBeAccepted(sent, judgement))
        this.#limits.noteSettled(state === null ? 'succeeded' : judgement.outcome)
    }
    if (state === 'unknown') this.#options.settler?.noteLoss()
    if (again && isSplit) this.#feed.split(sent.item, sent.attempts + 1)
    else if (again) this.#backOff(sent, judgement)
    this.#finishIfFailing()
    if (this.#recorder.isFull) this.#commit({ refill: false, allSeconds: false })
    // The calling lane takes its next job, or finds none, right after this; others must be woken.
    const hasRoom = (wasFull && this.#bodies < this.#bodiesMax) || this.#limits.allowed > allowed
    const isLifted = wasThrottling && !this.#limits.isThrottling
    if (hasRoom || isProbing || isLifted) this.#wakeAll()
  }

  /** The service may already have what the row was sent with before a correction, under the same id. */
  #judgeDelivered({ item }: SentItem, judgement: Judgement): Judgement {
    if (!judgement.isDelivered) return judgement
    const { status, errorCode } = judgement
    const delivered = this.#options.claims.findDelivered(item, errorCode)
    if (delivered === 'present') return judgement
    return delivered === 'replaced'
      ? createJudgement({ outcome: 'rejected', status, errorCode, message: IS_REPLACED })
      : createJudgement({ outcome: 'unknown', status, errorCode, message: MAY_BE_REPLACED })
  }

  /**
   * What may be an answer to another request ends its connection. If answers were swapped, the one before it
   * on the connection may be another row's, too, unless it proves whose it is.
   */
  #noteEcho(
    sent: SentItem,
    exchange: Exchange,
    { echo, outcome, answer }: Judgement,
    client: ServiceClient,
  ): void {
    let last = this.#unproven.get(client)
    if (last === undefined) {
      last = { item: null }
      this.#unproven.set(client, last)
    }
    const before = last.item
    // Changed in place: a new entry for each answer would cost more than the rest of this.
    last.item = echo.kind === 'unverifiable' && outcome === 'succeeded' ? sent : null
    const isReused = exchange.timings.connectUs === null
    // Nothing was swapped on a connection that was not used before.
    if (answer === 'shared_task' && !isReused) this.#areTasksShared = true
    if (echo.kind === 'mismatched' || (answer === 'shared_task' && !this.#areTasksShared)) client.retire()
    if (echo.kind === 'mismatched') {
      if (before !== null && echo.isOfOtherRow && isReused) this.#recorder.remark(before, BEFORE_A_SWAP)
    }
  }

  #backOff({ item, attempts }: SentItem, judgement: Judgement): void {
    const { retryAfterMs } = judgement
    const rules = this.#limits.toRetryRules(judgement)
    const used = Math.max(1, this.#retries.used(item))
    const delayMs = toRetryDelayMs(used, retryAfterMs, rules, this.#options.random)
    const isSatOut = rules === this.#options.plan.retry
    if (retryAfterMs !== null && isSatOut) this.#journal.counters.add('retry_after_ms', '', delayMs)
    this.#feed.backOff(item, attempts + 1, delayMs)
  }

  /** Writes outcomes, and with `refill` marks the next items, in one transaction. */
  #commit(options: { refill: boolean; allSeconds: boolean }): void {
    let undo: () => void = () => {}
    this.#committedMs = performance.now()
    try {
      this.#journal.transact('process', () => {
        undo = this.#recorder.write(options)
        this.#options.settler?.write((item) => this.#feed.isWaiting(item))
        if (options.refill) this.#feed.refill(this.#meter.ratePerSecond, this.#blockMin)
      })
      for (const settled of this.#options.settler?.committed() ?? []) this.#noteSettled(settled)
      for (const echo of this.#options.settler?.takeEchoes() ?? []) this.#limits.noteEcho(echo)
      if (options.refill) this.#feed.confirm()
    } catch (error) {
      undo()
      this.#fail(error)
    }
  }

  /** Whether a try before this refusal may have been accepted: its callback may then settle the item. */
  #mayBeAccepted({ item }: Pick<SentItem, 'item'>, { outcome }: Judgement): boolean {
    if (outcome !== 'rejected' || this.#options.settler === null) return false
    return this.#options.claims.countUnknownTries(item) > 0
  }

  /** Handles an item settled by a callback: it is not resent, and the end of its request changes nothing. */
  #noteSettled({ item, from, receivedAtUs, isOfTryInFlight }: SettledItem): void {
    this.#retries.forget(item)
    if (this.#feed.drop(item) || from !== 'sending') return
    this.#options.settler?.noteEarly(item, isOfTryInFlight ? receivedAtUs : null)
  }

  /** Lets requests in flight end; {@link send} then rejects with the first of such errors. */
  #fail(error: unknown): void {
    this.#failure ??= error
    this.#finish({ kind: 'stopped' })
  }

  #flushIfAny(): void {
    const hasNews = this.#options.settler?.look() ?? false
    // At full speed, marking the next items commits what has ended more often than this.
    const isDue = performance.now() - this.#committedMs >= GROUP_MS / 2
    if (isDue && (hasNews || this.#recorder.waiting > 0) && this.#failure === null) {
      this.#commit({ refill: false, allSeconds: false })
    }
    this.#limits.countTime(performance.now())
    this.#limits.noteIdle(this.#lanes.inFlight === 0 ? this.#feed.idleUntilMs : null)
    // While probes are rare, an announced time must not wait for the next one.
    this.#finishIfFailing()
    this.#finishIfDone()
  }

  /** A closed pace needs one item for each lane at once; an open one takes them as they fall due. */
  get #blockMin(): number {
    if (this.#options.plan.pace.kind !== 'closed') return 1
    return Math.max(1, Math.min(this.#lanes.concurrency, this.#limits.room(performance.now())))
  }

  #finishIfFailing(): void {
    const reason = this.#limits.reason()
    if (reason !== null) this.#finish({ kind: 'failing', reason })
  }

  #finishIfDone(): void {
    if (this.#lanes.inFlight === 0 && this.#feed.isExhausted) this.#finish({ kind: 'done' })
  }

  #finish(end: SendingEnd): void {
    this.#isEnding = true
    this.#end?.resolve(end)
  }

  /** Offers due requests to the lanes; more than one job for each would only be refused. */
  #wakeAll(): void {
    const nowMs = performance.now()
    // At least one lane, which finds out when to wake the others.
    const room = Math.max(1, this.#limits.room(nowMs))
    this.#lanes.wake(Math.min(this.#lanes.concurrency, room, this.#pacer.due(nowMs)))
  }
}
