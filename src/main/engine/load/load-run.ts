import { createHistogram, HIGHEST_US, LatencyMeter } from '../../../shared/load/latency-meter.ts'
import {
  createStageOf,
  type Load,
  toArrivalSchedule,
  toMaxInFlight,
  toMeasuredMs,
} from '../../../shared/load/load.ts'
import { isOpen, STAGES_COUNTED } from '../../../shared/load/load-pace.ts'
import type { LoadFirstRequest, LoadSilence, LoadStage } from '../../../shared/load/load-report.ts'
import { listLoadUrls } from '../../../shared/load/load-target.ts'
import {
  type LoadMeasurements,
  type MetricValues,
  mapTrends,
  readMetricValues,
  TREND_METRICS,
} from '../../../shared/load/metrics.ts'
import type { StreamedSecond } from '../../../shared/load/streamed-second.ts'
import {
  evaluateThresholds,
  findAbort,
  formatThresholdMargin,
  formatThresholdValue,
  type ThresholdResult,
  withOpenRequests,
  withoutAnswers,
} from '../../../shared/load/thresholds.ts'
import { formatSetDuration } from '../../../shared/messages/duration.ts'
import type { LoadProgress } from '../../../shared/run/snapshot.ts'
import type { Journal } from '../journal/journal.ts'
import { LoadWriter } from '../journal/load-record.ts'
import type { RunRecord } from '../journal/run-record.ts'
import { InboxReader } from '../receiver/inbox.ts'
import type { SealedSecret } from '../secrets/bound-secret.ts'
import { CALLBACK_RANKS } from '../service/callback-rank.ts'
import { createOperationExchange } from '../service/operation-exchange.ts'
import { SILENCE_MIN_US, type SilenceSpan } from './answer-silence.ts'
import { findRefusal } from './first-request.ts'
import { SampleSlots } from './kept-requests.ts'
import { LoadCallbacks } from './load-callbacks.ts'
import { LoadLedger, LoadRows, type UnansweredRequests } from './load-ledger.ts'
import { toLoadPostId } from './load-pacer.ts'
import { RuleCounts, RuleWriter } from './load-rules.ts'
import { LoadSeconds } from './load-seconds.ts'
import { type LoadTask, LoadThreads, type LoadUpdate, readClockMs } from './load-threads.ts'
import { toStreamedSecond } from './stream-second.ts'
import { createTagSets, STAGE_METRICS, type StagedRequests } from './tagged-requests.ts'

/** Time before the warm-up for telling all threads when it starts, milliseconds. */
const START_MS = 50
/** Delay before a second is closed, to read the callbacks that came in it, milliseconds. */
const SETTLE_MS = 250
const LOOK_MS = 100
/** A silence counts if it lasts at least this many times the p99 and this many stalls of this machine. */
const SILENCE_TIMES = 10
const SILENCE_STALLS = 2

/** How a load ended. `crossed`: by a threshold; `refused`: by its first request, the only one sent. */
export type LoadEnd = { kind: 'done' } | { kind: 'stopped' } | { kind: 'crossed' | 'refused'; reason: string }

export interface LoadRunOptions {
  journal: Journal
  record: RunRecord
  load: Load
  /** Entry of the sending threads. */
  workerUrl: URL
  /** Called for each second once it is written; reading it takes time. */
  onSecond: (read: () => StreamedSecond) => void
  task: Pick<LoadTask, 'workspace' | 'apiKey' | 'proxyCredentials' | 'headerValues' | 'appVersion'>
}

/** Runs a load test: distributes it over threads, adds up their reports and writes them to the journal. */
export class LoadRun {
  readonly #options: LoadRunOptions
  readonly #writer: LoadWriter
  readonly #rules = new RuleCounts()
  readonly #ruleWriter: RuleWriter
  readonly #ledger: LoadLedger
  readonly #seconds: LoadSeconds
  readonly #callbacks: LoadCallbacks | null
  readonly #slots: SampleSlots
  /** When measuring begins, by the load's and the machine's clock, Unix milliseconds; null until known. */
  #start: { clockMs: number; unixMs: number } | null = null
  #threads: LoadThreads | null = null
  readonly #inFlight: number[] = []
  #warmupAnswers = 0
  /** Records of requests that have waited long for an answer, by thread. */
  readonly #open: Float64Array[] = []
  /** Since when requests are in flight without a gap, milliseconds since measuring began; null if none is. */
  #openSinceMs: number | null = null
  #failure: unknown = null
  /** The threshold that ended the load, as it was at that moment, and why in words; null if none did. */
  #crossed: { result: ThresholdResult; reason: string } | null = null
  /** Result of the first request; null before it ended, and if there is none. */
  #first: LoadFirstRequest | null = null
  /** Why the first request ended the load; null if it did not. */
  #refusal: string | null = null
  #isStopped = false
  /** When the threads were stopped before their time, milliseconds since measuring began. */
  #haltedMs: number | null = null
  #isSent = false
  #isOver = false
  #thresholds: ThresholdResult[] = []
  #metrics: MetricValues = {}

  constructor(options: LoadRunOptions) {
    const { journal, record, load } = options
    this.#options = options
    this.#writer = new LoadWriter(journal)
    this.#ruleWriter = new RuleWriter(journal)
    this.#slots = new SampleSlots(load)
    this.#ledger = new LoadLedger(
      (...request) => this.#callbacks?.noteEnd(...request),
      createTagSets(load, listLoadUrls(record.plan)),
      createStageOf(load),
    )
    this.#callbacks =
      record.callbackBase === null ? null : createCallbacks(options, this.#ledger, this.#rules)
    this.#ledger.endMeasuring(toMeasuredMs(load) ?? Number.POSITIVE_INFINITY)
    this.#seconds = new LoadSeconds({
      load,
      ledger: this.#ledger,
      rows: new LoadRows(record.rowsRead),
      writer: this.#writer,
      counters: journal.counters,
    })
  }

  get total(): LatencyMeter {
    return this.#seconds.total
  }

  get inFlight(): number {
    return this.#inFlight.reduce((sum, n) => sum + n, 0)
  }

  /** Sends the whole load. Rejects if a sending thread fails; what was measured is written even then. */
  async run(): Promise<LoadEnd> {
    const { load, record, journal, task, workerUrl } = this.#options
    this.#threads = new LoadThreads({
      workerUrl,
      count: load.workers,
      task: { ...task, record, journalFile: journal.file },
      onReady: () => void this.#tryFirst(),
      onUpdate: (update) => this.#take(update),
      onExit: (index) => this.#noteExit(index),
      onError: (error) => this.#fail(error),
    })
    const timer = setInterval(() => this.#look(), LOOK_MS)
    await this.#threads.ended
    this.#isSent = true
    await this.#awaitCallbacks()
    clearInterval(timer)
    this.#isOver = true
    this.#write(this.#seconds.lastKnown)
    this.#callbacks?.close()
    if (this.#failure !== null) throw this.#failure
    if (this.#refusal !== null) return { kind: 'refused', reason: this.#refusal }
    if (this.#crossed !== null) return { kind: 'crossed', reason: this.#crossed.reason }
    return this.#isStopped ? { kind: 'stopped' } : { kind: 'done' }
  }

  /** Stops sending; the measurements so far are the result. */
  stop(): void {
    this.#isStopped = true
    this.#halt()
  }

  /** Sends with another key from now on. */
  setApiKey(apiKey: SealedSecret): void {
    this.#threads?.setApiKey(apiKey)
  }

  progress(): LoadProgress {
    const { load } = this.#options
    const elapsedMs = this.#elapsedMs
    const measuredMs = toMeasuredMs(load)
    const isPast = measuredMs !== null && elapsedMs >= measuredMs
    return {
      phase:
        isPast || this.#isSent || this.#haltedMs !== null
          ? 'stopping'
          : elapsedMs < 0
            ? 'warmup'
            : 'measuring',
      elapsedMs,
      measuredMs,
      scheduledPerS: isOpen(load.pace) ? toArrivalSchedule(load).rateAt(Math.max(0, elapsedMs)) : null,
      achievedPerS: this.#seconds.sentRecently,
      requests: this.#ledger.requests,
      failed: this.#ledger.failed,
      dropped: this.#seconds.dropped,
      awaited: this.#callbacks?.awaited ?? 0,
      limitedSeconds: this.#seconds.limited,
      silentMs: this.#silentMs,
      thresholds: this.#thresholds,
      metrics: this.#metrics,
      latencyMs: Object.fromEntries(TREND_METRICS.map((metric) => [metric, this.total.percentiles(metric)])),
    }
  }

  /** Milliseconds since measuring began; negative in the warm-up. */
  get #elapsedMs(): number {
    return this.#start === null ? -this.#options.load.warmupMs : readClockMs() - this.#start.clockMs
  }

  /** Sends row 1 before everything else if the plan asks for that, and begins unless it was refused. */
  async #tryFirst(): Promise<void> {
    try {
      if (this.#options.load.firstRequest === 'check') {
        const first = await this.#threads?.tryFirst()
        if (this.#haltedMs !== null || first === undefined) return
        const { reached: _reached, ...told } = first
        this.#first = told
        this.#refusal = findRefusal(first)
      }
      if (this.#refusal === null) this.#begin()
      else {
        this.#start = { clockMs: readClockMs(), unixMs: Date.now() }
        this.#halt(0)
      }
    } catch (error) {
      // Stopping also ends the thread that sends this request.
      if (this.#haltedMs === null) this.#fail(error)
    }
  }

  /** Every thread has read what it needs, so none starts late. */
  #begin(): void {
    if (this.#haltedMs !== null) return
    const delayMs = START_MS + this.#options.load.warmupMs
    this.#start = { clockMs: readClockMs() + delayMs, unixMs: Date.now() + delayMs }
    this.#ledger.begin(this.#start.clockMs)
    this.#seconds.begin(Math.floor(this.#start.unixMs / 1000))
    this.#threads?.start(this.#start.clockMs)
  }

  #halt(atMs = this.#elapsedMs): void {
    if (this.#haltedMs === null) {
      this.#haltedMs = atMs
      this.#ledger.endMeasuring(this.#haltedMs)
      this.#seconds.endSchedule(this.#haltedMs)
    }
    this.#threads?.stop()
  }

  #take(update: LoadUpdate): void {
    switch (update.kind) {
      case 'records':
        this.#ledger.add(update)
        this.#slots.add(update.kept)
        this.#warmupAnswers += update.warmupAnswers
        this.#inFlight[update.index] = update.inFlight
        this.#openSinceMs = this.inFlight === 0 ? null : (this.#openSinceMs ?? this.#elapsedMs)
        break
      case 'reuse_ended':
        this.#options.journal.counters.add('reuse_ended', update.why, 1)
        break
      case 'redacted':
        this.#options.journal.counters.add('redacted', 'answer', 1)
        break
      case 'rules':
        this.#rules.addCounts(update.rules)
        break
      case 'health':
        this.#seconds.noteHealth(update.index, update.health)
        this.#open[update.index] = update.open
        break
    }
  }

  #fail(error: unknown): void {
    this.#failure ??= error
    this.stop()
  }

  #noteExit(index: number): void {
    this.#seconds.noteEnd(index)
    this.#inFlight[index] = 0
    this.#open[index] = new Float64Array()
    if (this.inFlight === 0) this.#openSinceMs = null
  }

  #look(): void {
    try {
      this.#callbacks?.take()
      const last = this.#seconds.lastOver(this.#elapsedMs - SETTLE_MS)
      if (last < this.#seconds.count) return
      this.#write(last)
      if (this.#crossed !== null || this.#isStopped) return
      const { thresholds } = this.#options.load
      const result = findAbort(thresholds, this.#thresholds, this.#seconds.count * 1000)
      if (result === null) return
      this.#crossed = { result, reason: toCrossedReason(result, this.measuredMs) }
      this.#halt()
    } catch (error) {
      this.#fail(error)
    }
  }

  async #awaitCallbacks(): Promise<void> {
    const { gracefulStopMs } = this.#options.load
    while (this.#callbacks !== null && this.#callbacks.awaited > 0 && !this.#isStopped) {
      // Once a threshold has ended the load, wait no longer than for its requests.
      if (this.#haltedMs !== null && this.#elapsedMs - this.#haltedMs > gracefulStopMs) break
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
    }
    this.#callbacks?.finish()
  }

  /** Writes the seconds up to `last` and the totals at that point. */
  #write(last: number): void {
    if (this.#start === null) return
    const startMs = this.#start.unixMs
    this.#seconds.closeUpTo(last)
    this.#judge()
    const rules = this.#rules.take()
    this.#options.journal.transact(this.#isOver ? 'power' : 'process', () => {
      this.#seconds.write()
      this.#writer.writeState({ startMs, ...this.#toState() })
      this.#ruleWriter.write(rules)
      for (const [slot, sample] of this.#slots.changed) this.#writer.writeSample(slot, sample)
    })
    const { runId } = this.#options.record
    for (const closed of this.#seconds.unwritten) {
      this.#options.onSecond(() => toStreamedSecond(closed, { runId, startMs }))
    }
    this.#seconds.committed()
    this.#slots.committed()
  }

  #judge(): void {
    const { thresholds } = this.#options.load
    const measured = this.#measure(null)
    const unanswered = this.#ledger.addUnanswered(this.#open, this.#leastSilenceUs)
    const { requests: open } = unanswered.sums.all
    const answered = evaluateThresholds(thresholds, measured)
    const judged =
      open === 0
        ? answered
        : withOpenRequests(answered, evaluateThresholds(thresholds, this.#measure(unanswered)), open)
    const ended = this.#crossed?.result
    // A threshold that ended the load stays failed, even if the requests then in flight make it hold.
    const results = judged.map((result) =>
      result.ok && result.expression === ended?.expression ? ended : result,
    )
    this.#thresholds = this.#toSilence()?.isMost ? withoutAnswers(results) : results
    this.#metrics = readMetricValues(measured)
  }

  /** Totals of closed seconds, including requests that still wait for an answer. */
  #measure(unanswered: UnansweredRequests | null): LoadMeasurements {
    const { load, record } = this.#options
    const { sums, tagged } = this.#ledger.addUp(unanswered)
    let latency = this.total
    if (unanswered !== null) {
      latency = new LatencyMeter()
      latency.addAll(this.total)
      latency.addAll(unanswered.times.latency)
    }
    return {
      durationS: this.measuredMs / 1000,
      latencies: { ...mapTrends((metric) => latency.histogram(metric)), ...this.#toCallbackLatency() },
      tagged: tagged.toMeasurements(),
      // From closed seconds, like the duration and the latencies.
      all: sums.all,
      within: sums.within,
      dropped: this.#seconds.dropped,
      inFlight: this.inFlight,
      maxInFlight: toMaxInFlight(load, record.plan.connection.timeoutMs),
    }
  }

  /** The longest time without an answer, which may still last; null where latencies may explain it. */
  #toSilence(): LoadSilence | null {
    const { longest } = this.#ledger.silence
    const lasting = this.#openSilence
    const toUs = (span: SilenceSpan | null) => (span === null ? 0 : span.untilUs - span.fromUs)
    const span = toUs(lasting) > toUs(longest) ? lasting : longest
    if (span === null || toUs(span) < this.#leastSilenceUs) return null
    const { fromUs, untilUs, unanswered } = span
    const withinMs = Math.min(untilUs / 1000, this.measuredMs) - fromUs / 1000
    return {
      fromMs: fromUs / 1000,
      durationMs: (untilUs - fromUs) / 1000,
      unanswered,
      isMost: withinMs * 2 > this.measuredMs,
    }
  }

  /** How long no answer came while requests were in flight, milliseconds; null if latency may explain it. */
  get #silentMs(): number | null {
    const span = this.#openSilence
    if (span === null) return null
    const silentUs = span.untilUs - span.fromUs
    return silentUs < this.#leastSilenceUs ? null : silentUs / 1000
  }

  /** The present time without an answer; null while nothing is in flight. */
  get #openSilence(): SilenceSpan | null {
    if (this.#openSinceMs === null) return null
    // The warm-up is not measured.
    const fromUs = Math.max(0, this.#openSinceMs * 1000, this.#ledger.silence.lastAnswerUs)
    return { fromUs, untilUs: this.#elapsedMs * 1000, unanswered: this.inFlight }
  }

  get #leastSilenceUs(): number {
    // If all requests succeeded, the series has no percentiles, but it has a histogram.
    const succeeded = this.total.histogram('succeeded_duration')
    const answerUs = succeeded?.getValueAtPercentile(99) ?? this.#ledger.silence.slowestAnswerUs
    // While this machine stalled, answers lay unread; the service was not silent then.
    return Math.max(SILENCE_MIN_US, SILENCE_TIMES * answerUs, SILENCE_STALLS * this.#seconds.stallMaxUs)
  }

  /** Counts missing callbacks with the time waited for them, so that no threshold holds for lack of them. */
  #toCallbackLatency(): LoadMeasurements['latencies'] {
    const { overdue } = this.#ledger.total.callbacks
    if (overdue === 0) return {}
    const all = createHistogram()
    const arrived = this.total.histogram('callback_latency')
    if (arrived !== null) all.add(arrived)
    all.recordValueWithCount(
      Math.min(HIGHEST_US, this.#options.record.plan.callback.timeoutMs * 1000),
      overdue,
    )
    return { callback_latency: all }
  }

  /** Measured time: as planned, or as long as it lasted. */
  get measuredMs(): number {
    const plannedMs = toMeasuredMs(this.#options.load)
    const wholeMs = plannedMs ?? this.#ledger.lastEndUs / 1000
    // The time is already over while the last answers come.
    const untilMs = this.#isOver
      ? (this.#haltedMs ?? wholeMs)
      : Math.min(this.#seconds.count * 1000, this.#haltedMs ?? Number.POSITIVE_INFINITY)
    return Math.max(0, Math.min(plannedMs ?? Number.POSITIVE_INFINITY, untilMs))
  }

  /** Requests sent, but not ended, when the last closed second ended. */
  #countOpen(): number {
    return Math.max(0, this.#seconds.sent - this.#ledger.total.requests)
  }

  #toState(): Omit<Parameters<LoadWriter['writeState']>[0], 'startMs'> {
    const { load, record } = this.#options
    const { total } = this.#ledger
    const seconds = this.#seconds
    const silence = this.#toSilence()
    return {
      measuredMs: this.measuredMs,
      // What is due exactly at the end belongs to the time after it.
      scheduled: isOpen(load.pace) ? toArrivalSchedule(load).countDue(this.measuredMs - 1e-6) : null,
      sent: seconds.sent,
      sentRetries: seconds.retries,
      dropped: seconds.dropped,
      // Requests dropped at once at a full cap have not waited.
      waited: load.whenFull === 'drop' ? 0 : total.waited,
      ownLagMaxUs: seconds.ownLagMaxUs,
      mayBeOwnFailures: total.mayBeOwnFailures,
      answered: total.answered,
      // Requests still in flight were sent within the time so far.
      within: { ...total.within, sent: total.within.sent + (this.#isOver ? 0 : this.#countOpen()) },
      maxInFlight: toMaxInFlight(load, record.plan.connection.timeoutMs),
      fromCache: total.fromCache,
      noResult: total.noResult,
      missingModels: total.missingModels,
      sharedTasks: total.sharedTasks,
      echoes: total.echoes,
      retried: total.retried,
      putOffMs: total.putOffMs,
      statuses: total.statuses,
      errors: total.errors,
      throttling: total.throttling,
      connections: total.connections,
      gc: seconds.gc,
      limitedSeconds: seconds.limited,
      limitedReasons: seconds.limitedReasons,
      withoutOwnDelays: seconds.withoutOwnDelays,
      behindSeconds: seconds.behind,
      thresholds: this.#thresholds,
      ...(silence !== null && { silence }),
      metrics: this.#metrics,
      ...toStageRecords(load, this.#ledger.staged, this.measuredMs),
      ...(this.#first !== null && { first: this.#first }),
      ...(load.warmupMs > 0 && { warmupAnswers: this.#warmupAnswers }),
      callbacks:
        this.#callbacks === null ? null : { ...total.callbacks, outstanding: this.#callbacks.awaited },
    }
  }
}

function createCallbacks(
  { record, task }: LoadRunOptions,
  ledger: LoadLedger,
  rules: RuleCounts,
): LoadCallbacks {
  const { plan, runToken } = record
  const hasOtherRow = (id: string) => id.startsWith(`${runToken}-`)
  const { judgeCallback } = createOperationExchange(plan, {
    deliveredCodes: [],
    nowMs: Date.now,
    hasOtherRow,
  })
  return new LoadCallbacks({
    inbox: new InboxReader(task.workspace),
    runToken,
    timeoutMs: plan.callback.timeoutMs,
    judge: (body, item) => judgeCallback(body, [toLoadPostId(runToken, item - 1)]),
    onLatency: (latencyUs, receivedAtUs) => ledger.addCallback(latencyUs, receivedAtUs),
    onResult: ({ rules: found, rank, receivedAtUs }, before) => {
      rules.add(found)
      if (rank === CALLBACK_RANKS.no_result) ledger.countNoResult(receivedAtUs, 1)
      if (before === CALLBACK_RANKS.no_result) ledger.countNoResult(receivedAtUs, -1)
    },
    onCount: (what, atUs) => ledger.countCallback(what, atUs),
    nowMs: readClockMs,
  })
}

/** The value at that moment; requests still in flight may change it. */
function toCrossedReason(result: ThresholdResult, measuredMs: number): string {
  const how = `${formatThresholdValue(result)}, ${formatThresholdMargin(result)}`
  return `the threshold ${result.expression} ended the load after ${formatSetDuration(measuredMs)}: ${how}`
}

/** The measured stages of a load; empty if its pace has none, or too many. */
function toStageRecords(load: Load, staged: StagedRequests, measuredMs: number): { stages?: LoadStage[] } {
  const { pace } = load
  if (pace.kind !== 'stages' || pace.stages.length > STAGES_COUNTED) return {}
  const schedule = isOpen(pace) ? toArrivalSchedule(load) : null
  let startMs = 0
  const stages = pace.stages.map(({ from, to, durationMs, name }, number): LoadStage => {
    const { sums, latency } = staged.of(number)
    const endMs = Math.min(startMs + durationMs, measuredMs)
    // What is due exactly at the end of a stage belongs to the next one.
    const countDue = (ms: number) => schedule?.countDue(ms - 1e-6) ?? 0
    const scheduled = schedule === null ? null : Math.max(0, countDue(endMs) - countDue(startMs))
    const ranMs = Math.max(0, endMs - startMs)
    startMs += durationMs
    return {
      number,
      from,
      to,
      ranMs,
      scheduled,
      ...(name !== undefined && { name }),
      requests: sums.all.requests,
      failed: sums.all.failed,
      latencyMs: Object.fromEntries(
        STAGE_METRICS.flatMap((metric) => {
          const percentiles = latency.percentiles(metric)
          return percentiles === null ? [] : [[metric, percentiles]]
        }),
      ),
    }
  })
  return { stages }
}
