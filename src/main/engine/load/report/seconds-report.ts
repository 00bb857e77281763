import type { LoadSecond } from '../../../../shared/load/load-report.ts'
import type { TrendMetric } from '../../../../shared/load/threshold-metrics.ts'
import type { Percentiles } from '../../../../shared/run/run.ts'

const SERIES: readonly TrendMetric[] = [
  'http_req_duration',
  'http_req_waiting',
  'http_req_connecting',
  'http_req_tls_handshaking',
  'response_time',
  'start_lag',
  'callback_latency',
]

const POINTS = [
  'count',
  'min',
  'mean',
  'p50',
  'p90',
  'p95',
  'p99',
  'p99_9',
  'max',
] as const satisfies readonly (keyof Percentiles)[]

/** The columns of a CSV of seconds; latencies are milliseconds. */
export const SECONDS_COLUMNS: readonly string[] = [
  'second',
  'scheduled',
  'sent',
  'succeeded',
  'rejected',
  'failed',
  'unknown',
  'dropped',
  'in_flight',
  ...SERIES.flatMap((metric) =>
    POINTS.map((point) => (point === 'count' ? `${metric}_count` : `${metric}_${point}_ms`)),
  ),
  'event_loop_max_ms',
  'gc_ms',
  'generator_limited',
]

/** A CSV of seconds: one line each, cells empty where nothing was measured. Numbers only, so nothing is quoted. */
export function createSecondsWriter(): { header(): string; second(second: LoadSecond): string } {
  return {
    header: () => `${SECONDS_COLUMNS.join(',')}\r\n`,
    second: (second) => `${toCells(second).join(',')}\r\n`,
  }
}

function toCells({ counts, latencyMs, ...second }: LoadSecond): (string | number)[] {
  return [
    second.second,
    second.scheduled ?? '',
    counts.sent,
    counts.succeeded,
    counts.rejected,
    counts.failed,
    counts.unknown,
    second.dropped,
    second.inFlight,
    ...SERIES.flatMap((metric) => POINTS.map((point) => toCell(latencyMs[metric]?.[point]))),
    toCell(second.eventLoopMaxMs),
    toCell(second.gcMs),
    String(second.limited),
  ]
}

/** To the microsecond, which is what is measured. */
function toCell(ms: number | null | undefined): number | '' {
  return ms === null || ms === undefined ? '' : Math.round(ms * 1000) / 1000
}
