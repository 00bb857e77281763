import type { LoadReport } from '../../../../../shared/load/load-report.ts'
import {
  formatThresholdMargin,
  formatThresholdValue,
  noteUnjudged,
} from '../../../../../shared/load/threshold-text.ts'
import { formatDurationMs } from '../../../../../shared/messages/duration.ts'
import { html, type Markup, NOTHING, quoteForeign } from './markup.ts'
import { drawTable } from './table.ts'

/** What was tested, when and how; what has to be known before any figure is read stands above that. */
export function drawHead(report: LoadReport): Markup {
  const { startedAt, warmupMs, durationMs } = report
  const warmup = warmupMs === 0 ? '' : `, after ${formatDurationMs(warmupMs)} of warm-up`
  const measured =
    startedAt === null
      ? 'Nothing was measured'
      : `Measured for ${formatMeasured(durationMs)}${warmup}, from ${startedAt.slice(0, 19).replace('T', ' ')} UTC`
  return html`<header>
<h1>${quoteForeign(report.name)}</h1>
${drawNotices(report)}
<p class="about">Load test of ${quoteForeign(report.baseUrl)} · ${report.operation} · rows of ${quoteForeign(report.source)}</p>
<p class="about">${measured} · run ${report.runId} · Sluice ${report.appVersion}</p>
<p class="plan">${report.plan.join(' · ')}</p>
</header>`
}

function drawNotices({ generator, state, stopReason, fromCache, counts }: LoadReport): Markup[] {
  const notices: Markup[] = []
  if (generator.limited) {
    notices.push(html`<section class="notice warn" role="note"><h2>The machine that sent was the limit</h2>
<p>It stalled or sent late, so the figures below tell of it as well as of the service${generator.limitedSeconds === 0 ? '' : `; seconds in which it did are shaded (${generator.limitedSeconds} of them)`}.</p>
${generator.reasons.length === 0 ? NOTHING : html`<ul>${generator.reasons.map((reason) => html`<li>${reason}</li>`)}</ul>`}</section>`)
  }
  if (state !== 'completed') {
    notices.push(
      html`<section class="notice warn" role="note"><h2>The run was ${state} before its end</h2><p>${quoteForeign(toSentence(stopReason ?? 'it was stopped by hand'))}</p><p>What was measured until then is below.</p></section>`,
    )
  }
  if (generator.dropped > 0) {
    notices.push(
      html`<section class="notice warn" role="note"><h2>Due requests were dropped</h2><p>${generator.dropped.toLocaleString('en-US')} requests were due while the cap on those in flight was reached. They were never sent, so no percentile holds them.</p></section>`,
    )
  }
  if (fromCache > 0) {
    notices.push(
      html`<section class="notice" role="note"><h2>The service answered from its cache</h2><p>${fromCache.toLocaleString('en-US')} of ${counts.sent.toLocaleString('en-US')} answers came from there; their latency is the cache's.</p></section>`,
    )
  }
  return notices
}

/** The verdict: every threshold, its value, and by how much it holds or not. */
export function drawThresholds(report: LoadReport): Markup {
  const { thresholds, state } = report
  const unjudged = noteUnjudged(report)
  const note = unjudged === null ? NOTHING : html`<ul class="notes"><li>${unjudged}</li></ul>`
  if (thresholds.length === 0) {
    return html`<section><h2>Thresholds</h2><p class="none">There are none.</p>${note}</section>`
  }
  const crossed = thresholds.filter(({ ok }) => !ok).length
  const verdict =
    crossed === 0
      ? html`<span class="ok">✓ every threshold ${state === 'completed' ? 'holds' : 'held until then'}</span>`
      : html`<span class="bad">✗ ${crossed} of ${thresholds.length} do not hold</span>`
  const rows = thresholds.map((result) => [
    result.ok ? html`<span class="ok">✓ holds</span>` : html`<span class="bad">✗ crossed</span>`,
    html`<code>${result.expression}</code>`,
    formatThresholdValue(result),
    formatThresholdMargin(result),
  ])
  return html`<section><h2>Thresholds: ${verdict}</h2>
${drawTable({
  caption: 'Each threshold, what was measured, and how far that is from the limit',
  columns: [
    { title: '', align: 'left' },
    { title: 'threshold', align: 'left' },
    { title: 'measured', align: 'right' },
    { title: 'by how much', align: 'left' },
  ],
  rows,
})}${note}</section>`
}

function toSentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`
}

function formatMeasured(durationMs: number): string {
  return formatDurationMs(
    durationMs >= 10_000 ? Math.round(durationMs / 1000) * 1000 : Math.round(durationMs),
  )
}
