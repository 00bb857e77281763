import type { LoadReport } from '../../../../../shared/load/load-report.ts'
import type { TrendMetric } from '../../../../../shared/load/metrics.ts'
import { formatFigure, formatMs } from '../../../../../shared/messages/figure-text.ts'
import { drawLineChart } from './line-chart.ts'
import { html, type Markup } from './markup.ts'
import { type TimeBucket, toBucketLength, toBuckets, toHighest, toPerSecond } from './time-buckets.ts'

const LATENCY_LINES = [
  { label: 'p50', point: 'p50', className: 'median' },
  { label: 'p90', point: 'p90', className: 'upper' },
  { label: 'p99', point: 'p99', className: 'tail' },
] as const

/** Latency and requests over time. */
export function drawTimeline(report: LoadReport): Markup {
  const { seconds, latencyMs } = report
  if (seconds.length === 0)
    return html`<section><h2>Over time</h2><p class="none">Nothing was measured.</p></section>`
  const buckets = toBuckets(seconds)
  const length = toBucketLength(buckets)
  return html`<section><h2>Over time</h2>
${length === 1 ? null : html`<p class="about">Each point stands for ${length} seconds: of latencies the worst of them, of requests their mean.</p>`}
${drawLatencyChart('http_req_duration', buckets)}
${latencyMs.response_time === undefined ? null : drawLatencyChart('response_time', buckets)}
${latencyMs.callback_latency === undefined ? null : drawLatencyChart('callback_latency', buckets)}
${drawRequestChart(report, buckets)}</section>`
}

function drawLatencyChart(metric: TrendMetric, buckets: readonly TimeBucket[]): Markup {
  return drawLineChart({
    title: metric,
    description: `${metric} over time: median, 90th and 99th percentile of each second in milliseconds`,
    unit: 'ms',
    scale: 'suiting',
    buckets,
    lines: LATENCY_LINES.map(({ label, point, className }) => ({
      label,
      className,
      values: buckets.map((bucket) => toHighest(bucket, (second) => second.latencyMs[metric]?.[point])),
    })),
    formatValue: formatMs,
  })
}

function drawRequestChart({ rates, generator }: LoadReport, buckets: readonly TimeBucket[]): Markup {
  const perSecond = (read: Parameters<typeof toPerSecond>[1]) =>
    buckets.map((bucket) => toPerSecond(bucket, read))
  return drawLineChart({
    title: 'Requests',
    description: 'Requests a second over time: sent, succeeded, and those that did not succeed',
    unit: 'a second',
    scale: 'linear',
    buckets,
    lines: [
      ...(rates.scheduledPerS === null
        ? []
        : [
            {
              label: 'scheduled',
              className: 'scheduled',
              values: perSecond(({ scheduled }) => scheduled ?? 0),
            },
          ]),
      { label: 'sent', className: 'sent', values: perSecond(({ counts }) => counts.sent) },
      { label: 'succeeded', className: 'succeeded', values: perSecond(({ counts }) => counts.succeeded) },
      {
        label: 'did not succeed',
        className: 'unsuccessful',
        values: perSecond(({ counts }) => counts.rejected + counts.failed + counts.unknown),
      },
      ...(generator.dropped === 0
        ? []
        : [{ label: 'dropped', className: 'dropped', values: perSecond(({ dropped }) => dropped) }]),
    ],
    formatValue: formatFigure,
  })
}

/** How the machine that sent did over time: its longest stall, and how late it sent. */
export function drawGeneratorChart({ seconds }: LoadReport): Markup | null {
  const buckets = toBuckets(seconds)
  const stall = buckets.map((bucket) => toHighest(bucket, ({ eventLoopMaxMs }) => eventLoopMaxMs))
  const lag = buckets.map((bucket) => toHighest(bucket, ({ latencyMs }) => latencyMs.start_lag?.p99))
  if ([...stall, ...lag].every((value) => value === null)) return null
  return drawLineChart({
    title: 'Stalls and lateness',
    description: 'Longest stall of the event loop and 99th percentile of start_lag in each second',
    unit: 'ms',
    scale: 'suiting',
    buckets,
    lines: [
      { label: 'longest stall', className: 'tail', values: stall },
      { label: 'start_lag p99', className: 'median', values: lag },
    ].filter(({ values }) => values.some((value) => value !== null)),
    formatValue: formatMs,
  })
}
