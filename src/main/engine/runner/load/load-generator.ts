import type { Load } from '../../../../shared/load.ts'
import { isOpen } from '../../../../shared/load-pace.ts'
import type { RetryRules } from '../../../../shared/plan.ts'
import { isTimed } from '../../journal/timed-try.ts'
import type { Exchange } from '../../service/exchange.ts'
import type { Judgement } from '../../service/judgement.ts'
import type { ServiceClient } from '../../service/service-client.ts'
import { type Job, Lanes } from '../lanes.ts'
import { toRetryDelayMs } from '../retry-timing.ts'
import { GeneratorWatch } from './generator-watch.ts'
import type { LoadBodies, LoadBody } from './load-bodies.ts'
import { LoadErrors } from './load-errors.ts'
import type { KeptRequest, LoadEvent } from './load-messages.ts'
import { type LoadPacer, type LoadTurn, WARMUP_SEQUENCE } from './load-pace.ts'
import { FIELD, FLAG, OUTCOMES, RecordChunk } from './load-record.ts'

/** How often an open pace looks for what is due, and a closed one at its number in flight, milliseconds. */
const TICK_MS = 1
const CLOSED_TICK_MS = 20
/** How often records are handed over, milliseconds. */
const HAND_OVER_MS = 100
/** Most of a body that a sample keeps, UTF-16 code units. */
const SAMPLE_MAX_CHARACTERS = 16 * 1024

/** What a generator is made of. */
export interface LoadGeneratorOptions {
  index: number
  load: Load
  retry: RetryRules
  pacer: LoadPacer
  bodies: LoadBodies
  path: string
  createClient: () => ServiceClient
  judge: (exchange: Exchange, rowKeys: readonly string[]) => Judgement
  toPostId: (sequence: number) => string
  /** Of the item that stands for a request, from 1; null where no callback is asked for. */
  toCallbackUrl: (item: number) => string | null
  /** When measuring begins, on the clock of `performance.now()`. */
  startMs: number
  post: (event: LoadEvent, transfer: ArrayBuffer[]) => void
}

/** A request on its way, first try or later. */
interface Flight {
  turn: LoadTurn
  body: LoadBody
  tries: number
  hasWaited: boolean
}

/** Sends one thread's share of a load, and tells what became of it in plain numbers. Keeps nothing but what is in flight. */
export class LoadGenerator {
  readonly #options: LoadGeneratorOptions
  readonly #lanes: Lanes
  readonly #clients = new Set<ServiceClient>()
  readonly #chunk = new RecordChunk()
  readonly #errors = new LoadErrors()
  readonly #models = new Map<string, number>()
  #newModels: [number, string][] = []
  readonly #watch = new GeneratorWatch()
  readonly #outcomes: Uint8Array
  readonly #again: Flight[] = []
  #backingOff = 0
  #thinking = 0
  #kept: KeptRequest[] = []
  #errorsKept = 0
  readonly #end = Promise.withResolvers<void>()
  #isStopped = false
  #stoppedMs: number | null = null
  #second = Number.NEGATIVE_INFINITY
  #sent = 0
  #dropped = 0
  #inFlightMax = 0
  #lastFullMs = Number.NEGATIVE_INFINITY
  #handedOverMs = 0

  constructor(options: LoadGeneratorOptions) {
    this.#options = options
    this.#outcomes = new Uint8Array(options.bodies.count)
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

  /** Sends until the load is over and everything has ended, or was given up. */
  async run(): Promise<void> {
    const tickMs = isOpen(this.#options.load.pace) ? TICK_MS : CLOSED_TICK_MS
    const timer = setInterval(() => this.#tick(), tickMs)
    this.#lanes.open()
    try {
      this.#tick()
      await this.#end.promise
    } finally {
      clearInterval(timer)
      await Promise.all([...this.#clients].map((client) => client.destroy()))
      await this.#lanes.close()
      this.#closeSecond(Math.floor(this.#nowMs() / 1000) + 1)
      this.#handOver()
      this.#watch.close()
    }
    this.#options.post({ kind: 'done', index: this.#options.index, outcomes: this.#outcomes }, [])
  }

  /** Sends nothing new; what is in flight ends, or is given up after the graceful stop. */
  stop(): void {
    this.#isStopped = true
    this.#stoppedMs ??= this.#nowMs()
  }

  /** Milliseconds since measuring began. */
  #nowMs(): number {
    return performance.now() - this.#options.startMs
  }

  #tick(): void {
    const nowMs = this.#nowMs()
    const { pacer, load } = this.#options
    this.#closeSecond(Math.floor(nowMs / 1000))
    const isOver = this.#isStopped || pacer.isOver(nowMs)
    if (isOver) this.#endWhenDrained(nowMs)
    else this.#wake(nowMs)
    if (load.whenFull === 'drop') this.#drop(nowMs)
    if (nowMs - this.#handedOverMs >= HAND_OVER_MS || this.#chunk.isFull) this.#handOver()
  }

  #wake(nowMs: number): void {
    const { pacer } = this.#options
    const concurrency = pacer.concurrencyAt(nowMs)
    if (concurrency !== this.#lanes.concurrency && concurrency > 0) this.#lanes.setConcurrency(concurrency)
    const ready = pacer.countReady(nowMs) + this.#again.length
    const room = concurrency - this.#lanes.inFlight - this.#thinking
    if (ready > 0 && room <= 0) this.#lastFullMs = nowMs
    if (ready > 0 && room > 0) this.#lanes.wake(Math.min(ready, room))
    this.#inFlightMax = Math.max(this.#inFlightMax, this.#lanes.inFlight)
  }

  /** What is due and finds no room is given up. */
  #drop(nowMs: number): void {
    const { pacer } = this.#options
    while (this.#lanes.inFlight >= pacer.concurrencyAt(nowMs) && pacer.countReady(nowMs) > 0) {
      if (pacer.take(nowMs)?.isMeasured) this.#dropped += 1
    }
  }

  #endWhenDrained(nowMs: number): void {
    this.#stoppedMs ??= nowMs
    const isDrained = this.#lanes.inFlight === 0 && this.#again.length + this.#backingOff === 0
    if (!isDrained && !this.#isStopped) this.#lanes.wake(this.#again.length)
    if (isDrained || nowMs - this.#stoppedMs > this.#options.load.gracefulStopMs) this.#end.resolve()
  }

  #take(): Job | null {
    const nowMs = this.#nowMs()
    const { pacer } = this.#options
    if (this.#lanes.inFlight + this.#thinking >= pacer.concurrencyAt(nowMs) && !pacer.isOver(nowMs)) {
      this.#lastFullMs = nowMs
      return null
    }
    const again = this.#again.shift()
    if (again !== undefined) return this.#toJob(again)
    const turn = this.#isStopped ? null : pacer.take(nowMs)
    if (turn === null) return null
    if (turn.isMeasured) this.#sent += 1
    const body = this.#options.bodies.at(turn.isMeasured ? turn.sequence : turn.sequence - WARMUP_SEQUENCE)
    const hasWaited = turn.dueMs !== null && turn.dueMs < this.#lastFullMs
    return this.#toJob({ turn, body, tries: 0, hasWaited })
  }

  #toJob(flight: Flight): Job {
    const { path, toPostId, toCallbackUrl } = this.#options
    const { body, turn } = flight
    const json = body.toJson(toPostId(turn.sequence), toCallbackUrl(turn.sequence + 1) ?? '')
    return {
      request: { method: 'POST', path, body: json, isAnonymous: false },
      onEnd: (exchange) => this.#noteEnd(flight, exchange),
    }
  }

  #noteEnd(flight: Flight, exchange: Exchange): void {
    const { load, judge } = this.#options
    const judgement = judge(exchange, [])
    if (flight.turn.isMeasured) this.#record(flight, exchange, judgement)
    if (this.#lanes.inFlight + 1 >= this.#lanes.concurrency) this.#lastFullMs = this.#nowMs()
    if (judgement.repeat !== 'never' && flight.tries < this.#options.retry.limit && !this.#isStopped) {
      this.#backOff(flight, judgement)
    }
    const { thinkTime } = load
    if (thinkTime === undefined) return
    this.#thinking += 1
    setTimeout(
      () => {
        this.#thinking -= 1
        if (!this.#isStopped) this.#lanes.wake(1)
      },
      thinkTime.minMs + Math.random() * (thinkTime.maxMs - thinkTime.minMs),
    )
  }

  #backOff(flight: Flight, { retryAfterMs }: Judgement): void {
    this.#backingOff += 1
    setTimeout(
      () => {
        this.#backingOff -= 1
        this.#again.push({ ...flight, tries: flight.tries + 1 })
        this.#lanes.wake(1)
      },
      toRetryDelayMs(flight.tries + 1, retryAfterMs, this.#options.retry, Math.random),
    )
  }

  #record(flight: Flight, exchange: Exchange, judgement: Judgement): void {
    const { turn, body, tries, hasWaited } = flight
    const { timings } = exchange
    const sentUs = timings.sentAtUs - (performance.timeOrigin + this.#options.startMs) * 1000
    const endUs = sentUs + timings.durationUs
    const isSent = exchange.kind === 'answer' || exchange.sent
    const dueUs = turn.dueMs === null || tries > 0 ? Number.NaN : turn.dueMs * 1000
    const timed = isTimed(judgement)
    const record = this.#chunk.next()
    record[FIELD.sequence] = turn.sequence
    record[FIELD.endUs] = endUs
    record[FIELD.durationUs] = timings.durationUs
    record[FIELD.waitingUs] = timings.waitingUs ?? Number.NaN
    record[FIELD.connectUs] = timings.connectUs ?? Number.NaN
    record[FIELD.tlsUs] = timings.tlsUs ?? Number.NaN
    record[FIELD.responseUs] = timed ? endUs - dueUs : Number.NaN
    record[FIELD.lagUs] = timed && isSent ? sentUs - dueUs : Number.NaN
    record[FIELD.status] = judgement.status ?? Number.NaN
    record[FIELD.outcome] = OUTCOMES.indexOf(judgement.outcome)
    record[FIELD.flags] =
      (timed ? FLAG.timed : 0) +
      (hasWaited ? FLAG.waited : 0) +
      (judgement.fromCache ? FLAG.fromCache : 0) +
      (tries > 0 ? FLAG.retry : 0) +
      (judgement.isAcknowledgement ? FLAG.acknowledged : 0)
    record[FIELD.position] = body.position
    record[FIELD.contentBytes] = body.contentBytes
    record[FIELD.model] = this.#toModel(body.model)
    record[FIELD.error] = judgement.outcome === 'succeeded' ? Number.NaN : this.#errors.toNumber(judgement)
    record[FIELD.retryAfterMs] = judgement.retryAfterMs ?? Number.NaN
    this.#outcomes[body.position] = OUTCOMES.indexOf(judgement.outcome) + 1
    this.#keep(flight, exchange, judgement, record)
    if (this.#chunk.isFull) this.#handOver()
  }

  /** Keeps a request whole that may be of the sample, or is among the first that did not succeed. */
  #keep(flight: Flight, exchange: Exchange, judgement: Judgement, record: Float64Array): void {
    const { load } = this.#options
    const draw = Math.random()
    const isSample = draw < this.#drawBelow(flight.turn.sequence)
    const isError = judgement.outcome !== 'succeeded' && this.#errorsKept < load.errorLimit
    if (!isSample && !isError) return
    if (isError) this.#errorsKept += 1
    const { turn, body } = flight
    const postId = this.#options.toPostId(turn.sequence)
    const url = this.#options.toCallbackUrl(turn.sequence + 1)
    const toMs = (field: number) => {
      const us = record[field] ?? Number.NaN
      return Number.isNaN(us) ? null : us / 1000
    }
    const sample: KeptRequest['sample'] = {
      sentMs: ((record[FIELD.endUs] ?? 0) - (record[FIELD.durationUs] ?? 0)) / 1000,
      row: body.row,
      postId,
      outcome: judgement.outcome,
      status: judgement.status,
      errorCode: judgement.errorCode,
      message: judgement.message,
      taskId: judgement.taskId,
      request: body.toJson(postId, url ?? '').slice(0, SAMPLE_MAX_CHARACTERS),
      response: exchange.kind === 'answer' ? exchange.body.slice(0, SAMPLE_MAX_CHARACTERS) : null,
      httpReqDurationMs: toMs(FIELD.durationUs),
      httpReqWaitingMs: toMs(FIELD.waitingUs),
      httpReqConnectingMs: toMs(FIELD.connectUs),
      httpReqTlsHandshakingMs: toMs(FIELD.tlsUs),
      responseTimeMs: toMs(FIELD.responseUs),
      startLagMs: toMs(FIELD.lagUs),
    }
    if (isSample) this.#kept.push({ draw, sample })
    if (isError) this.#kept.push({ draw: null, sample })
  }

  /** Draws at or above this are as good as surely not among the smallest: five standard deviations above the last. */
  #drawBelow(sequence: number): number {
    const { sampleSize } = this.#options.load
    return sampleSize === 0 ? 0 : (sampleSize + 5 * Math.sqrt(sampleSize) + 10) / Math.max(1, sequence)
  }

  #toModel(name: string): number {
    const known = this.#models.get(name)
    if (known !== undefined) return known
    const number = this.#models.size
    this.#models.set(name, number)
    this.#newModels.push([number, name])
    return number
  }

  #handOver(): void {
    this.#handedOverMs = this.#nowMs()
    const records = this.#chunk.take()
    const { index, post } = this.#options
    post(
      {
        kind: 'records',
        index,
        records,
        kept: this.#kept.splice(0),
        errors: this.#errors.takeNews(),
        models: this.#newModels.splice(0),
        inFlight: this.#lanes.inFlight,
      },
      [records.buffer as ArrayBuffer],
    )
  }

  /** Tells how the second that is over was, once the next has begun. */
  #closeSecond(next: number): void {
    if (next === this.#second) return
    const { pacer, index, post } = this.#options
    if (Number.isFinite(this.#second)) {
      const ready = pacer.countReady(this.#nowMs())
      const isFull = this.#lanes.inFlight >= this.#lanes.concurrency
      const health = {
        second: this.#second,
        sent: this.#sent,
        dropped: this.#dropped,
        behind: isFull || !Number.isFinite(ready) || this.#isStopped ? 0 : ready,
        inFlightMax: this.#inFlightMax,
        ...this.#watch.take(),
      }
      // What ended in the second must be there before it is told of.
      this.#handOver()
      post({ kind: 'health', index, health }, [])
    }
    this.#second = next
    this.#sent = 0
    this.#dropped = 0
    this.#inFlightMax = this.#lanes.inFlight
  }
}
