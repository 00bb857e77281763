import { decodeHistogram, toLatencyBars } from '../../../shared/load/latency-meter.ts'
import type { LoadReport } from '../../../shared/load/load-report.ts'
import { type LoadFact, type LoadView, noteFewMeasured } from '../../../shared/load/load-view.ts'
import { COURSE_METRICS } from '../../../shared/load/metrics.ts'
import { toLatencyTable } from '../../../shared/report/summary-report.ts'
import { listTimeCharts, type MeasuredCourse, type TimeBucket, toNines, toSpectrum } from './chart-series.ts'
import { drawDistribution, drawLineChart, drawSpectrum } from './charts.ts'
import { html, type Markup } from './markup.ts'
import { drawTable } from './report-markup.ts'

/** The few figures that a reader looks for first. */
export function drawCards(facts: readonly LoadFact[]): Markup {
  return html`<div class="cards">${facts.map(({ label, value, note }) => html`<div class="card"><p class="card-title">${label}</p><p class="card-value">${value}</p><p class="card-note">${note ?? ''}</p></div>`)}</div>`
}

/** Every latency that was measured, in milliseconds, and how it is distributed. */
export function drawLatencies(
  { histograms, latencyMs }: Pick<LoadReport, 'histograms' | 'latencyMs'>,
  latencies: LoadView['latencies'],
): Markup {
  if (latencies.length === 0) {
    return html`<section><h2>Latency</h2><p class="none">No latency was measured.</p></section>`
  }
  return html`<section><h2>Latency</h2>
${drawTable({ ...toLatencyTable(latencies), caption: 'Milliseconds' })}
${noteFewMeasured(latencies.map(({ metric, percentiles: { count } }) => ({ metric, count }))).map((note) => html`<p class="none">${note}</p>`)}
${drawDistributions(histograms, latencyMs)}</section>`
}

// Later lines cover earlier ones: where both coincide, the thinner one shows on the thicker.
const SPECTRUM_LINES = [
  { metric: 'callback_latency', className: 'upper' },
  { metric: 'response_time', className: 'tail' },
  { metric: 'http_req_duration', className: 'median' },
] as const

function drawDistributions(
  histograms: LoadReport['histograms'],
  latencyMs: LoadReport['latencyMs'],
): Markup[] {
  const measured = COURSE_METRICS.flatMap((metric) => {
    // A metric that repeats another has no figures of its own.
    const encoded = latencyMs[metric] ? histograms[metric] : undefined
    const histogram = encoded === undefined ? null : decodeHistogram(encoded)
    return histogram === null || histogram.totalCount === 0 ? [] : [{ metric, histogram }]
  })
  if (measured.length === 0) return []
  const lines = SPECTRUM_LINES.flatMap(({ metric, className }) => {
    const found = measured.find((one) => one.metric === metric)
    return found === undefined ? [] : [{ label: metric, className, histogram: found.histogram }]
  })
  const nines = Math.max(...lines.map(({ histogram }) => toNines(histogram.totalCount)))
  return [
    ...measured.map(({ metric, histogram }) =>
      drawDistribution(`Distribution of ${metric}`, toLatencyBars(histogram), latencyMs[metric] ?? null),
    ),
    ...(lines.length === 0
      ? []
      : [
          drawSpectrum(
            lines.map(({ histogram, ...line }) => ({ ...line, points: toSpectrum(histogram, nines) })),
            nines,
          ),
        ]),
  ]
}

/** Latencies and requests over time; `about` are notes on the points. */
export function drawTimeline(
  measured: MeasuredCourse,
  buckets: readonly TimeBucket[],
  about: readonly string[] = [],
): Markup {
  const [first] = buckets
  if (first === undefined) {
    return html`<section><h2>Over time</h2><p class="none">Nothing was measured.</p></section>`
  }
  const length = first.toS - first.fromS
  const notes = [
    ...(length === 1
      ? []
      : [`Each point stands for ${length} seconds: the worst of them for latencies, the mean for requests.`]),
    ...about,
  ]
  return html`<section><h2>Over time</h2>
${notes.map((note) => html`<p class="about">${note}</p>`)}
${listTimeCharts(measured, buckets).map(drawLineChart)}</section>`
}
