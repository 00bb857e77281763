import { decodeHistogram, toLatencyBars } from '../../../../../shared/load/latency-meter.ts'
import type { LoadReport } from '../../../../../shared/load/load-report.ts'
import { METRICS, TREND_METRICS } from '../../../../../shared/load/metrics.ts'
import {
  formatCount,
  formatFigure,
  formatMs,
  formatShare,
} from '../../../../../shared/messages/figure-text.ts'
import type { Percentiles } from '../../../../../shared/run/run.ts'
import { drawBarChart } from './bar-chart.ts'
import { toNines, toSpectrum } from './distribution.ts'
import { html, type Markup, NOTHING } from './markup.ts'
import { drawSpectrumChart } from './spectrum-chart.ts'
import { drawTable } from './table.ts'

const POINTS = ['min', 'mean', 'p50', 'p90', 'p95', 'p99', 'p99_9', 'max'] as const

/** Requests and rates: what was asked for, what was sent, answered, and succeeded are figures of their own. */
export function drawFigures({ counts, rates, latencyMs, ...report }: LoadReport): Markup {
  const unsuccessful = counts.rejected + counts.failed + counts.unknown
  const duration = latencyMs.http_req_duration
  const cards: [title: string, value: string, note: string][] = [
    ...(rates.scheduledPerS === null
      ? []
      : [
          ['Scheduled', formatFigure(rates.scheduledPerS), 'requests a second'] satisfies [
            string,
            string,
            string,
          ],
        ]),
    ['Sent', formatFigure(rates.attemptedPerS), `requests a second, ${formatCount(counts.sent)} in all`],
    // A summary of k6's does not tell what was answered.
    ...(report.statuses.length === 0
      ? []
      : [
          [
            'Answered',
            formatFigure(rates.answeredPerS),
            `requests a second, ${formatCount(report.answered)} in all`,
          ] satisfies [string, string, string],
        ]),
    [
      'Succeeded',
      formatFigure(rates.succeededPerS),
      `requests a second, ${formatCount(counts.succeeded)} in all`,
    ],
    [
      'Did not succeed',
      counts.sent === 0 ? '–' : formatShare(unsuccessful / counts.sent),
      `${formatCount(counts.rejected)} rejected, ${formatCount(counts.failed)} failed, ${formatCount(counts.unknown)} unknown`,
    ],
    [
      'Median',
      duration === undefined ? '–' : formatMs(duration.p50),
      duration === undefined ? 'nothing was measured' : `99 of 100 within ${formatMs(duration.p99)}`,
    ],
  ]
  return html`<section><h2>Requests</h2>
<div class="cards">${cards.map(([title, value, note]) => html`<div class="card"><p class="card-title">${title}</p><p class="card-value">${value}</p><p class="card-note">${note}</p></div>`)}</div>
${listNotes(report)}</section>`
}

function listNotes({ throttling, connections }: Pick<LoadReport, 'throttling' | 'connections'>): Markup {
  const notes = [
    ...(connections.opened + connections.reused > 0
      ? [
          `${formatCount(connections.opened)} connections opened, ${formatCount(connections.reused)} requests sent on one that was open already.`,
        ]
      : []),
    ...(throttling.answers > 0 || throttling.retryAfterAnswers > 0
      ? [
          `${formatCount(throttling.answers)} answers of 429 (too many requests)${throttling.retryAfterAnswers === 0 ? '' : `; ${formatCount(throttling.retryAfterAnswers)} answers asked to wait, ${formatFigure(throttling.askedS)} s in all`}.`,
        ]
      : []),
  ]
  if (notes.length === 0) return NOTHING
  return html`<ul class="notes">${notes.map((note) => html`<li>${note}</li>`)}</ul>`
}

/** Every latency that was measured, in milliseconds, and the distribution of http_req_duration. */
export function drawLatencies({ latencyMs, histograms }: LoadReport): Markup {
  const measured = TREND_METRICS.flatMap((metric) => {
    const percentiles: Percentiles | undefined = latencyMs[metric]
    return percentiles === undefined || percentiles.count === 0 ? [] : [{ metric, percentiles }]
  })
  if (measured.length === 0) {
    return html`<section><h2>Latency</h2><p class="none">Nothing was measured.</p></section>`
  }
  const rows = measured.map(({ metric, percentiles }) => [
    html`<code>${metric}</code><span class="meaning">${METRICS[metric].meaning}</span>`,
    formatCount(percentiles.count),
    ...POINTS.map((point) => formatFigure(percentiles[point])),
  ])
  return html`<section><h2>Latency</h2>
${drawTable({
  caption: 'Milliseconds; timeouts count with the time that passed',
  columns: [
    { title: '', align: 'left' },
    { title: 'samples', align: 'right' },
    ...POINTS.map((point) => ({ title: point.replace('_', '.'), align: 'right' as const })),
  ],
  rows,
})}
${drawDistributions(latencyMs, histograms)}</section>`
}

// Later lines lie on earlier ones: where both are alike, the thinner one shows on the thicker.
const SPECTRUM_LINES = [
  { metric: 'callback_latency', className: 'upper' },
  { metric: 'response_time', className: 'tail' },
  { metric: 'http_req_duration', className: 'median' },
] as const

function drawDistributions(
  latencyMs: LoadReport['latencyMs'],
  histograms: LoadReport['histograms'],
): Markup[] {
  const known = SPECTRUM_LINES.flatMap(({ metric, className }) => {
    const encoded = histograms[metric]
    const histogram = encoded === undefined ? null : decodeHistogram(encoded)
    return histogram === null || histogram.totalCount === 0 ? [] : [{ metric, className, histogram }]
  })
  const nines = Math.max(...known.map(({ histogram }) => toNines(histogram.totalCount)))
  const lines = known.map(({ metric, className, histogram }) => ({
    label: metric,
    className,
    points: toSpectrum(histogram, nines),
  }))
  const duration = known.find(({ metric }) => metric === 'http_req_duration')
  return [
    ...(duration === undefined
      ? []
      : [
          drawBarChart(
            'Distribution of http_req_duration',
            toLatencyBars(duration.histogram),
            latencyMs.http_req_duration ?? null,
          ),
        ]),
    ...(lines.length === 0 ? [] : [drawSpectrumChart(lines, nines)]),
  ]
}
