import type { Histogram } from 'hdr-histogram-js'
import type { LoadReport, LoadSecond } from '../../../shared/load/load-report.ts'
import { COURSE_METRICS, type TrendMetric } from '../../../shared/load/metrics.ts'
import { formatFigure, formatMs } from '../../../shared/messages/figure-text.ts'

export const POINTS_MAX = 300

export type ChartSecond = Omit<LoadSecond, 'inFlight' | 'gcMs'>

/** Consecutive seconds that a chart shows as one point. */
export interface TimeBucket {
  /** Seconds since measuring began; the end is not in it. */
  fromS: number
  toS: number
  seconds: readonly ChartSecond[]
}

/** The totals, which decide what is worth a chart or a line. */
export interface MeasuredCourse {
  latencyMs: LoadReport['latencyMs']
  rates: Pick<LoadReport['rates'], 'scheduledPerS'>
  generator: Pick<LoadReport['generator'], 'dropped'>
}

/** A line of a chart; its class name gives it colour and dashes. */
interface ChartLine {
  label: string
  className: string
  /** One for each bucket; null breaks the line. */
  values: readonly (number | null)[]
}

export interface LineChart {
  title: string
  /** Description for screen readers. */
  description: string
  unit: string
  /** `suiting`: powers of ten if values lie far apart. */
  scale: 'linear' | 'suiting'
  buckets: readonly TimeBucket[]
  lines: readonly ChartLine[]
  /** Formats the value under the pointer, with its unit. */
  formatValue: (value: number) => string
}

/** Groups seconds into as few points as a chart can show, all of the same length. Seconds may be missing. */
export function toBuckets(seconds: readonly ChartSecond[]): TimeBucket[] {
  const end = (seconds.at(-1)?.second ?? -1) + 1
  const length = Math.max(1, Math.ceil(end / POINTS_MAX))
  const buckets: TimeBucket[] = []
  let at = 0
  for (let fromS = 0; fromS < end; fromS += length) {
    const toS = Math.min(end, fromS + length)
    const from = at
    while ((seconds[at]?.second ?? Infinity) < toS) at += 1
    buckets.push({ fromS, toS, seconds: seconds.slice(from, at) })
  }
  return buckets
}

/** Latency and requests over time; latencies of a bucket are those of its worst second. */
export function listTimeCharts(measured: MeasuredCourse, buckets: readonly TimeBucket[]): LineChart[] {
  const metrics = COURSE_METRICS.filter(
    (metric) => metric === 'http_req_duration' || measured.latencyMs[metric] !== undefined,
  )
  return [...metrics.map((metric) => toLatencyChart(metric, buckets)), toRequestChart(measured, buckets)]
}

function toLatencyChart(metric: TrendMetric, buckets: readonly TimeBucket[]): LineChart {
  const line = (label: string, point: 'p50' | 'p90' | 'p99', className: string) => ({
    label,
    className,
    values: buckets.map((bucket) => toHighest(bucket, (second) => second.latencyMs[metric]?.[point])),
  })
  return {
    title: metric,
    description: `${metric} over time: median, 90th and 99th percentile of each second in milliseconds`,
    unit: 'ms',
    scale: 'suiting',
    buckets,
    lines: [line('p50', 'p50', 'median'), line('p90', 'p90', 'upper'), line('p99', 'p99', 'tail')],
    formatValue: formatMs,
  }
}

function toRequestChart({ rates, generator }: MeasuredCourse, buckets: readonly TimeBucket[]): LineChart {
  const line = (label: string, className: string, read: (second: ChartSecond) => number) => ({
    label,
    className,
    values: buckets.map((bucket) => toPerSecond(bucket, read)),
  })
  return {
    title: 'Requests',
    description: 'Requests per second over time: sent, succeeded, and those that did not succeed',
    unit: 'per second',
    scale: 'linear',
    buckets,
    lines: [
      ...(rates.scheduledPerS === null
        ? []
        : [line('scheduled', 'scheduled', ({ scheduled }) => scheduled ?? 0)]),
      line('sent', 'sent', ({ counts }) => counts.sent),
      line('succeeded', 'succeeded', ({ counts }) => counts.succeeded),
      line(
        'did not succeed',
        'unsuccessful',
        ({ counts }) => counts.rejected + counts.failed + counts.unknown,
      ),
      ...(generator.dropped === 0 ? [] : [line('dropped', 'dropped', ({ dropped }) => dropped)]),
    ],
    formatValue: formatFigure,
  }
}

/** This machine over time: its longest stall, and how late it sent; null if that was not measured. */
export function toGeneratorChart(buckets: readonly TimeBucket[]): LineChart | null {
  const line = (label: string, className: string, read: Parameters<typeof toHighest>[1]) => ({
    label,
    className,
    values: buckets.map((bucket) => toHighest(bucket, read)),
  })
  const lines = [
    line('longest stall', 'tail', ({ eventLoopMaxMs }) => eventLoopMaxMs),
    line('start_lag p99', 'median', ({ latencyMs }) => latencyMs.start_lag?.p99),
  ].filter(({ values }) => values.some((value) => value !== null))
  if (lines.length === 0) return null
  return {
    title: 'Stalls and lateness',
    description: 'Longest stall of the event loop and 99th percentile of start_lag in each second',
    unit: 'ms',
    scale: 'suiting',
    buckets,
    lines,
    formatValue: formatMs,
  }
}

function toHighest(
  { seconds }: TimeBucket,
  read: (second: ChartSecond) => number | null | undefined,
): number | null {
  const values = seconds.flatMap((second) => read(second) ?? [])
  return values.length === 0 ? null : Math.max(...values)
}

/** The mean over all the seconds that a bucket spans. */
function toPerSecond({ fromS, toS, seconds }: TimeBucket, read: (second: ChartSecond) => number): number {
  return seconds.reduce((sum, second) => sum + read(second), 0) / (toS - fromS)
}

/** A point of a spectrum: the latency that this share of requests stayed within. */
export interface SpectrumPoint {
  /** 0 for none, 1 for 90 %, 2 for 99 %, 3 for 99.9 % of the requests. */
  nines: number
  ms: number
}

const SPECTRUM_POINTS = 160

/** How many nines this many requests can resolve. */
export function toNines(count: number): number {
  return Math.max(1, Math.min(6, Math.floor(Math.log10(Math.max(1, count)))))
}

/** The latency at each percentile; those near 100 are spread out as far as `nines` goes. */
export function toSpectrum(histogram: Histogram, nines: number): SpectrumPoint[] {
  return Array.from({ length: SPECTRUM_POINTS + 1 }, (_, i) => {
    const at = (nines * i) / SPECTRUM_POINTS
    // The upper edge of a histogram's bucket may exceed every value in it.
    const us = Math.min(histogram.maxValue, histogram.getValueAtPercentile(100 * (1 - 10 ** -at)))
    return { nines: at, ms: us / 1000 }
  })
}
