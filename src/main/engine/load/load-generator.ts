import { type Load, toArrivalSchedule } from '../../../shared/load/load.ts'
import { isOpen } from '../../../shared/load/load-pace.ts'
import { formatSetDuration } from '../../../shared/messages/duration.ts'
import type { RetryRules } from '../../../shared/plan/plan.ts'
import { OUTCOMES } from '../../../shared/run/item-state.ts'
import { toMonotonicMs } from '../../../shared/unix-clock.ts'
import { isTimed } from '../journal/seconds.ts'
import { type Job, Lanes } from '../sending/lanes.ts'
import { RecentTasks } from '../sending/recent-tasks.ts'
import { toRetryDelayMs } from '../sending/retry.ts'
import { UnreadWatch } from '../sending/unread-watch.ts'
import { CLIENT_CLOSED_CODE, type Exchange } from '../service/exchange.ts'
import type { Judgement } from '../service/judgement.ts'
import type { ServiceClient } from '../service/service-client.ts'
import { GRACEFUL_STOP_CODE, SILENCE_MIN_US } from './answer-silence.ts'
import type { LoadRequestOptions } from './first-request.ts'
import { GeneratorWatch } from './generator-health.ts'
import { createSample, RequestKeeper } from './kept-requests.ts'
import type { LoadBody } from './load-bodies.ts'
import { type LoadPacer, type LoadTurn, WARMUP_SEQUENCE } from './load-pacer.ts'
import { RuleCounts } from './load-rules.ts'
import type { KeptRequest, LoadUpdate } from './load-threads.ts'
import { FIELD, FLAG, LoadErrors, LoadModels, RECORD_NUMBERS, RecordChunk } from './request-record.ts'

/** How often an open pace checks for due requests, and a closed one its number in flight, milliseconds. */
const TICK_MS = 1
const CLOSED_TICK_MS = 20
/** Requests due within half a tick go out now, so that none is off by more than that, milliseconds. */
const EARLY_MS = TICK_MS / 2
/** From this much on, a request that did not wait for room in flight is late because this machine stalled. */
const LATE_MS = 5
/** How often records are handed over, milliseconds. */
const HAND_OVER_MS = 100

export interface LoadGeneratorOptions extends LoadRequestOptions {
  index: number
  load: Load
  retry: RetryRules
  pacer: LoadPacer
  report: (update: LoadUpdate, transfer?: ArrayBuffer[]) => void
}

/** A request on its way, first try or later. */
interface RequestInFlight {
  turn: LoadTurn
  body: LoadBody
  tries: number
  hasWaited: boolean
  /** Whether its first try went out in a burst after a stall, or directly after one. */
  isInBurst: boolean
  /** When its first try was handed over, on the clock of `performance.now()`. */
  beganMs: number
  /** How long a Retry-After put this try off, milliseconds; NaN if none did. */
  waitedMs: number
}

/** Sends one thread's share of a load and reports outcomes as plain numbers. Keeps only what is in flight. */
export class LoadGenerator {
  readonly #options: LoadGeneratorOptions
  readonly #lanes: Lanes
  readonly #clients = new Set<ServiceClient>()
  readonly #chunk = new RecordChunk()
  readonly #errors = new LoadErrors()
  readonly #rules = new RuleCounts()
  readonly #models = new LoadModels()
  readonly #watch = new GeneratorWatch()
  readonly #unread = new UnreadWatch()
  readonly #tasks = new RecentTasks()
  readonly #again: RequestInFlight[] = []
  /** Measured requests in flight, and when handed over, milliseconds since measuring began: in order. */
  readonly #open = new Map<RequestInFlight, number>()
  #backingOff = 0
  readonly #keeper: RequestKeeper
  readonly #tickEveryMs: number
  #tickedMs = Number.NaN
  readonly #end = Promise.withResolvers<void>()
  /** When measuring begins, on the clock of `performance.now()`. */
  #startMs = 0
  #isStopped = false
  #stoppedMs: number | null = null
  /** Whether we are ending what is still in flight. */
  #isGivingUp = false
  /** When requests waiting for room are dropped as more than the service takes; infinite at a closed pace. */
  readonly #giveUpMs: number
  #second = Number.NEGATIVE_INFINITY
  #sent = 0
  #retries = 0
  #warmupAnswers = 0
  #dropped = 0
  #droppedInAll = 0
  #inFlightMax = 0
  #lastFullMs = Number.NEGATIVE_INFINITY
  #isLastLate = false
  #handedOverMs = 0

  constructor(options: LoadGeneratorOptions) {
    this.#options = options
    this.#tickEveryMs = isOpen(options.load.pace) ? TICK_MS : CLOSED_TICK_MS
    this.#keeper = new RequestKeeper(options.load)
    const { pace, gracefulStopMs } = options.load
    this.#giveUpMs = isOpen(pace) ? toArrivalSchedule(options.load).durationMs + gracefulStopMs : Infinity
    this.#lanes = new Lanes({
      concurrency: Math.max(1, options.pacer.concurrencyAt(-options.load.warmupMs)),
      createClient: () => {
        const client = options.createClient()
        this.#clients.add(client)
        return client
      },
      take: () => this.#take(),
      onError: (error) => this.#end.reject(error),
    })
  }

  /**
   * Sends until the load is over and every request has ended or was given up. `startMs`: when measuring
   * begins, on the clock of `performance.now()`.
   */
  async run(startMs: number): Promise<void> {
    this.#startMs = startMs
    this.#unread.start()
    const timer = setInterval(() => this.#tick(), this.#tickEveryMs)
    this.#lanes.open()
    try {
      this.#tick()
      await this.#end.promise
    } finally {
      clearInterval(timer)
      this.#isGivingUp = true
      await Promise.all([...this.#clients].map((client) => client.destroy()))
      await this.#lanes.close()
      this.#closeSeconds(Math.floor(this.#nowMs() / 1000) + 1, 0)
      this.#handOver()
      this.#watch.close()
      this.#unread.close()
    }
  }

  /** Sends nothing new; requests in flight end, or are given up after the graceful stop. */
  stop(): void {
    this.#isStopped = true
    this.#stoppedMs ??= this.#nowMs()
  }

  /** Milliseconds since measuring began. */
  #nowMs(): number {
    return performance.now() - this.#startMs
  }

  #tick(): void {
    const nowMs = this.#nowMs()
    const { pacer } = this.#options
    this.#enterSecond(nowMs)
    this.#tickedMs = nowMs
    if (this.#isStopped || pacer.isOver(nowMs)) this.#endWhenDrained(nowMs)
    else {
      this.#wake(nowMs)
      this.#drop(nowMs)
    }
    if (nowMs - this.#handedOverMs >= HAND_OVER_MS || this.#chunk.isFull) this.#handOver()
  }

  #wake(nowMs: number): void {
    const { pacer } = this.#options
    const concurrency = pacer.concurrencyAt(nowMs)
    if (concurrency !== this.#lanes.concurrency) this.#lanes.setConcurrency(concurrency)
    const ready = pacer.countReady(this.#toDueMs(nowMs)) + this.#again.length
    const room = this.#lanes.concurrency - this.#lanes.busy
    if (ready > 0 && room <= 0) this.#lastFullMs = nowMs
    if (ready > 0 && room > 0) this.#lanes.wake(Math.min(ready, room))
    this.#inFlightMax = Math.max(this.#inFlightMax, this.#lanes.inFlight)
  }

  /**
   * Requests due before this go out now: half a tick early is closer than half a tick late. The warm-up ends
   * on time.
   */
  #toDueMs(nowMs: number): number {
    return nowMs < 0 || !isOpen(this.#options.load.pace) ? nowMs : nowMs + EARLY_MS
  }

  /**
   * Gives up due requests without a free slot: at once if the plan says so, else once the load's end is
   * longer ago than the graceful stop.
   */
  #drop(nowMs: number): void {
    const { pacer, load } = this.#options
    if (load.whenFull === 'wait' && nowMs <= this.#giveUpMs) return
    while (this.#lanes.busy >= this.#lanes.concurrency && pacer.countReady(nowMs) > 0) {
      if (!pacer.take(nowMs)?.isMeasured) continue
      this.#dropped += 1
      this.#droppedInAll += 1
    }
  }

  #endWhenDrained(nowMs: number): void {
    this.#stoppedMs ??= nowMs
    const again = this.#isStopped ? 0 : this.#again.length + this.#backingOff
    const isDrained = this.#lanes.inFlight + again === 0
    if (!isDrained && !this.#isStopped) this.#lanes.wake(this.#again.length)
    if (isDrained || nowMs - this.#stoppedMs > this.#options.load.gracefulStopMs) this.#end.resolve()
  }

  #take(): Job | null {
    const nowMs = this.#nowMs()
    const { pacer } = this.#options
    if (this.#isStopped) return null
    // An answer may come before the timer that begins a second; what goes out then belongs to that second.
    this.#enterSecond(nowMs)
    const again = this.#again.shift()
    if (again !== undefined) {
      if (again.turn.isMeasured) {
        this.#sent += 1
        this.#retries += 1
      }
      return this.#toJob(again)
    }
    const turn = pacer.take(this.#toDueMs(nowMs))
    if (turn === null) return null
    if (turn.isMeasured) this.#sent += 1
    const body = this.#options.bodies.at(this.#nextBody(turn))
    const hasWaited = turn.dueMs !== null && turn.dueMs < this.#lastFullMs
    const isLate = turn.dueMs !== null && !hasWaited && nowMs - turn.dueMs >= LATE_MS
    const isInBurst = isLate || this.#isLastLate
    this.#isLastLate = isLate
    return this.#toJob({
      turn,
      body,
      tries: 0,
      hasWaited,
      isInBurst,
      beganMs: this.#startMs + nowMs,
      waitedMs: Number.NaN,
    })
  }

  /** The number of the request's row in the order of rows: a dropped request uses up none. */
  #nextBody({ isMeasured, sequence }: LoadTurn): number {
    const { load } = this.#options
    if (!isMeasured) return sequence - WARMUP_SEQUENCE
    return sequence - load.workers * this.#droppedInAll
  }

  #toJob(flight: RequestInFlight): Job {
    const { path, toPostId, toCallbackUrl } = this.#options
    const { body, turn } = flight
    const json = body.toJson(toPostId(turn.sequence), toCallbackUrl(turn.sequence + 1) ?? '')
    if (turn.isMeasured) this.#open.set(flight, this.#nowMs())
    const onWait = turn.isMeasured ? (isWaiting: boolean) => this.#noteWait(flight, isWaiting) : undefined
    return {
      request: { method: 'POST', path, body: json, isAnonymous: false, onWait },
      onEnd: (exchange) => this.#noteEnd(flight, exchange),
      restMs: this.#drawThinkTime(),
    }
  }

  /** A request that waits for a stream awaits no answer yet, like one that waits for room in flight. */
  #noteWait(flight: RequestInFlight, isWaiting: boolean): void {
    if (isWaiting) this.#open.delete(flight)
    else this.#open.set(flight, this.#nowMs())
  }

  #drawThinkTime(): number {
    const { minMs, maxMs } = this.#options.load.thinkTime ?? { minMs: 0, maxMs: 0 }
    return minMs + Math.random() * (maxMs - minMs)
  }

  #noteEnd(flight: RequestInFlight, ended: Exchange): void {
    const { turn, body } = flight
    this.#open.delete(flight)
    const exchange = this.#nameEnd(ended)
    const judgement = this.#options.judge(exchange, [this.#options.toPostId(turn.sequence), ...body.keys])
    this.#tasks.note(judgement, turn.sequence)
    const isRepeated =
      judgement.repeat !== 'never' && flight.tries < this.#options.retry.limit && !this.#isStopped
    if (turn.isMeasured) this.#record(flight, exchange, judgement, isRepeated)
    else if (exchange.kind === 'answer') this.#warmupAnswers += 1
    if (this.#lanes.inFlight + 1 >= this.#lanes.concurrency) this.#lastFullMs = this.#nowMs()
    if (isRepeated) this.#backOff(flight, judgement)
  }

  /** Explains why we closed a connection. */
  #nameEnd(ended: Exchange): Exchange {
    if (!this.#isGivingUp || ended.kind !== 'breakdown' || ended.code !== CLIENT_CLOSED_CODE) return ended
    const after = formatSetDuration(this.#options.load.gracefulStopMs)
    const message = `not answered before the load test ended it, after its graceful stop of ${after}`
    return { ...ended, code: GRACEFUL_STOP_CODE, message }
  }

  #backOff(flight: RequestInFlight, { retryAfterMs }: Judgement): void {
    const delayMs = toRetryDelayMs(flight.tries + 1, retryAfterMs, this.#options.retry, Math.random)
    const waitedMs = retryAfterMs === null ? Number.NaN : delayMs
    this.#backingOff += 1
    setTimeout(() => {
      this.#backingOff -= 1
      this.#again.push({ ...flight, tries: flight.tries + 1, waitedMs })
      this.#lanes.wake(1)
    }, delayMs).unref()
  }

  #record(flight: RequestInFlight, exchange: Exchange, judgement: Judgement, isRepeated: boolean): void {
    const { turn, body, tries, beganMs, waitedMs } = flight
    const { timings } = exchange
    const hasWaited = flight.hasWaited || (timings.hasQueued === true && turn.dueMs !== null)
    const sentUs = (toMonotonicMs(timings.sentAtUs / 1000) - this.#startMs) * 1000
    const endUs = sentUs + timings.durationUs
    const unreadMs = this.#unread.noteRead(endUs / 1000 + this.#startMs)
    const waitingUs = timings.waitingUs ?? Number.NaN
    const sendingUs = timings.sendingUs ?? Number.NaN
    const isSent = exchange.kind === 'answer' || exchange.sent
    const dueUs = turn.dueMs === null || tries > 0 ? Number.NaN : turn.dueMs * 1000
    const timed = isTimed(judgement)
    const { numbers } = this.#chunk
    const at = this.#chunk.next()
    numbers[at + FIELD.sequence] = turn.sequence
    numbers[at + FIELD.endUs] = endUs
    numbers[at + FIELD.durationUs] = timings.durationUs
    numbers[at + FIELD.waitingUs] = waitingUs
    numbers[at + FIELD.connectUs] = timings.connectUs ?? Number.NaN
    numbers[at + FIELD.tlsUs] = timings.tlsUs ?? Number.NaN
    // A request sent half a tick early has no lag, and its response time is no shorter for it.
    const lagUs = Math.max(0, sentUs - dueUs)
    numbers[at + FIELD.responseUs] = timed ? timings.durationUs + lagUs : Number.NaN
    numbers[at + FIELD.lagUs] = timed && isSent ? lagUs : Number.NaN
    numbers[at + FIELD.status] = judgement.status ?? Number.NaN
    numbers[at + FIELD.outcome] = OUTCOMES.indexOf(judgement.outcome)
    numbers[at + FIELD.flags] =
      (timed ? FLAG.timed : 0) +
      (hasWaited ? FLAG.waited : 0) +
      (judgement.fromCache ? FLAG.fromCache : 0) +
      (judgement.answer === 'no_result' ? FLAG.noResult : 0) +
      (judgement.answer === 'missing_models' ? FLAG.missingModels : 0) +
      (judgement.answer === 'shared_task' ? FLAG.sharedTask : 0) +
      (tries > 0 ? FLAG.retry : 0) +
      (tries === 0 && flight.isInBurst ? FLAG.inBurst : 0) +
      (judgement.isAcknowledgement ? FLAG.acknowledged : 0) +
      (isSent ? FLAG.sent : 0) +
      (exchange.kind === 'answer' ? FLAG.answered : 0) +
      toEchoFlag(judgement)
    numbers[at + FIELD.position] = body.position
    numbers[at + FIELD.contentBytes] = body.contentBytes
    numbers[at + FIELD.model] = this.#models.toNumber(body.model)
    numbers[at + FIELD.error] =
      judgement.outcome === 'succeeded' ? Number.NaN : this.#errors.toNumber(judgement, body.row)
    numbers[at + FIELD.retryAfterMs] = judgement.retryAfterMs ?? Number.NaN
    numbers[at + FIELD.blockedUs] = timings.blockedUs ?? Number.NaN
    numbers[at + FIELD.sendingUs] = sendingUs
    numbers[at + FIELD.receivingUs] = Math.max(0, timings.durationUs - sendingUs - waitingUs)
    numbers[at + FIELD.iterationUs] = isRepeated
      ? Number.NaN
      : Math.max(0, endUs - (beganMs - this.#startMs) * 1000)
    numbers[at + FIELD.sentBytes] = timings.sentBytes ?? 0
    numbers[at + FIELD.receivedBytes] = timings.receivedBytes ?? 0
    numbers[at + FIELD.rowTags] = body.tags
    numbers[at + FIELD.unreadUs] = unreadMs * 1000
    numbers[at + FIELD.waitedMs] = waitedMs
    const kept = this.#keeper.consider(judgement.outcome)
    this.#rules.add(judgement.rules)
    if (kept !== null) this.#keeper.keep(kept, this.#toSample(at, flight, exchange, judgement))
    if (this.#chunk.isFull) this.#handOver()
  }

  #toSample(
    at: number,
    { turn, body }: RequestInFlight,
    exchange: Exchange,
    judgement: Judgement,
  ): KeptRequest['sample'] {
    const { toPostId, toCallbackUrl } = this.#options
    const record = this.#chunk.numbers.subarray(at, at + RECORD_NUMBERS)
    const postId = toPostId(turn.sequence)
    const request = body.toJson(postId, toCallbackUrl(turn.sequence + 1) ?? '')
    return createSample(record, { row: body.row, postId, request, exchange, judgement })
  }

  #handOver(): void {
    this.#handedOverMs = this.#nowMs()
    const records = this.#chunk.take()
    const { index, report } = this.#options
    const rules = this.#rules.take()
    if (rules.length > 0) report({ kind: 'rules', index, rules })
    report(
      {
        kind: 'records',
        index,
        records,
        kept: this.#keeper.take(),
        errors: this.#errors.takeUpdates(),
        models: this.#models.takeUpdates(),
        inFlight: this.#lanes.inFlight,
        warmupAnswers: this.#warmupAnswers,
      },
      [records.buffer as ArrayBuffer],
    )
    this.#warmupAnswers = 0
  }

  /** Closes the seconds that are over. A timer that is late by now was late in them. */
  #enterSecond(nowMs: number): void {
    const lateMs = Number.isNaN(this.#tickedMs) ? 0 : nowMs - this.#tickedMs - this.#tickEveryMs
    this.#closeSeconds(Math.floor(nowMs / 1000), Math.max(0, lateMs * 1000))
  }

  /** Reports the health of each second that is over; `lateUs` is how late the next one's timer was. */
  #closeSeconds(next: number, lateUs: number): void {
    const isFirst = !Number.isFinite(this.#second)
    this.#watch.noteLate(lateUs)
    if (next === this.#second) return
    // Hand over the requests that ended in them before the report.
    if (!isFirst) this.#handOver()
    for (let second = this.#second; !isFirst && second < next; second += 1) {
      this.#reportSecond(second)
      // A timer that slept into this second was just as late in it.
      this.#watch.noteLate(lateUs)
    }
    this.#second = next
  }

  #reportSecond(second: number): void {
    const { pacer, index, report } = this.#options
    const ready = pacer.countReady(this.#nowMs())
    const isFull = this.#lanes.busy >= this.#lanes.concurrency
    const health = {
      second,
      sent: this.#sent,
      retries: this.#retries,
      dropped: this.#dropped,
      behind: isFull || !Number.isFinite(ready) || this.#isStopped ? 0 : ready,
      inFlightMax: this.#inFlightMax,
      ...this.#watch.take(),
    }
    report({ kind: 'health', index, health, open: this.#listOpen() })
    this.#sent = 0
    this.#retries = 0
    this.#dropped = 0
    this.#inFlightMax = this.#lanes.inFlight
  }

  /** Records of requests that waited at least {@link SILENCE_MIN_US} for an answer, as if they ended now. */
  #listOpen(): Float64Array {
    const nowUs = this.#nowMs() * 1000
    const numbers: number[] = []
    for (const [{ turn, body, tries, beganMs }, handedOverMs] of this.#open) {
      const durationUs = nowUs - handedOverMs * 1000
      if (durationUs < SILENCE_MIN_US) break
      const record = new Array<number>(RECORD_NUMBERS).fill(Number.NaN)
      record[FIELD.sequence] = turn.sequence
      record[FIELD.endUs] = nowUs
      record[FIELD.durationUs] = durationUs
      record[FIELD.waitingUs] = durationUs
      if (turn.dueMs !== null && tries === 0) record[FIELD.responseUs] = nowUs - turn.dueMs * 1000
      record[FIELD.outcome] = OUTCOMES.indexOf('unknown')
      record[FIELD.flags] = FLAG.timed + FLAG.sent
      record[FIELD.iterationUs] = nowUs - (beganMs - this.#startMs) * 1000
      record[FIELD.sentBytes] = 0
      record[FIELD.receivedBytes] = 0
      record[FIELD.rowTags] = body.tags
      record[FIELD.unreadUs] = 0
      numbers.push(...record)
    }
    return Float64Array.from(numbers)
  }
}

/** An acknowledgement proves nothing; its callback is judged separately. */
function toEchoFlag({ outcome, isAcknowledgement, echo }: Judgement): number {
  if (echo.kind === 'mismatched') return FLAG.mismatched
  if (outcome !== 'succeeded' || isAcknowledgement) return 0
  if (echo.kind === 'unverifiable') return FLAG.unverifiable
  return FLAG.verified + (echo.kind === 'alike' ? FLAG.alike : 0)
}
