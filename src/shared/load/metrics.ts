import { z } from 'zod'

/** What is computed from a metric, by k6's name; `p(N)` is `p`. */
export type Aggregation = 'avg' | 'min' | 'med' | 'max' | 'p' | 'count' | 'rate' | 'value'

/** The part of an HDR histogram of microseconds that thresholds need. */
export interface LatencyDistribution {
  readonly totalCount: number
  readonly mean: number
  readonly minNonZeroValue: number
  readonly maxValue: number
  getValueAtPercentile(percentile: number): number
}

/** Sums over ended requests, with their bytes and those of their answers. */
export interface RequestSums {
  requests: number
  /** Requests that did not succeed. */
  failed: number
  /** Requests that were the last try of their row. */
  iterations: number
  sentBytes: number
  receivedBytes: number
}

/** Measurements so far of the requests with certain tags. */
export interface TaggedMeasurements {
  /** Distributions in microseconds; those without samples may be left out. */
  latencies: Partial<Record<TrendMetric, LatencyDistribution>>
  all: RequestSums
  /** Sums over requests that ended within the measured time. */
  within: RequestSums
}

/** Measurements of a load test so far, without the warm-up. */
export interface LoadMeasurements extends TaggedMeasurements {
  /** Measured time, seconds. */
  durationS: number
  dropped: number
  inFlight: number
  maxInFlight: number
  /** Measurements by the tags that thresholds name; see `formatTags`. */
  tagged?: ReadonlyMap<string, TaggedMeasurements>
}

export function createRequestSums(): RequestSums {
  return { requests: 0, failed: 0, iterations: 0, sentBytes: 0, receivedBytes: 0 }
}

export function addRequestSums(sums: RequestSums, others: RequestSums): void {
  sums.requests += others.requests
  sums.failed += others.failed
  sums.iterations += others.iterations
  sums.sentBytes += others.sentBytes
  sums.receivedBytes += others.receivedBytes
}

/** Measurements of a load test before its first request. */
export const NO_MEASUREMENTS: LoadMeasurements = {
  durationS: 0,
  latencies: {},
  all: createRequestSums(),
  within: createRequestSums(),
  dropped: 0,
  inFlight: 0,
  maxInFlight: 0,
}

type Read = (measured: LoadMeasurements) => number

type ReadSum = (sums: RequestSums) => number

/** A request's phase, named as in its timings; only those that open a connection have connection phases. */
type Phase = 'waitingUs' | 'connectUs' | 'tlsUs'

/** A time of which only the whole distribution is kept, named as in records of requests. */
export type DetailTime = 'blockedUs' | 'sendingUs' | 'receivingUs' | 'iterationUs'

/**
 * The kind of a metric, as in k6: each kind has its own aggregations and unit. `isUntagged`: not about single
 * requests, so tags cannot select any.
 */
type Definition = {
  /** What is measured, from which moment to which. */
  meaning: string
  /** Whether k6 has a metric of the same name and meaning. */
  isInK6: boolean
} & (
  | { kind: 'trend'; phase?: Phase; detail?: DetailTime; isUntagged?: true }
  | { kind: 'rate'; part: ReadSum; whole: ReadSum }
  /** Counters of requests have `count`, all others have `read`. */
  | { kind: 'counter'; count: ReadSum }
  | { kind: 'counter'; read: Read; shortName: string; isUntagged: true }
  | { kind: 'gauge'; value: Read; isUntagged: true }
)

/**
 * Every metric of a load test, by k6's name if k6 has it, in the order of reports. Thresholds are parsed and
 * evaluated by this table; k6 projects, files, the terminal and the window list metrics by it.
 */
export const METRICS = {
  http_req_duration: { kind: 'trend', meaning: 'first byte sent to last byte received', isInK6: true },
  /** In k6: `http_req_duration{expected_response:true}`. */
  succeeded_duration: {
    kind: 'trend',
    meaning: 'http_req_duration of requests that succeeded',
    isInK6: false,
  },
  http_req_waiting: {
    kind: 'trend',
    meaning: 'last byte sent to first byte received',
    isInK6: true,
    phase: 'waitingUs',
  },
  http_req_connecting: { kind: 'trend', meaning: 'opening a connection', isInK6: true, phase: 'connectUs' },
  http_req_tls_handshaking: {
    kind: 'trend',
    meaning: 'TLS handshake of a connection',
    isInK6: true,
    phase: 'tlsUs',
  },
  http_req_blocked: {
    kind: 'trend',
    meaning: 'wait for a connection, opening it included',
    isInK6: true,
    detail: 'blockedUs',
  },
  http_req_sending: {
    kind: 'trend',
    meaning: 'first byte sent to last byte sent',
    isInK6: true,
    detail: 'sendingUs',
  },
  http_req_receiving: {
    kind: 'trend',
    meaning: 'first byte received to last byte received',
    isInK6: true,
    detail: 'receivingUs',
  },
  iteration_duration: {
    kind: 'trend',
    meaning: 'a row handed over to its last answer, retries and their waits included',
    isInK6: true,
    detail: 'iterationUs',
  },
  /** Open pace only. */
  response_time: { kind: 'trend', meaning: 'scheduled to last byte received', isInK6: false },
  /** Open pace only. */
  start_lag: { kind: 'trend', meaning: 'scheduled to first byte sent', isInK6: false },
  /** Async only. */
  callback_latency: {
    kind: 'trend',
    meaning: 'first byte sent to callback received',
    isInK6: false,
    isUntagged: true,
  },
  http_req_failed: {
    kind: 'rate',
    meaning: 'share of requests that did not succeed',
    isInK6: true,
    part: ({ failed }) => failed,
    whole: ({ requests }) => requests,
  },
  http_reqs: {
    kind: 'counter',
    meaning: 'requests that ended',
    isInK6: true,
    count: ({ requests }) => requests,
  },
  iterations: {
    kind: 'counter',
    meaning: 'requests that ended, retries together with their first try',
    isInK6: true,
    count: ({ iterations }) => iterations,
  },
  checks: {
    kind: 'rate',
    meaning: 'share of requests that succeeded, each of which is one check',
    isInK6: true,
    part: ({ requests, failed }) => requests - failed,
    whole: ({ requests }) => requests,
  },
  data_sent: {
    kind: 'counter',
    meaning: 'bytes of requests',
    isInK6: true,
    count: ({ sentBytes }) => sentBytes,
  },
  data_received: {
    kind: 'counter',
    meaning: 'bytes of answers',
    isInK6: true,
    count: ({ receivedBytes }) => receivedBytes,
  },
  dropped_iterations: {
    kind: 'counter',
    meaning: 'due requests that were dropped because too many were in flight',
    isInK6: true,
    shortName: 'dropped',
    isUntagged: true,
    read: ({ dropped }) => dropped,
  },
  vus: {
    kind: 'gauge',
    meaning: 'requests in flight',
    isInK6: true,
    isUntagged: true,
    value: ({ inFlight }) => inFlight,
  },
  vus_max: {
    kind: 'gauge',
    meaning: 'maximum requests in flight',
    isInK6: true,
    isUntagged: true,
    value: ({ maxInFlight }) => maxInFlight,
  },
} as const satisfies Record<string, Definition>

export type MetricName = keyof typeof METRICS

export type MetricKind = Definition['kind']

/** The metrics that are latencies: a distribution, in milliseconds. */
export type TrendMetric = {
  [Name in MetricName]: (typeof METRICS)[Name]['kind'] extends 'trend' ? Name : never
}[MetricName]

/** The aggregations and the unit of each kind, in k6's words. */
export const METRIC_KINDS = {
  trend: { aggregations: ['avg', 'min', 'med', 'max', 'p'], unit: 'ms' },
  rate: { aggregations: ['rate'], unit: 'share' },
  counter: { aggregations: ['count', 'rate'], unit: 'number' },
  gauge: { aggregations: ['value'], unit: 'number' },
} as const satisfies Record<MetricKind, { aggregations: readonly Aggregation[]; unit: string }>

export const METRIC_NAMES = Object.keys(METRICS) as MetricName[]

export const TREND_METRICS: readonly TrendMetric[] = METRIC_NAMES.filter(isTrend)

/** The results of `read` for each latency where it is not null. */
export function mapTrends<Value>(
  read: (metric: TrendMetric) => Value | null,
): Partial<Record<TrendMetric, Value>> {
  const found = TREND_METRICS.map((metric) => [metric, read(metric)] as const)
  return Object.fromEntries(found.filter(([, value]) => value !== null)) as Partial<
    Record<TrendMetric, Value>
  >
}

/** Latencies of which only the whole distribution is kept, for load tests only, with their times' names. */
export const DETAIL_METRICS: readonly { metric: TrendMetric; detail: DetailTime }[] = TREND_METRICS.flatMap(
  (metric) => {
    const definition = toDefinition(metric)
    return definition.kind === 'trend' && definition.detail !== undefined
      ? [{ metric, detail: definition.detail }]
      : []
  },
)

/** The latencies that are kept second by second. */
export const COURSE_METRICS: readonly TrendMetric[] = TREND_METRICS.filter((metric) => !isDetail(metric))

/** The latencies with charts by default: from request to answer, and to callback. */
export const CHARTED_METRICS: readonly TrendMetric[] = [
  'http_req_duration',
  'response_time',
  'callback_latency',
]

/** The latencies that are one phase of a request, each with the name of that phase in its timings. */
export const PHASE_METRICS: readonly { metric: TrendMetric; phase: Phase }[] = TREND_METRICS.flatMap(
  (metric) => {
    const definition = toDefinition(metric)
    return definition.kind === 'trend' && definition.phase !== undefined
      ? [{ metric, phase: definition.phase }]
      : []
  },
)

export const trendMetricSchema = z.enum(TREND_METRICS)

function toDefinition(metric: MetricName): Definition {
  return METRICS[metric]
}

export function isTrend(metric: MetricName): metric is TrendMetric {
  return METRICS[metric].kind === 'trend'
}

/** Whether only the whole distribution of a latency is kept. */
export function isDetail(metric: TrendMetric): boolean {
  return DETAIL_METRICS.some((one) => one.metric === metric)
}

/** Whether a metric is about single requests, so that tags select among them. */
export function isOfRequests(metric: MetricName): boolean {
  return !('isUntagged' in toDefinition(metric))
}

/** The metric with this name or short name (`dropped`); null if there is none. */
export function findMetric(name: string): MetricName | null {
  return (
    METRIC_NAMES.find((metric) => {
      const definition = toDefinition(metric)
      return metric === name || ('shortName' in definition && definition.shortName === name)
    }) ?? null
  )
}

/**
 * The aggregation that a metric's name alone stands for, such as a counter's count; null for latencies, which
 * have several.
 */
export function toOnlyAggregation(metric: MetricName): Aggregation | null {
  const { kind } = METRICS[metric]
  return kind === 'trend' ? null : METRIC_KINDS[kind].aggregations[0]
}

/**
 * The value of a metric in the unit of its kind (per second for the rate of a counter); null if nothing was
 * measured. `percentile` is the N of `p(N)`.
 */
export function readMetric(
  measured: LoadMeasurements,
  {
    metric,
    aggregation,
    percentile,
  }: { metric: MetricName; aggregation: Aggregation; percentile: number | null },
): number | null {
  const definition = toDefinition(metric)
  switch (definition.kind) {
    case 'trend': {
      const latency = isTrend(metric) ? measured.latencies[metric] : undefined
      if (latency === undefined || latency.totalCount === 0) {
        // Requests over an open connection spent no time on opening it. Without requests, that time is
        // unknown.
        const isOfOpening = definition.phase !== undefined && definition.phase !== 'waitingUs'
        return isOfOpening && (measured.latencies.http_req_sending?.totalCount ?? 0) > 0 ? 0 : null
      }
      return readLatencyUs(latency, aggregation, percentile ?? 50) / 1000
    }
    case 'rate': {
      const whole = definition.whole(measured.all)
      return whole === 0 ? null : definition.part(measured.all) / whole
    }
    case 'counter': {
      const isCount = aggregation === 'count'
      const sum =
        'read' in definition
          ? definition.read(measured)
          : definition.count(isCount ? measured.all : measured.within)
      if (isCount) return sum
      return measured.durationS > 0 ? sum / measured.durationS : null
    }
    case 'gauge':
      return definition.value(measured)
  }
}

/** Values of metrics that are not latencies, by name and aggregation. */
export const metricValuesSchema = z.partialRecord(
  z.enum(METRIC_NAMES.filter((metric) => !isTrend(metric))),
  z.partialRecord(z.enum(['count', 'rate', 'value']), z.number()),
)

export type MetricValues = z.infer<typeof metricValuesSchema>

/** The value of every metric that is not a latency, by aggregation, as {@link readMetric} computes it. */
export function readMetricValues(measured: LoadMeasurements): MetricValues {
  return Object.fromEntries(
    METRIC_NAMES.filter((metric) => !isTrend(metric)).map((metric) => [
      metric,
      Object.fromEntries(
        METRIC_KINDS[METRICS[metric].kind].aggregations.flatMap((aggregation) => {
          const value = readMetric(measured, { metric, aggregation, percentile: null })
          return value === null ? [] : [[aggregation, value]]
        }),
      ),
    ]),
  )
}

function readLatencyUs(latency: LatencyDistribution, aggregation: Aggregation, percentile: number): number {
  if (aggregation === 'avg') return latency.mean
  if (aggregation === 'min') return latency.minNonZeroValue
  if (aggregation === 'max') return latency.maxValue
  // The top of a histogram's bucket may exceed every value in it.
  return Math.min(latency.getValueAtPercentile(percentile), latency.maxValue)
}
