import { z } from 'zod'

/** What is computed of a metric, as k6 names it; `p(N)` is `p`. */
export type Aggregation = 'avg' | 'min' | 'med' | 'max' | 'p' | 'count' | 'rate' | 'value'

/** What thresholds need of an HDR histogram of microseconds. */
export interface LatencyDistribution {
  readonly totalCount: number
  readonly mean: number
  readonly minNonZeroValue: number
  readonly maxValue: number
  getValueAtPercentile(percentile: number): number
}

/** What a load test measured so far of the requests with some tags. */
export type TaggedMeasurements = Pick<
  LoadMeasurements,
  'latencies' | 'requests' | 'failed' | 'requestsWithin'
>

/** What a load test measured so far, warm-up excluded. */
export interface LoadMeasurements {
  /** Measured time, seconds. */
  durationS: number
  /** Distributions in microseconds; those without samples may be left out. */
  latencies: Partial<Record<TrendMetric, LatencyDistribution>>
  /** Requests that ended, and those of them that did not succeed. */
  requests: number
  failed: number
  /** Requests that ended within the measured time. */
  requestsWithin: number
  dropped: number
  inFlight: number
  maxInFlight: number
  /** Of the requests with the tags that thresholds name, by these tags; see `formatTags`. */
  tagged?: ReadonlyMap<string, TaggedMeasurements>
}

/** The measurements of a load test that has measured nothing. */
export const NO_MEASUREMENTS: LoadMeasurements = {
  durationS: 0,
  latencies: {},
  requests: 0,
  failed: 0,
  requestsWithin: 0,
  dropped: 0,
  inFlight: 0,
  maxInFlight: 0,
}

type Read = (measured: LoadMeasurements) => number

/** A phase of a request, as its timings name it; those of opening a connection are only of a request that opened one. */
type Phase = 'waitingUs' | 'connectUs' | 'tlsUs'

/** What kind of figure a metric is, as in k6: each kind has its own aggregations, and its own unit. */
type Definition = {
  /** What is measured, from when to when. */
  meaning: string
  /** Whether k6 has a metric of this name that says the same. */
  isInK6: boolean
} & (
  | { kind: 'trend'; phase?: Phase }
  | { kind: 'rate'; part: Read; whole: Read }
  /** `within`: what of it counts for its rate per second. */
  | { kind: 'counter'; count: Read; within: Read; shortName?: string }
  | { kind: 'gauge'; value: Read }
)

/**
 * Every metric of a load test, by k6's name where k6 has it, in the order in which reports show them. Thresholds are
 * parsed and evaluated by this table; k6 projects, files, the terminal and the window list metrics by it.
 */
export const METRICS = {
  http_req_duration: { kind: 'trend', meaning: 'first byte sent to last byte received', isInK6: true },
  /** k6 has it as `http_req_duration{expected_response:true}`. */
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
  /** Open pace only. */
  response_time: { kind: 'trend', meaning: 'scheduled to last byte received', isInK6: false },
  /** Open pace only. */
  start_lag: { kind: 'trend', meaning: 'scheduled to first byte sent', isInK6: false },
  /** Async only. */
  callback_latency: { kind: 'trend', meaning: 'first byte sent to callback received', isInK6: false },
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
    within: ({ requestsWithin }) => requestsWithin,
  },
  dropped_iterations: {
    kind: 'counter',
    meaning: 'due requests that were dropped because too many were in flight',
    isInK6: true,
    shortName: 'dropped',
    count: ({ dropped }) => dropped,
    within: ({ dropped }) => dropped,
  },
  vus: { kind: 'gauge', meaning: 'requests in flight', isInK6: true, value: ({ inFlight }) => inFlight },
  vus_max: {
    kind: 'gauge',
    meaning: 'maximum requests in flight',
    isInK6: true,
    value: ({ maxInFlight }) => maxInFlight,
  },
} as const satisfies Record<string, Definition>

/** One of {@link METRICS}. */
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

/** Names of all metrics, in the table's order. */
export const METRIC_NAMES = Object.keys(METRICS) as MetricName[]

/** Names of the latencies, in the table's order. */
export const TREND_METRICS: readonly TrendMetric[] = METRIC_NAMES.filter(isTrend)

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

/** Whether a metric is a latency. */
export function isTrend(metric: MetricName): metric is TrendMetric {
  return METRICS[metric].kind === 'trend'
}

/** The metric of a name or of a short name (`dropped`); null where there is none. */
export function findMetric(name: string): MetricName | null {
  return (
    METRIC_NAMES.find((metric) => {
      const definition = toDefinition(metric)
      return metric === name || (definition.kind === 'counter' && definition.shortName === name)
    }) ?? null
  )
}

/** The aggregation that a bare metric name stands for, such as a counter's count; null for latencies, which have several. */
export function toOnlyAggregation(metric: MetricName): Aggregation | null {
  const { kind } = METRICS[metric]
  return kind === 'trend' ? null : METRIC_KINDS[kind].aggregations[0]
}

/**
 * The value of a metric in the unit of its kind (per second for the rate of a counter); null where nothing was
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
      if (latency === undefined || latency.totalCount === 0) return null
      return readLatencyUs(latency, aggregation, percentile ?? 50) / 1000
    }
    case 'rate': {
      const whole = definition.whole(measured)
      return whole === 0 ? null : definition.part(measured) / whole
    }
    case 'counter':
      if (aggregation === 'count') return definition.count(measured)
      return measured.durationS > 0 ? definition.within(measured) / measured.durationS : null
    case 'gauge':
      return definition.value(measured)
  }
}

function readLatencyUs(latency: LatencyDistribution, aggregation: Aggregation, percentile: number): number {
  if (aggregation === 'avg') return latency.mean
  if (aggregation === 'min') return latency.minNonZeroValue
  if (aggregation === 'max') return latency.maxValue
  // The top of a histogram's bucket may lie above all that is in it.
  return Math.min(latency.getValueAtPercentile(percentile), latency.maxValue)
}
