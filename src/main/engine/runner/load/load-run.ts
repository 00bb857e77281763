import { Worker } from 'node:worker_threads'
import { fromErrorDocument } from '../../../../shared/errors.ts'
import { LatencyMeter } from '../../../../shared/latency-meter.ts'
import { type Load, toArrivalSchedule, toMaxInFlight, toMeasuredMs } from '../../../../shared/load.ts'
import { isOpen } from '../../../../shared/load-pace.ts'
import type { LoadProgress } from '../../../../shared/snapshot.ts'
import { evaluateThresholds, findAbort, type ThresholdResult } from '../../../../shared/thresholds.ts'
import type { Journal } from '../../journal/journal.ts'
import { LoadWriter } from '../../journal/load-writer.ts'
import type { RunRecord } from '../../journal/run-record.ts'
import type { LoadCallbacks } from './load-callbacks.ts'
import { describeLimits, findLimits, type LimitCause, mergeHealth } from './load-health.ts'
import { LoadLedger } from './load-ledger.ts'
import type { LoadEvent, LoadTask, SecondHealth } from './load-messages.ts'
import { OUTCOMES } from './load-record.ts'
import { SampleSlots } from './sample-slots.ts'

/** From starting the sending threads until the warm-up begins, milliseconds: they open the journal first. */
const START_MS = 400
/** A second is written this long after it is over, when everything that ended in it has been told, milliseconds. */
const SETTLE_MS = 250
const LOOK_MS = 100
/** Groups are written every so many seconds. */
const GROUPS_EVERY = 10

/** How a load ended. `crossed`: a threshold ended it. */
export type LoadEnd = { kind: 'done' } | { kind: 'stopped' } | { kind: 'crossed'; reason: string }

/** What a load test is made of. */
export interface LoadRunOptions {
  journal: Journal
  record: RunRecord
  load: Load
  /** Entry of the sending threads. */
  workerUrl: URL
  task: Pick<LoadTask, 'workspace' | 'apiKey' | 'appVersion'>
  /** Null where the load is sync. */
  createCallbacks: ((onLatency: (latencyUs: number, receivedAtUs: number) => void) => LoadCallbacks) | null
}

/** Runs a load test: deals it out to sending threads, adds up what they tell, and writes it to the journal. */
export class LoadRun {
  readonly #options: LoadRunOptions
  readonly #writer: LoadWriter
  readonly #ledger: LoadLedger
  readonly #callbacks: LoadCallbacks | null
  readonly #slots: SampleSlots
  readonly #startMs: number
  readonly #workers: Worker[] = []
  readonly #health = new Map<number, SecondHealth[]>()
  readonly #limits = new Map<LimitCause, number>()
  readonly #outcomes: Uint8Array[] = []
  readonly #inFlight: number[] = []
  /** Everything in the seconds that are closed. */
  readonly total = new LatencyMeter()
  #nextSecond = 0
  #limitedSeconds = 0
  #eventLoopMaxUs = 0
  #gc = { pauses: 0, maxUs: 0 }
  #sent = 0
  #dropped = 0
  #done = 0
  #failure: unknown = null
  #crossed: ThresholdResult | null = null
  #isStopped = false
  #thresholds: ThresholdResult[] = []
  readonly #ended = Promise.withResolvers<void>()

  constructor(options: LoadRunOptions) {
    this.#options = options
    this.#writer = new LoadWriter(options.journal)
    this.#slots = new SampleSlots(options.load)
    this.#startMs = Date.now() + START_MS + options.load.warmupMs
    const onLatency = (latencyUs: number, receivedAtUs: number) =>
      this.#ledger.addCallback(latencyUs, receivedAtUs)
    this.#callbacks = options.createCallbacks?.(onLatency) ?? null
    this.#ledger = new LoadLedger(this.#startMs, (item, sentAtUs) => this.#callbacks?.await(item, sentAtUs))
  }

  get inFlight(): number {
    return this.#inFlight.reduce((sum, n) => sum + n, 0)
  }

  /** Sends the whole load. Rejects where a sending thread broke off; what was measured is written. */
  async run(): Promise<LoadEnd> {
    const { load, record, journal, task, workerUrl } = this.#options
    for (let index = 0; index < load.workers; index += 1) {
      const share = { index, count: load.workers }
      const given: LoadTask = { ...task, record, journalFile: journal.file, share, startMs: this.#startMs }
      const worker = new Worker(workerUrl, { name: `load ${index + 1}`, workerData: given })
      worker.on('message', (event: LoadEvent) => this.#take(event))
      worker.on('error', (error) => this.#fail(error))
      worker.on('exit', () => this.#noteExit())
      this.#workers.push(worker)
    }
    const timer = setInterval(() => this.#look(), LOOK_MS)
    await this.#ended.promise
    await this.#awaitCallbacks()
    clearInterval(timer)
    this.#closeSeconds(true)
    this.#writeRows()
    this.#callbacks?.close()
    if (this.#failure !== null) throw this.#failure
    if (this.#crossed !== null) return { kind: 'crossed', reason: toCrossedReason(this.#crossed) }
    return this.#isStopped ? { kind: 'stopped' } : { kind: 'done' }
  }

  /** Sends nothing new; what was measured so far is the result. */
  stop(): void {
    this.#isStopped = true
    for (const worker of this.#workers) worker.postMessage({ kind: 'stop' })
  }

  /** Sends with another key from now on. */
  setApiKey(apiKey: string): void {
    for (const worker of this.#workers) worker.postMessage({ kind: 'set_api_key', apiKey })
  }

  /** How it stands, in a small picture. */
  progress(): LoadProgress {
    const { load } = this.#options
    const elapsedMs = Date.now() - this.#startMs
    const measuredMs = toMeasuredMs(load)
    const isOver = this.#isStopped || (measuredMs !== null && elapsedMs >= measuredMs)
    return {
      phase: elapsedMs < 0 ? 'warmup' : isOver ? 'stopping' : 'measuring',
      elapsedMs,
      measuredMs,
      scheduledPerS: isOpen(load.pace) ? toArrivalSchedule(load).rateAt(Math.max(0, elapsedMs)) : null,
      requests: this.#ledger.requests,
      failed: this.#ledger.failed,
      dropped: this.#dropped,
      awaited: this.#callbacks?.awaited ?? 0,
      limitedSeconds: this.#limitedSeconds,
      thresholds: this.#thresholds,
      latencyMs: {
        http_req_duration: this.total.percentiles('http_req_duration'),
        http_req_waiting: this.total.percentiles('http_req_waiting'),
        response_time: this.total.percentiles('response_time'),
        start_lag: this.total.percentiles('start_lag'),
        callback_latency: this.total.percentiles('callback_latency'),
      },
    }
  }

  #take(event: LoadEvent): void {
    switch (event.kind) {
      case 'records':
        this.#ledger.add(event)
        this.#slots.add(event.kept)
        this.#inFlight[event.index] = event.inFlight
        break
      case 'health': {
        const { second } = event.health
        if (second >= 0) this.#health.set(second, [...(this.#health.get(second) ?? []), event.health])
        break
      }
      case 'done':
        this.#outcomes.push(event.outcomes)
        break
      case 'failed':
        this.#fail(fromErrorDocument(event.error))
        break
    }
  }

  #fail(error: unknown): void {
    this.#failure ??= error
    this.stop()
  }

  #noteExit(): void {
    this.#done += 1
    if (this.#done === this.#workers.length) this.#ended.resolve()
  }

  #look(): void {
    try {
      this.#callbacks?.take()
      this.#closeSeconds(false)
    } catch (error) {
      this.#fail(error)
    }
  }

  async #awaitCallbacks(): Promise<void> {
    while (this.#callbacks !== null && this.#callbacks.awaited > 0 && !this.#isStopped) {
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
    }
    this.#callbacks?.take()
  }

  /** Writes the seconds that are over; with `all`, everything there is. */
  #closeSeconds(all: boolean): void {
    const overS = Math.floor((Date.now() - SETTLE_MS - this.#startMs) / 1000)
    const { load, journal } = this.#options
    const last = all ? Math.max(this.#ledger.lastSecond, ...this.#health.keys()) : overS - 1
    if (this.#nextSecond > last) return
    journal.transact('process', () => {
      for (; this.#nextSecond <= last; this.#nextSecond += 1) this.#closeSecond(this.#nextSecond)
      this.#judge()
      this.#writer.writeState(this.#toState())
      for (const [slot, sample] of this.#slots.takeChanged()) this.#writer.writeSample(slot, sample)
      if (all || this.#nextSecond % GROUPS_EVERY === 0) {
        for (const group of this.#ledger.groups) this.#writer.writeGroup(group)
      }
    })
    const elapsedMs = this.#nextSecond * 1000
    if (all || this.#crossed !== null) return
    this.#crossed = findAbort(load.thresholds, this.#thresholds, elapsedMs)
    if (this.#crossed !== null) for (const worker of this.#workers) worker.postMessage({ kind: 'stop' })
  }

  #closeSecond(number: number): void {
    const second = this.#ledger.close(number)
    const health = mergeHealth(this.#health.get(number) ?? [])
    this.#health.delete(number)
    const scheduled = this.#toScheduled(number)
    const limits = findLimits(second, health, scheduled)
    for (const cause of limits) this.#limits.set(cause, (this.#limits.get(cause) ?? 0) + 1)
    if (limits.length > 0) this.#limitedSeconds += 1
    this.#eventLoopMaxUs = Math.max(this.#eventLoopMaxUs, health.eventLoopMaxUs)
    this.#gc = {
      pauses: this.#gc.pauses + health.gcPauses,
      maxUs: Math.max(this.#gc.maxUs, health.gcMaxUs),
    }
    this.#sent += health.sent
    this.#dropped += health.dropped
    this.total.addAll(second.latency)
    const { counters } = this.#options.journal
    for (const outcome of OUTCOMES) counters.add('request', outcome, second.counts[outcome])
    this.#writer.writeSecond(
      {
        at: Math.floor(this.#startMs / 1000) + number,
        ...second.counts,
        eventLoopMaxUs: health.eventLoopMaxUs,
        generatorLimited: limits.length > 0,
        latency: second.latency,
      },
      {
        second: number,
        sent: health.sent,
        scheduled,
        dropped: health.dropped,
        inFlight: health.inFlightMax,
        gcUs: health.gcUs,
      },
    )
  }

  #toScheduled(second: number): number | null {
    const { load } = this.#options
    if (!isOpen(load.pace)) return null
    const schedule = toArrivalSchedule(load)
    return schedule.countDue((second + 1) * 1000 - 1e-6) - schedule.countDue(second * 1000 - 1e-6)
  }

  #judge(): void {
    const { load, record } = this.#options
    const latencies = Object.fromEntries(
      (
        [
          'http_req_duration',
          'http_req_waiting',
          'http_req_connecting',
          'http_req_tls_handshaking',
          'response_time',
          'start_lag',
          'callback_latency',
        ] as const
      )
        .map((series) => [series, this.total.histogram(series)] as const)
        .filter(([, histogram]) => histogram !== null),
    )
    this.#thresholds = evaluateThresholds(load.thresholds, {
      durationS: this.measuredMs / 1000,
      latencies,
      requests: this.#ledger.requests,
      failed: this.#ledger.failed,
      dropped: this.#dropped,
      inFlight: this.inFlight,
      maxInFlight: toMaxInFlight(load, record.plan.connection.timeoutMs),
    })
  }

  /** Measured time: what was planned, or what it came to. */
  get measuredMs(): number {
    const planned = toMeasuredMs(this.#options.load)
    const elapsedMs = Math.max(1, this.#nextSecond * 1000)
    return planned === null ? elapsedMs : Math.min(planned, elapsedMs)
  }

  #toState(): Parameters<LoadWriter['writeState']>[0] {
    const { load, record } = this.#options
    const ledger = this.#ledger
    return {
      startMs: this.#startMs,
      measuredMs: this.measuredMs,
      scheduled: isOpen(load.pace) ? toArrivalSchedule(load).countDue(this.measuredMs) : null,
      sent: this.#sent,
      dropped: this.#dropped,
      waited: ledger.waited,
      maxInFlight: toMaxInFlight(load, record.plan.connection.timeoutMs),
      fromCache: ledger.fromCache,
      retried: ledger.retried,
      statuses: ledger.statuses,
      errors: ledger.errors,
      throttling: ledger.throttling,
      connections: ledger.connections,
      gc: this.#gc,
      limitedSeconds: this.#limitedSeconds,
      limitedReasons: describeLimits(this.#limits, this.#eventLoopMaxUs),
      thresholds: this.#thresholds,
      callbacks: this.#callbacks === null ? null : { ...this.#callbacks.counts },
    }
  }

  /** Each row of the source counts as its last request ended. */
  #writeRows(): void {
    const { journal } = this.#options
    const counts = [0, 0, 0, 0, 0]
    const rows = this.#outcomes[0]?.length ?? 0
    for (let position = 0; position < rows; position += 1) {
      const last = Math.max(...this.#outcomes.map((outcomes) => outcomes[position] ?? 0))
      counts[last] = (counts[last] ?? 0) + 1
    }
    journal.transact('power', () => {
      for (const [index, outcome] of OUTCOMES.entries()) {
        journal.counters.add('state', outcome, counts[index + 1] ?? 0)
      }
      for (const { outcome, status, errorCode, message, requests } of this.#ledger.errors) {
        const key = JSON.stringify([outcome, status, errorCode, message])
        journal.counters.add('error', key, requests)
      }
    })
  }
}

function toCrossedReason({ expression, value, limit, unit }: ThresholdResult): string {
  const text = value === null ? 'nothing' : `${Math.round(value * 1000) / 1000}${unit === 'ms' ? ' ms' : ''}`
  return `the threshold ${expression} was crossed: ${text}, over the limit of ${limit}${unit === 'ms' ? ' ms' : ''}`
}
