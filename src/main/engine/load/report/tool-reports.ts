import type { LoadSecond, NumberedSample } from '../../../../shared/load/load-report.ts'
import { COURSE_METRICS, type TrendMetric } from '../../../../shared/load/metrics.ts'
import type { Percentiles } from '../../../../shared/run/run.ts'

/** One latency over one interval of a load test. */
export interface HlogInterval {
  metric: TrendMetric
  /** Seconds since measuring began, and how many the interval lasts. */
  startS: number
  lengthS: number
  maxMs: number
  /** HDR histogram of microseconds, compressed, in base64. */
  histogram: string
}

/** The series that tools read unless asked for a tag. */
const UNTAGGED: TrendMetric = 'http_req_duration'

/**
 * A histogram log of version 1.3 for HdrHistogram's tools: values in microseconds, start times in seconds
 * since the base time. http_req_duration has no tag, every other series its name.
 */
export function createHlogWriter({ startedAt, runId }: { startedAt: string; runId: string }): {
  header(): string
  interval(interval: HlogInterval): string
} {
  const startedMs = Date.parse(startedAt)
  const startS = (startedMs / 1000).toFixed(3)
  return {
    header: () =>
      [
        `#[Sluice ${runId}: ${UNTAGGED} without a tag, other series tagged with their names; histograms hold microseconds, Interval_Max is in milliseconds]`,
        '#[Histogram log format version 1.3]',
        `#[StartTime: ${startS} (seconds since epoch), ${new Date(startedMs).toUTCString()}]`,
        `#[BaseTime: ${startS} (seconds since epoch)]`,
        '"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"',
        '',
      ].join('\n'),
    interval(one) {
      const tag = one.metric === UNTAGGED ? '' : `Tag=${one.metric},`
      return `${tag}${one.startS.toFixed(3)},${one.lengthS.toFixed(3)},${one.maxMs.toFixed(3)},${one.histogram}\n`
    },
  }
}

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

/** The latencies in a CSV of seconds. succeeded_duration is in histogram logs and reports. */
const SECOND_METRICS = COURSE_METRICS.filter((metric) => metric !== 'succeeded_duration')

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
  ...SECOND_METRICS.flatMap((metric) =>
    POINTS.map((point) => (point === 'count' ? `${metric}_count` : `${metric}_${point}_ms`)),
  ),
  'event_loop_max_ms',
  'gc_ms',
  'time',
  'generator_limited',
]

/**
 * A CSV of seconds: one line each, cells empty if nothing was measured; `time` is the start of a second. No
 * cell needs quotes.
 */
export function createSecondsWriter({ startedAt }: { startedAt: string }): {
  header(): string
  second(second: LoadSecond): string
} {
  return {
    header: () => `${SECONDS_COLUMNS.join(',')}\r\n`,
    second: (second) => `${toCells(second, startedAt).join(',')}\r\n`,
  }
}

function toCells({ counts, latencyMs, ...second }: LoadSecond, startedAt: string): (string | number)[] {
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
    ...SECOND_METRICS.flatMap((metric) => POINTS.map((point) => toCell(latencyMs[metric]?.[point]))),
    toCell(second.eventLoopMaxMs),
    toCell(second.gcMs),
    new Date(Date.parse(startedAt) + second.second * 1000).toISOString(),
    String(second.limited),
  ]
}

/** Rounded to the microsecond, the precision of the measurement. */
function toCell(ms: number | null | undefined): number | '' {
  return ms === null || ms === undefined ? '' : Math.round(ms * 1000) / 1000
}

/**
 * A line of a JSONL file of samples: a request kept in full, with its times in milliseconds and its bodies as
 * sent and received.
 */
export function formatSample(sample: NumberedSample): string {
  return `${JSON.stringify({
    kept: sample.kept,
    sent_ms: sample.sentMs,
    row: sample.row,
    record: sample.record,
    post_id: sample.postId,
    outcome: sample.outcome,
    status: sample.status,
    error_code: sample.errorCode,
    message: sample.message,
    task_id: sample.taskId,
    ...(sample.traceparent !== undefined && { traceparent: sample.traceparent }),
    http_req_duration_ms: sample.httpReqDurationMs,
    http_req_waiting_ms: sample.httpReqWaitingMs,
    http_req_connecting_ms: sample.httpReqConnectingMs,
    http_req_tls_handshaking_ms: sample.httpReqTlsHandshakingMs,
    response_time_ms: sample.responseTimeMs,
    start_lag_ms: sample.startLagMs,
    callback_latency_ms: sample.callbackLatencyMs,
    request: sample.request,
    response: sample.response,
  })}\n`
}
