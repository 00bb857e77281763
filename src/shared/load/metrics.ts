import { z } from 'zod'

/** What is computed of a metric, as k6 names it; `p(N)` is `p`. */
export type Aggregation = 'avg' | 'min' | 'med' | 'max' | 'p' | 'count' | 'rate' | 'value'

/** What kind of figure a metric is, as in k6: each has aggregations of its own. */
export type MetricKind = 'trend' | 'rate' | 'counter' | 'gauge'

/** Every metric that a threshold can be set on, by k6's name where k6 has it. */
export const THRESHOLD_METRICS = {
  /** First byte sent to last byte received, milliseconds. */
  http_req_duration: 'trend',
  /** Last byte sent to first byte received, milliseconds. */
  http_req_waiting: 'trend',
  http_req_connecting: 'trend',
  http_req_tls_handshaking: 'trend',
  /** Scheduled to last byte received, open pace only; not in k6. */
  response_time: 'trend',
  /** Scheduled to sent, open pace only; not in k6. */
  start_lag: 'trend',
  /** Sent to callback received, async only; not in k6. */
  callback_latency: 'trend',
  /** Share of requests that did not succeed, 0 to 1. */
  http_req_failed: 'rate',
  /** Requests that were sent; `rate` is a second. */
  http_reqs: 'counter',
  /** Due requests that were given up since the cap on those in flight was reached. */
  dropped_iterations: 'counter',
  /** Requests in flight at this instant. */
  vus: 'gauge',
  /** Most requests that may be in flight. */
  vus_max: 'gauge',
} as const satisfies Record<string, MetricKind>

/** One of {@link THRESHOLD_METRICS}. */
export type ThresholdMetric = keyof typeof THRESHOLD_METRICS

/** The metrics of latencies. */
export const trendMetricSchema = z.enum([
  'http_req_duration',
  'http_req_waiting',
  'http_req_connecting',
  'http_req_tls_handshaking',
  'response_time',
  'start_lag',
  'callback_latency',
])

/** See {@link trendMetricSchema}. */
export type TrendMetric = z.infer<typeof trendMetricSchema>

/** The aggregations that each kind of metric has, in k6's words. */
export const AGGREGATIONS: Readonly<Record<MetricKind, readonly Aggregation[]>> = {
  trend: ['avg', 'min', 'med', 'max', 'p'],
  rate: ['rate'],
  counter: ['count', 'rate'],
  gauge: ['value'],
}

const SHORT_NAMES: Readonly<Record<string, ThresholdMetric>> = { dropped: 'dropped_iterations' }

/** The metric of a name or of a short name (`dropped`); null where there is none. */
export function findThresholdMetric(name: string): ThresholdMetric | null {
  if (Object.hasOwn(THRESHOLD_METRICS, name)) return name as ThresholdMetric
  return Object.hasOwn(SHORT_NAMES, name) ? (SHORT_NAMES[name] ?? null) : null
}

/** Whether a metric's figures are milliseconds. */
export function isTrend(metric: ThresholdMetric): metric is TrendMetric {
  return THRESHOLD_METRICS[metric] === 'trend'
}

/** The aggregation that a bare metric name stands for; only counters have one: `dropped==0` is its count. */
export function toOnlyAggregation(metric: ThresholdMetric): Aggregation | null {
  if (THRESHOLD_METRICS[metric] === 'counter') return 'count'
  return AGGREGATIONS[THRESHOLD_METRICS[metric]].length === 1
    ? (AGGREGATIONS[THRESHOLD_METRICS[metric]][0] ?? null)
    : null
}
