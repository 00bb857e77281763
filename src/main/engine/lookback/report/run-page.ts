import type { LoadReport } from '../../../../shared/load/load-report.ts'
import { listLatencies } from '../../../../shared/load/load-view.ts'
import type { Evaluation } from '../../../../shared/lookback/evaluation.ts'
import type { RunReport } from '../../../../shared/lookback/run-report.ts'
import { formatCounted, formatDuration } from '../../../../shared/messages/figure-text.ts'
import { toEvaluationReport } from '../../../../shared/report/evaluation-report.ts'
import { listRunNotices, toRunHead } from '../../../../shared/report/report-head.ts'
import { toExamplesTable, toFailuresTable, toRulesTable } from '../../../../shared/report/run-tables.ts'
import { listRequestFacts, toCounts } from '../../../../shared/report/summary-report.ts'
import type { RunSummary } from '../../../../shared/run/run.ts'
import { listAnswers, listOutcomes, listRunFigures } from '../../../../shared/run/run-view.ts'
import type { TimeBucket } from '../../page/chart-series.ts'
import { drawCards, drawLatencies, drawTimeline } from '../../page/figures.ts'
import { html, type Markup, NOTHING } from '../../page/markup.ts'
import { formatPage } from '../../page/page.ts'
import { drawFacts, drawHead, drawReportSection, drawTable } from '../../page/report-markup.ts'

/** Whole distributions of latencies, as a load test's report has them. */
export type Histograms = LoadReport['histograms']

/** A bulk run as a page, with its caveats above all figures. */
export function formatRunPage(report: RunReport, histograms: Histograms): string {
  const { summary, evaluation } = report
  const latencyMs = summary.latency_ms
  return formatPage({
    title: `${summary.name} · report`,
    sections: [
      drawHead(summary.name, listRunNotices(summary), toRunHead(report, 'page')),
      drawOutcomes(summary),
      drawFailures(report),
      ...(report.rows_without_rule === null ? [] : [drawRules(report)]),
      ...(evaluation === null ? [] : [drawEvaluation(evaluation, report.has_content)]),
      ...(summary.requests.sent === 0
        ? []
        : [drawLatencies({ histograms, latencyMs }, listLatencies(latencyMs)), drawCourse(report)]),
    ],
    footer: `Each row counts once, with its newest answer. Latencies are from HDR histograms of microseconds with three figures. ${
      report.has_content
        ? 'This report contains cells of the source and messages of the service.'
        : 'The content of rows is left out.'
    }`,
  })
}

function drawOutcomes(summary: RunSummary): Markup {
  const answers = listAnswers(summary)
  if (summary.rows.read === 0) {
    return html`<section><h2>Rows</h2><p class="none">The source has no rows.</p></section>`
  }
  return html`<section><h2>Rows</h2>
${drawCards(listRunFigures(summary))}
${drawTable({ ...toCounts(listOutcomes(summary), summary.rows.read), caption: 'Rows by outcome' })}
${drawFacts(listRequestFacts(summary))}
${answers === null || answers.answers.length === 0 ? NOTHING : drawTable({ ...toCounts(answers.answers, summary.rows.read), caption: `${answers.title} by answer` })}</section>`
}

/** How right the rules were, by labels. */
function drawEvaluation(evaluation: Evaluation, hasContent: boolean): Markup {
  return html`<section><h2>Evaluation</h2>
${toEvaluationReport(evaluation, 'page', hasContent).map(drawReportSection)}</section>`
}

function drawFailures(report: RunReport): Markup {
  const { failures, further_failures: further, summary } = report
  if (failures.length === 0) {
    const isSent = summary.rows.succeeded > 0
    return isSent ? html`<section><h2>Failures by cause</h2><p class="none">None.</p></section>` : NOTHING
  }
  return html`<section><h2>Failures by cause</h2>
${drawTable(toFailuresTable(report))}
${further.causes === 0 ? NOTHING : html`<p class="about">${formatCounted(further.causes, 'further cause')} with ${formatCounted(further.rows, 'row')}.</p>`}
${report.has_content ? drawTable(toExamplesTable(report)) : NOTHING}</section>`
}

function drawRules(report: RunReport): Markup {
  if (report.summary.rows.succeeded === 0) return NOTHING
  const { table, notes } = toRulesTable(report)
  return html`<section><h2>Triggered rules</h2>
${drawTable(table)}
${notes.map((note) => html`<p class="about">${note}</p>`)}</section>`
}

function drawCourse({ summary, course }: RunReport): Markup {
  const buckets = course.points.map(
    ({ from_s, to_s, latency_ms, limited, ...counts }): TimeBucket => ({
      fromS: from_s,
      toS: to_s,
      seconds: [
        {
          second: from_s,
          counts,
          latencyMs: latency_ms,
          limited,
          scheduled: null,
          dropped: 0,
          eventLoopMaxMs: null,
        },
      ],
    }),
  )
  const pauses = course.pauses.map(
    ({ after_s, length_s }) =>
      `A pause of ${formatDuration(length_s * 1000)} after ${formatDuration(after_s * 1000)} is left out.`,
  )
  return drawTimeline(
    { latencyMs: summary.latency_ms, rates: { scheduledPerS: null }, generator: { dropped: 0 } },
    buckets,
    pauses.length > 5 ? [`${pauses.length} pauses are left out.`] : pauses,
  )
}
