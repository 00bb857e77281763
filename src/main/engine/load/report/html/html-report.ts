import { createHash } from 'node:crypto'
import { decodeHistogram, toLatencyBars } from '../../../../../shared/load/latency-meter.ts'
import type { LoadReport } from '../../../../../shared/load/load-report.ts'
import {
  LATENCY_POINTS,
  type LoadFact,
  type LoadView,
  toLoadView,
} from '../../../../../shared/load/load-view.ts'
import { formatDurationMs } from '../../../../../shared/messages/duration.ts'
import { formatCount, formatFigure, formatMs } from '../../../../../shared/messages/figure-text.ts'
import {
  listTimeCharts,
  type TimeBucket,
  toBuckets,
  toGeneratorChart,
  toNines,
  toSpectrum,
} from './chart-series.ts'
import { drawDistribution, drawLineChart, drawSpectrum } from './charts.ts'
import { drawComparison } from './comparison-section.ts'
import { drawList, drawTable, html, type Markup, NOTHING, quoteForeign, toStyle } from './markup.ts'
import { PAGE_STYLE } from './page-style.ts'

/**
 * A load test as one page that opens anywhere without a network: it holds no script, loads nothing, and its policy
 * allows only its own style sheet. What makes the figures doubtful stands above them.
 */
export function formatHtmlReport(report: LoadReport): string {
  const hash = createHash('sha256').update(PAGE_STYLE).digest('base64')
  const policy = `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'`
  const view = toLoadView(report)
  const buckets = toBuckets(report.seconds)
  const page = html`<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>${report.name} · load test</title>
${toStyle(PAGE_STYLE)}
</head>
<body>
<main>
${drawHead(report, view)}
${drawThresholds(view)}
${drawRequests(view)}
${drawLatencies(report, view)}
${drawTimeline(report, buckets)}
${drawAnswers(view)}
${view.groups.map(drawGroup)}
${report.comparison === null ? NOTHING : drawComparison(report.comparison)}
${drawGenerator(view, buckets)}
<footer>
<p>Percentiles are from HDR histograms of microseconds with three figures. response_time and start_lag count from the scheduled time, so they include whatever delays the sending.</p>
</footer>
</main>
</body>
</html>
`
  return `<!doctype html>\n${page.markup}`
}

/** What was tested, when and how; what has to be known before any figure is read stands above that. */
function drawHead(report: LoadReport, { notices, caveats }: LoadView): Markup {
  const { startedAt, warmupMs, durationMs } = report
  const warmup = warmupMs === 0 ? '' : `, after ${formatDurationMs(warmupMs)} of warm-up`
  const measured =
    startedAt === null
      ? 'Nothing was measured'
      : `Measured for ${formatMeasured(durationMs)}${warmup}, from ${startedAt.slice(0, 19).replace('T', ' ')} UTC`
  return html`<header>
<h1>${quoteForeign(report.name)}</h1>
${notices.map(
  ({ title, text, details }) => html`<section class="notice warn" role="note"><h2>${quoteForeign(title)}</h2>
<p>${text}</p>${drawList(details)}</section>
`,
)}
${caveats.length === 0 ? NOTHING : html`<section class="notice warn" role="note"><h2>What the percentiles leave out or include</h2>${drawList(caveats)}</section>`}
<p class="about">Load test of ${quoteForeign(report.baseUrl)} · ${report.operation} · rows of ${quoteForeign(report.source)}</p>
<p class="about">${measured} · run ${report.runId} · Sluice ${report.appVersion}</p>
<p class="plan">${report.plan.join(' · ')}</p>
</header>`
}

function formatMeasured(durationMs: number): string {
  return formatDurationMs(
    durationMs >= 10_000 ? Math.round(durationMs / 1000) * 1000 : Math.round(durationMs),
  )
}

function drawThresholds({ thresholds: { rows, verdict, isMet, note } }: LoadView): Markup {
  const notes = drawList(note === null ? [] : [note])
  if (rows.length === 0) {
    return html`<section><h2>Thresholds</h2><p class="none">No thresholds set.</p>${notes}</section>`
  }
  const drawVerdict = (isHeld: boolean, text: string) =>
    html`<span class="${isHeld ? 'ok' : 'bad'}">${isHeld ? '✓' : '✗'} ${text}</span>`
  return html`<section><h2>Thresholds: ${drawVerdict(isMet, verdict)}</h2>
${drawTable({
  caption: 'Each threshold, what was measured, and how far that is from the limit',
  columns: [
    { title: '', align: 'left' },
    { title: 'threshold', align: 'left' },
    { title: 'measured', align: 'right' },
    { title: 'by how much', align: 'left' },
  ],
  rows: rows.map((row) => [
    drawVerdict(row.isMet, row.isMet ? 'holds' : 'crossed'),
    html`<code>${row.expression}</code>`,
    row.value,
    row.margin,
  ]),
})}${notes}</section>`
}

function drawRequests({ requests, traffic }: LoadView): Markup {
  if (requests.length === 0) return html`<section><h2>Requests</h2><p class="none">None sent.</p></section>`
  return html`<section><h2>Requests</h2>
<div class="cards">${requests.map(({ label, value, note }) => html`<div class="card"><p class="card-title">${label}</p><p class="card-value">${value}</p><p class="card-note">${note ?? ''}</p></div>`)}</div>
${traffic.length === 0 ? NOTHING : drawFacts(traffic)}</section>`
}

function drawFacts(facts: readonly LoadFact[]): Markup {
  return html`<dl class="facts">${facts.map(({ label, value, note }) => html`<div><dt>${label}</dt><dd>${note === undefined ? value : `${value}, ${note}`}</dd></div>`)}</dl>`
}

/** Every latency that was measured, in milliseconds, and how it is distributed. */
function drawLatencies({ histograms, latencyMs }: LoadReport, { latencies }: LoadView): Markup {
  if (latencies.length === 0) {
    return html`<section><h2>Latency</h2><p class="none">Nothing was measured.</p></section>`
  }
  return html`<section><h2>Latency</h2>
${drawTable({
  caption: 'Milliseconds',
  columns: [
    { title: '', align: 'left' },
    { title: 'samples', align: 'right' },
    ...LATENCY_POINTS.map(([, title]) => ({ title, align: 'right' as const })),
  ],
  rows: latencies.map(({ metric, meaning, percentiles }) => [
    html`<code>${metric}</code><span class="meaning">${meaning}</span>`,
    formatCount(percentiles.count),
    ...LATENCY_POINTS.map(([point]) => formatFigure(percentiles[point])),
  ]),
})}
${drawDistributions(histograms, latencyMs)}</section>`
}

// Later lines lie on earlier ones: where both are alike, the thinner one shows on the thicker.
const SPECTRUM_LINES = [
  { metric: 'callback_latency', className: 'upper' },
  { metric: 'response_time', className: 'tail' },
  { metric: 'http_req_duration', className: 'median' },
] as const

function drawDistributions(
  histograms: LoadReport['histograms'],
  latencyMs: LoadReport['latencyMs'],
): Markup[] {
  const known = SPECTRUM_LINES.flatMap(({ metric, className }) => {
    const encoded = histograms[metric]
    const histogram = encoded === undefined ? null : decodeHistogram(encoded)
    return histogram === null || histogram.totalCount === 0 ? [] : [{ label: metric, className, histogram }]
  })
  if (known.length === 0) return []
  const nines = Math.max(...known.map(({ histogram }) => toNines(histogram.totalCount)))
  const lines = known.map(({ histogram, ...line }) => ({ ...line, points: toSpectrum(histogram, nines) }))
  const duration = known.find(({ label }) => label === 'http_req_duration')
  const title = 'Distribution of http_req_duration'
  return [
    ...(duration === undefined
      ? []
      : [drawDistribution(title, toLatencyBars(duration.histogram), latencyMs.http_req_duration ?? null)]),
    drawSpectrum(lines, nines),
  ]
}

function drawTimeline(report: LoadReport, buckets: readonly TimeBucket[]): Markup {
  const [first] = buckets
  if (first === undefined) {
    return html`<section><h2>Over time</h2><p class="none">Nothing was measured.</p></section>`
  }
  const length = first.toS - first.fromS
  return html`<section><h2>Over time</h2>
${length === 1 ? NOTHING : html`<p class="about">Each point stands for ${length} seconds: the worst of them for latencies, the mean for requests.</p>`}
${listTimeCharts(report, buckets).map(drawLineChart)}</section>`
}

/** Groups of errors that a page lists; more of them say nothing new. */
const ERRORS_MAX = 100

function drawAnswers({ statuses, errors, requests }: LoadView): Markup {
  const left = errors.length - ERRORS_MAX
  return html`<section><h2>Answers</h2>
${
  statuses.length === 0
    ? html`<p class="none">There were none.</p>`
    : drawTable({
        caption: 'By HTTP status and error code',
        columns: [
          { title: 'status', align: 'left' },
          { title: 'requests', align: 'right' },
          { title: 'share', align: 'right' },
        ],
        rows: statuses.map(({ name, requests: count, share }) => [
          quoteForeign(name),
          formatCount(count),
          share,
        ]),
      })
}
<h2>Errors</h2>
${
  errors.length === 0
    ? html`<p class="none">${requests.length === 0 ? 'Nothing was sent.' : 'Every request succeeded.'}</p>`
    : drawTable({
        caption: 'Requests that did not succeed, by cause',
        columns: [
          { title: 'outcome', align: 'left' },
          { title: 'status', align: 'left' },
          { title: 'message', align: 'left' },
          { title: 'requests', align: 'right' },
          { title: 'when', align: 'left' },
        ],
        rows: errors
          .slice(0, ERRORS_MAX)
          .map(({ outcome, status, message, requests: count, when }) => [
            outcome,
            quoteForeign(status),
            quoteForeign(message),
            formatCount(count),
            when,
          ]),
      })
}${left > 0 ? html`<p class="about">${formatCount(left)} further groups are left out.</p>` : NOTHING}</section>`
}

function drawGroup({ by, rows }: LoadView['groups'][number]): Markup {
  const points = ['p50', 'p90', 'p99', 'max'] as const
  return html`<section><h2>${by === 'model' ? 'By model' : 'By size of content'}</h2>${drawTable({
    caption: 'http_req_duration of each',
    columns: [
      { title: by, align: 'left' },
      { title: 'requests', align: 'right' },
      { title: 'did not succeed', align: 'right' },
      ...points.map((title) => ({ title, align: 'right' as const })),
    ],
    rows: rows.map(({ label, requests, failedShare, percentiles }) => [
      quoteForeign(label),
      requests,
      failedShare,
      ...points.map((point) => (percentiles === null ? '–' : formatMs(percentiles[point]))),
    ]),
  })}</section>
`
}

/** How this machine did: whether its figures are to be believed. */
function drawGenerator({ generator }: LoadView, buckets: readonly TimeBucket[]): Markup {
  if (generator === null) return NOTHING
  const chart = toGeneratorChart(buckets)
  return html`<section><h2>This machine: ${generator.verdict}</h2>
${drawFacts(generator.facts)}
${chart === null ? NOTHING : drawLineChart(chart)}</section>`
}
