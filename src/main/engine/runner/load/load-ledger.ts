import type { Histogram } from 'hdr-histogram-js'
import { createHistogram, encodeHistogram, LatencyMeter, recordUs } from '../../../../shared/latency-meter.ts'
import type { LoadErrorGroup, LoadStatus, LoadThrottling } from '../../../../shared/load-report.ts'
import type { LoadGroupRecord } from '../../journal/load-writer.ts'
import type { LoadErrorCause, LoadEvent } from './load-messages.ts'
import { FIELD, FLAG, OUTCOMES, RECORD_NUMBERS } from './load-record.ts'

type Records = Extract<LoadEvent, { kind: 'records' }>

/** Upper edges of the ranges of content sizes, bytes. */
const SIZES = [100, 1_000, 10_000, 100_000, Number.POSITIVE_INFINITY]
const SIZE_LABELS = ['up to 100 B', 'up to 1 kB', 'up to 10 kB', 'up to 100 kB', 'over 100 kB']

/** Models that are told apart; further ones are counted together. */
const MODELS_MAX = 50
const FURTHER_MODELS = '(further models)'
const SERVICE_DECIDES = "(the service's choice)"

/** What happened within the measured time to the requests that ended in a second: what rates are made of. */
export interface WithinMeasuredTime {
  /** Went out, first tries only. */
  sent: number
  ended: number
  answered: number
  succeeded: number
}

/** Requests that ended in one second. */
export interface OpenSecond {
  counts: { succeeded: number; rejected: number; failed: number; unknown: number }
  within: WithinMeasuredTime
  latency: LatencyMeter
  /** Start lag of requests that neither the cap nor a new connection kept waiting. */
  ownLag: Histogram
}

/** What a thread refers to by numbers of its own. */
interface ThreadNames {
  causes: Map<number, LoadErrorCause>
  models: Map<number, string>
  /** Groups of the models that were met. */
  groups: Map<number, Group>
}

interface Group {
  by: 'model' | 'size'
  label: string
  requests: number
  failed: number
  histogram: Histogram
}

/** Adds up the records of every sending thread, by second and in total, in memory that does not grow with them. */
export class LoadLedger {
  #startMs = 0
  /** Sent requests whose callbacks may come: item and Unix microseconds. */
  readonly #onAwaited: (item: number, sentAtUs: number) => void
  readonly #seconds = new Map<number, OpenSecond>()
  readonly #groups = new Map<string, Group>()
  /** By status, and by error code within it. */
  readonly #statuses = new Map<number, Map<string | null, LoadStatus>>()
  readonly #errors = new Map<string, LoadErrorGroup>()
  readonly #threads: ThreadNames[] = []
  /** The groups of {@link SIZES} that were met. */
  readonly #sizes: Group[] = []
  /** The second that the last record ended in; null once one was closed. */
  #open: { number: number; second: OpenSecond } | null = null
  #closedUpTo = -1
  /** What ends later is in no rate, microseconds since measuring began. */
  #measuredUs = Number.POSITIVE_INFINITY
  /** When the last request ended, microseconds since measuring began; 0 before the first. */
  lastEndUs = 0
  readonly throttling: LoadThrottling = { answers: 0, retryAfterAnswers: 0, askedS: 0 }
  readonly connections = { opened: 0, reused: 0 }
  fromCache = 0
  waited = 0
  retried = 0
  requests = 0
  failed = 0
  answered = 0

  constructor(onAwaited: (item: number, sentAtUs: number) => void) {
    this.#onAwaited = onAwaited
  }

  get statuses(): LoadStatus[] {
    const all = [...this.#statuses.values()].flatMap((codes) => [...codes.values()])
    return all.sort((a, b) => b.requests - a.requests)
  }

  get errors(): LoadErrorGroup[] {
    return [...this.#errors.values()].sort((a, b) => b.requests - a.requests)
  }

  get groups(): LoadGroupRecord[] {
    return [...this.#groups.values()].map(({ by, label, requests, failed, histogram }) => ({
      by,
      label,
      requests,
      failed,
      histogram: histogram.totalCount === 0 ? null : encodeHistogram(histogram),
    }))
  }

  /** Says when measuring begins, by the load's clock; before anything is added. */
  begin(startMs: number): void {
    this.#startMs = startMs
  }

  /** Says when the measured time ends, milliseconds after it began; the earliest end counts. */
  endMeasuring(ms: number): void {
    this.#measuredUs = Math.min(this.#measuredUs, ms * 1000)
  }

  /** Takes in what a thread has handed over. */
  add({ index, records, errors, models }: Records): void {
    const names = this.#threads[index] ?? { causes: new Map(), models: new Map(), groups: new Map() }
    this.#threads[index] = names
    for (const [number, cause] of errors) names.causes.set(number, cause)
    for (const [number, name] of models) names.models.set(number, name)
    for (let at = 0; at < records.length; at += RECORD_NUMBERS) this.#addRecord(records, at, names)
  }

  /** Takes the second that is over; what is told of it later counts in the next one. */
  close(second: number): OpenSecond {
    const closed = this.#seconds.get(second) ?? createSecond()
    this.#seconds.delete(second)
    this.#open = null
    this.#closedUpTo = Math.max(this.#closedUpTo, second)
    return closed
  }

  /** The last second in which anything ended, or was closed. */
  get lastSecond(): number {
    return Math.max(this.#closedUpTo, ...this.#seconds.keys())
  }

  /** Records how long a callback took that came at this Unix microsecond. */
  addCallback(latencyUs: number, receivedAtUs: number): void {
    this.#secondAt(receivedAtUs - this.#startMs * 1000).latency.record('callback_latency', latencyUs)
  }

  #addRecord(records: Float64Array, at: number, names: ThreadNames): void {
    const read = (field: number) => records[at + field] ?? Number.NaN
    const flags = read(FIELD.flags)
    const outcome = OUTCOMES[read(FIELD.outcome)] ?? 'unknown'
    const endUs = read(FIELD.endUs)
    const isFailed = outcome !== 'succeeded'
    const second = this.#secondAt(endUs)
    second.counts[outcome] += 1
    this.requests += 1
    if (isFailed) this.failed += 1
    this.lastEndUs = Math.max(this.lastEndUs, endUs)
    if (flags & FLAG.answered) this.answered += 1
    this.#addWithin(second.within, endUs, endUs - read(FIELD.durationUs), flags, isFailed)
    this.#addLatency(second, read, flags)
    if (flags & FLAG.fromCache) this.fromCache += 1
    if (flags & FLAG.waited) this.waited += 1
    if (flags & FLAG.retry) this.retried += 1
    if (!Number.isNaN(read(FIELD.connectUs))) this.connections.opened += 1
    else if (flags & FLAG.sent) this.connections.reused += 1
    if (read(FIELD.status) === 429) this.throttling.answers += 1
    const retryAfterMs = read(FIELD.retryAfterMs)
    if (!Number.isNaN(retryAfterMs)) {
      this.throttling.retryAfterAnswers += 1
      this.throttling.askedS += retryAfterMs / 1000
    }
    const cause = names.causes.get(read(FIELD.error))
    this.#addStatus(read(FIELD.status), cause)
    if (cause !== undefined) this.#addError(cause, Math.max(0, Math.floor(endUs / 1e6)))
    const durationUs = flags & FLAG.timed ? read(FIELD.durationUs) : null
    this.#addToGroup(this.#sizeGroup(read(FIELD.contentBytes)), isFailed, durationUs)
    this.#addToGroup(this.#modelGroup(read(FIELD.model), names), isFailed, durationUs)
    if (flags & FLAG.acknowledged || outcome === 'unknown') {
      const sentAtUs = this.#startMs * 1000 + endUs - read(FIELD.durationUs)
      this.#onAwaited(read(FIELD.sequence) + 1, sentAtUs)
    }
  }

  #addWithin(
    within: WithinMeasuredTime,
    endUs: number,
    sentUs: number,
    flags: number,
    isFailed: boolean,
  ): void {
    if (sentUs <= this.#measuredUs && !(flags & FLAG.retry)) within.sent += 1
    if (endUs > this.#measuredUs) return
    within.ended += 1
    if (flags & FLAG.answered) within.answered += 1
    if (!isFailed) within.succeeded += 1
  }

  #addLatency(second: OpenSecond, read: (field: number) => number, flags: number): void {
    const toUs = (field: number) => {
      const us = read(field)
      return Number.isNaN(us) ? null : Math.round(us)
    }
    const { latency } = second
    const connectUs = toUs(FIELD.connectUs)
    latency.record('http_req_waiting', toUs(FIELD.waitingUs))
    latency.record('http_req_connecting', connectUs)
    latency.record('http_req_tls_handshaking', toUs(FIELD.tlsUs))
    if (!(flags & FLAG.timed)) return
    latency.record('http_req_duration', toUs(FIELD.durationUs))
    latency.record('response_time', toUs(FIELD.responseUs))
    const lagUs = toUs(FIELD.lagUs)
    latency.record('start_lag', lagUs)
    if (lagUs !== null && connectUs === null && !(flags & FLAG.waited)) recordUs(second.ownLag, lagUs)
  }

  #addStatus(status: number, cause: LoadErrorCause | undefined): void {
    const errorCode = cause?.errorCode ?? null
    const codes = this.#statuses.get(status) ?? new Map<string | null, LoadStatus>()
    this.#statuses.set(status, codes)
    const known = codes.get(errorCode)
    if (known !== undefined) known.requests += 1
    else codes.set(errorCode, { status: Number.isNaN(status) ? null : status, errorCode, requests: 1 })
  }

  #addError(cause: LoadErrorCause, second: number): void {
    const key = JSON.stringify(Object.values(cause))
    const known = this.#errors.get(key)
    if (known === undefined) {
      this.#errors.set(key, { ...cause, requests: 1, firstSecond: second, lastSecond: second })
      return
    }
    known.requests += 1
    known.firstSecond = Math.min(known.firstSecond, second)
    known.lastSecond = Math.max(known.lastSecond, second)
  }

  #addToGroup(group: Group, isFailed: boolean, durationUs: number | null): void {
    group.requests += 1
    if (isFailed) group.failed += 1
    if (durationUs !== null) recordUs(group.histogram, durationUs)
  }

  #sizeGroup(bytes: number): Group {
    const size = SIZES.findIndex((edge) => bytes <= edge)
    const group = this.#sizes[size] ?? this.#group('size', SIZE_LABELS[size] ?? '')
    this.#sizes[size] = group
    return group
  }

  #modelGroup(number: number, { models, groups }: ThreadNames): Group {
    const known = groups.get(number)
    if (known !== undefined) return known
    const name = models.get(number) ?? ''
    const group = this.#group('model', name === '' ? SERVICE_DECIDES : name)
    groups.set(number, group)
    return group
  }

  #group(by: Group['by'], label: string): Group {
    const key = `${by} ${label}`
    const known = this.#groups.get(key)
    if (known !== undefined) return known
    if (by === 'model' && this.#groups.size >= MODELS_MAX && label !== FURTHER_MODELS) {
      return this.#group('model', FURTHER_MODELS)
    }
    const group = { by, label, requests: 0, failed: 0, histogram: createHistogram() }
    this.#groups.set(key, group)
    return group
  }

  #secondAt(us: number): OpenSecond {
    const number = Math.max(this.#closedUpTo + 1, Math.floor(us / 1e6), 0)
    if (this.#open?.number === number) return this.#open.second
    let second = this.#seconds.get(number)
    if (second === undefined) {
      second = createSecond()
      this.#seconds.set(number, second)
    }
    this.#open = { number, second }
    return second
  }
}

function createSecond(): OpenSecond {
  return {
    counts: { succeeded: 0, rejected: 0, failed: 0, unknown: 0 },
    within: { sent: 0, ended: 0, answered: 0, succeeded: 0 },
    latency: new LatencyMeter(),
    ownLag: createHistogram(),
  }
}
