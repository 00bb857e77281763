import { describeLimited, formatPercentileName } from '../../../../shared/load/compare-text.ts'
import type { DifferenceComparison, LoadComparison } from '../../../../shared/load/load-comparison.ts'
import type { LoadReport } from '../../../../shared/load/load-report.ts'
import { type LoadView, toLoadView } from '../../../../shared/load/load-view.ts'
import { formatCount, formatFigure } from '../../../../shared/messages/figure-text.ts'
import { toPlanDifferencesTable } from '../../../../shared/report/comparison-report.ts'
import { GROUP_TITLES, toGroupTable, toStagesTable } from '../../../../shared/report/load-sections.ts'
import { code, count, foreign, ms, number, text } from '../../../../shared/report/report.ts'
import { listWarningNotices, toLoadHead } from '../../../../shared/report/report-head.ts'
import { toFact } from '../../../../shared/report/summary-report.ts'
import { type TimeBucket, toBuckets, toGeneratorChart } from '../../page/chart-series.ts'
import { drawLineChart } from '../../page/charts.ts'
import { drawCards, drawLatencies, drawTimeline } from '../../page/figures.ts'
import { drawList, html, type Markup, NOTHING, quoteForeign } from '../../page/markup.ts'
import { formatPage } from '../../page/page.ts'
import { drawFacts, drawHead, drawTable } from '../../page/report-markup.ts'

/** A load test as a page, with its caveats above the figures. */
export function formatLoadPage(report: LoadReport): string {
  const view = toLoadView(report)
  const buckets = toBuckets(report.seconds)
  return formatPage({
    title: `${report.name} · load test`,
    sections: [
      drawHead(
        report.name,
        [...view.notices, ...listWarningNotices(report.warnings ?? [])],
        { ...toLoadHead(report, 'page'), notes: [report.plan.join(' · ')] },
        view.caveats,
      ),
      drawThresholds(view),
      drawRequests(view),
      drawLatencies(report, view.latencies),
      drawTimeline(report, buckets),
      drawStages(view),
      drawAnswers(view),
      ...view.groups.map(drawGroup),
      ...(report.comparison === null ? [] : [drawComparison(report.comparison)]),
      drawGenerator(view, buckets),
    ],
    footer:
      'Percentiles are from HDR histograms of microseconds with three figures. response_time and start_lag count from the scheduled time, so they include whatever delays the sending.',
  })
}

function drawThresholds({ thresholds: { rows, verdict, isMet, note } }: LoadView): Markup {
  if (rows.length === 0) {
    return html`<section><h2>Thresholds</h2><p class="none">${note ?? 'No thresholds set.'}</p></section>`
  }
  const notes = drawList(note === null ? [] : [note])
  return html`<section><h2>Thresholds: <span class="${isMet ? 'ok' : 'bad'}">${isMet ? '✓' : '✗'} ${verdict}</span></h2>
${drawTable({
  caption: 'Each threshold, what was measured, and how far that is from the limit',
  columns: [text(''), code('threshold'), number('measured'), text('by how much')],
  rows: rows.map(({ expression, isMet: isHeld, word, value, margin }) => [
    isHeld ? { text: word, sign: 'held', tone: 'good' } : { text: word, sign: 'crossed', tone: 'bad' },
    ...[expression, value, margin],
  ]),
})}${notes}</section>`
}

function drawRequests({ requests, traffic }: LoadView): Markup {
  if (requests.length === 0) return html`<section><h2>Requests</h2><p class="none">None sent.</p></section>`
  return html`<section><h2>Requests</h2>
${drawCards(requests)}
${drawFacts(traffic.map(toFact))}</section>`
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
        columns: [foreign('status'), count('requests'), number('share')],
        rows: statuses.map(({ name, requests: sent, share }) => [name, sent, share]),
      })
}
<h2>Errors</h2>
${
  errors.length === 0
    ? html`<p class="none">${requests.length === 0 ? 'Nothing was sent.' : 'Every request succeeded.'}</p>`
    : drawTable({
        caption: 'Requests that did not succeed, by cause',
        columns: [text('outcome'), foreign('status'), foreign('message'), count('requests'), text('when')],
        rows: errors
          .slice(0, ERRORS_MAX)
          .map(({ outcome, status, message, more, requests: sent, when }) => [
            outcome,
            status,
            `${message}${more}`,
            sent,
            when,
          ]),
      })
}${left > 0 ? html`<p class="about">${formatCount(left)} further groups are left out.</p>` : NOTHING}</section>`
}

function drawStages({ stages }: LoadView): Markup {
  if (stages.length === 0) return NOTHING
  const caption = 'Requests by stage, with their http_req_duration'
  return html`<section><h2>Stages</h2>${drawTable({ ...toStagesTable(stages, 'page'), caption })}</section>
`
}

function drawGroup(group: LoadView['groups'][number]): Markup {
  const table = { ...toGroupTable(group, 'page'), caption: 'http_req_duration of each' }
  return html`<section><h2>${GROUP_TITLES[group.by]}</h2>${drawTable(table)}</section>
`
}

/** How this machine performed: whether its figures can be trusted. */
function drawGenerator({ generator }: LoadView, buckets: readonly TimeBucket[]): Markup {
  if (generator === null) return NOTHING
  const chart = toGeneratorChart(buckets)
  return html`<section><h2>This machine: ${generator.verdict}</h2>
${drawFacts(generator.facts.map(toFact))}
${chart === null ? NOTHING : drawLineChart(chart)}</section>`
}

/** This run compared with an earlier one. */
function drawComparison(comparison: LoadComparison): Markup {
  const { a, b, sentence, caveats, series, planDifferences, limited } = comparison
  return html`<section><h2>Beside an earlier run</h2>
<p>A is ${quoteForeign(a)}, B is ${quoteForeign(b)}.</p>
<p class="sentence">${limited.length === 0 ? '' : `${describeLimited(limited)}. `}${sentence}</p>
${drawList(caveats)}
${series.map(({ metric, percentiles }) =>
  drawTable({
    caption: `${metric}: each percentile of both, and how many times A's B's is, with 99 % confidence`,
    columns: [text(''), ms('A'), ms('B'), number('B / A'), number('between'), text('verdict')],
    rows: percentiles.map(({ percentile, aMs, bMs, ratio, low, high, verdict }) => [
      ...[formatPercentileName(percentile), aMs, bMs, ratio.toFixed(3)],
      ...[`${low?.toFixed(3) ?? 'no bound'} and ${high?.toFixed(3) ?? 'no bound'}`, verdict],
    ]),
  }),
)}
${drawTable({
  caption: 'Errors and throughput, and the difference with 99 % confidence',
  columns: [text(''), number('A'), number('B'), number('B − A'), number('between')],
  rows: [
    toDifferenceRow('did not succeed, %', comparison.failedShare, 100),
    toDifferenceRow('succeeded a second', comparison.succeededPerS, 1),
  ],
})}
${
  planDifferences.length === 0
    ? html`<p class="about">The plans are the same.</p>`
    : drawTable({ ...toPlanDifferencesTable(planDifferences), caption: 'What the plans say differently' })
}</section>`
}

function toDifferenceRow(name: string, one: DifferenceComparison, factor: number): string[] {
  const text = (value: number | null) => (value === null ? 'no bound' : formatFigure(value * factor))
  return [name, text(one.a), text(one.b), text(one.difference), `${text(one.low)} and ${text(one.high)}`]
}
