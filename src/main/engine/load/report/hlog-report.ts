import type { TrendMetric } from '../../../../shared/load/threshold-metrics.ts'

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

/** The series that tools process unless they are asked for a tag. */
const UNTAGGED: TrendMetric = 'http_req_duration'

/**
 * A histogram log of version 1.3, as the tools of HdrHistogram read it: values are microseconds, start times seconds
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
