import type { LoadReport } from '../../../../shared/load/load-report.ts'
import { listLatencies } from '../../../../shared/load/load-view.ts'
import type { Evaluation } from '../../../../shared/lookback/evaluation.ts'
import type { Failure, RunReport } from '../../../../shared/lookback/run-report.ts'
import { formatCount, formatCounted, formatDuration } from '../../../../shared/messages/figure-text.ts'
import { listReadAs } from '../../../../shared/messages/reading-messages.ts'
import { listUsedMapping } from '../../../../shared/messages/used-mapping-words.ts'
import { nameSource } from '../../../../shared/plan/source-paths.ts'
import { nameRow } from '../../../../shared/plan/source-place.ts'
import { toEvaluationReport } from '../../../../shared/report/evaluation-report.ts'
import { bar, count, number, share, text } from '../../../../shared/report/report.ts'
import { listRequestFacts, toCounts } from '../../../../shared/report/summary-report.ts'
import { type RunSummary, toServiceUrl } from '../../../../shared/run/run.ts'
import {
  describeOperation,
  listAnswers,
  listOutcomes,
  listRunFigures,
  toDurationMs,
} from '../../../../shared/run/run-view.ts'
import type { TimeBucket } from '../../page/chart-series.ts'
import { drawCards, drawLatencies, drawNotice, drawTimeline, toRowsNotice } from '../../page/figures.ts'
import { html, type Markup, NOTHING, quoteForeign } from '../../page/markup.ts'
import { formatPage } from '../../page/page.ts'
import { drawFacts, drawReportSection, drawTable } from '../../page/report-markup.ts'

/** Whole distributions of latencies, as a load test's report has them. */
export type Histograms = LoadReport['histograms']

/** A bulk run as a page. What has to be known before any figure is read stands above them. */
export function formatRunPage(report: RunReport, histograms: Histograms): string {
  const { summary, evaluation } = report
  const latencyMs = summary.latency_ms
  return formatPage({
    title: `${summary.name} · report`,
    sections: [
      drawHead(report),
      drawOutcomes(summary),
      drawFailures(report),
      ...(report.rows_without_rule === null ? [] : [drawRules(summary, report.rows_without_rule)]),
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

/** What was sent, where, when and how it ended. */
function drawHead(report: RunReport): Markup {
  const { summary } = report
  const { started_at: startedAt, retries, whole_run: whole } = summary
  const sent =
    startedAt === null || summary.requests.sent === 0
      ? 'Nothing was sent'
      : `Sent from ${toUtc(startedAt)}, for ${formatDuration(toDurationMs(summary))}`
  return html`<header>
<h1>${quoteForeign(summary.name)}</h1>
${listNotices(summary).map(drawNotice)}
<p class="about">${quoteForeign(describeOperation(summary))} · rows of ${quoteForeign(nameSource({ path: summary.source }))} · ${quoteForeign(toServiceUrl(summary))}</p>
${listReadAs(summary.source_read?.read_as ?? [], 'window').map(
  (line) => html`<p class="about">Read as ${quoteForeign(line)}</p>
`,
)}${
  summary.mapping === undefined
    ? NOTHING
    : html`<p class="about">${quoteForeign(listUsedMapping(summary.mapping).join(' · '))}</p>
`
}<p class="about">${sent} · run ${summary.run_id} · Sluice ${report.app_version}</p>
${whole === null ? NOTHING : html`<p class="about">A retry of run ${whole.run_id}, in which ${formatCount(whole.rows.succeeded)} of ${formatCounted(whole.rows.read, 'row')} succeeded in total.</p>`}
${retries.map(
  ({ run_id, created_at, state, rows }) =>
    html`<p class="about">With retry ${run_id} from ${toUtc(created_at)}: ${state}, ${formatCount(rows.succeeded)} of ${formatCounted(rows.read, 'row')} succeeded.</p>
`,
)}</header>`
}

function listNotices({ state, stop_reason: reason, stop_advice: advice, generator, warnings }: RunSummary) {
  return [
    ...(state === 'completed'
      ? []
      : [
          {
            title: reason === null ? NOTICES[state].title : `Stopped: ${reason}`,
            text: advice === null ? NOTICES[state].text : `${advice} ${NOTICES[state].text}`,
            details: [],
          },
        ]),
    ...(generator.limited
      ? [
          {
            title: 'This machine was the bottleneck at times',
            text: 'It stalled or sent late, so latencies measure it as well as the service.',
            details: generator.reasons ?? [],
          },
        ]
      : []),
    ...warnings
      .filter(({ rows }) => rows === undefined)
      .map(({ message }) => ({ title: 'Warning', text: message, details: [] })),
    ...toRowsNotice(warnings),
  ]
}

const NOTICES = {
  running: { title: 'Still running', text: 'The run had not ended when this report was written.' },
  interrupted: {
    title: 'The run was interrupted before its end',
    text: 'It can be resumed. The figures show what was done until then.',
  },
  stopped: {
    title: 'The run was stopped before its end',
    text: 'The figures show what was done until then.',
  },
} as const

function toUtc(iso: string): string {
  return `${iso.slice(0, 19).replace('T', ' ')} UTC`
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
  const isRepeated = failures.filter(({ outcome }) => outcome === 'invalid').length > 1
  return html`<section><h2>Failures by cause</h2>
${drawTable({
  caption: `Rows that did not succeed, and the first of each cause${isRepeated ? '; a row that failed several checks counts in each' : ''}`,
  columns: [count('rows'), share('share'), text('outcome'), text('cause'), text('rows such as')],
  rows: failures.map((failure) => [
    ...[failure.rows, failure.rows / Math.max(1, summary.rows.read), failure.outcome],
    ...[drawCause(failure), failure.examples.map(nameRow).join(', ')],
  ]),
})}
${further.causes === 0 ? NOTHING : html`<p class="about">${formatCounted(further.causes, 'further cause')} with ${formatCounted(further.rows, 'row')}.</p>`}
${report.has_content ? drawExamples(report) : NOTHING}</section>`
}

function drawCause({ status, error_code: code, message, further_messages, advice }: Failure): Markup {
  const name = [status === null ? '' : String(status), code ?? ''].filter((part) => part !== '').join(' ')
  const others =
    further_messages === 0 ? NOTHING : html` (and ${formatCounted(further_messages, 'other message')})`
  return html`${name === '' ? NOTHING : html`<code>${name}</code> `}${quoteForeign(message)}${others}${advice === null ? NOTHING : html`<span class="meaning">${advice}</span>`}`
}

/** Rows of each cause that are shown with their cells. */
const SHOWN_ROWS = 3

/** Characters of a cell that are shown. */
const CELL_MAX = 300

function drawExamples({ failures, columns }: RunReport): Markup {
  const names = columns ?? []
  return drawTable({
    caption: 'The first rows of each cause, with their cells',
    columns: [number('row'), text('cause'), text('cells')],
    rows: failures.flatMap((failure) =>
      failure.examples
        .slice(0, SHOWN_ROWS)
        .map(({ cells, ...named }) => [
          nameRow(named),
          failure.error_code ?? failure.outcome,
          drawCells(cells ?? [], names),
        ]),
    ),
  })
}

/** The cells of a row that are not empty, each behind the name of its column. */
function drawCells(cells: readonly string[], names: readonly string[]): Markup {
  return html`${cells.flatMap((cell, index) =>
    cell === ''
      ? []
      : [
          html`<span class="cell"><span class="unit">${quoteForeign(names[index] ?? String(index + 1))}</span> ${quoteForeign(cell.length > CELL_MAX ? `${cell.slice(0, CELL_MAX).toWellFormed()}…` : cell)}</span>`,
        ],
  )}`
}

const RULES_MAX = 200

function drawRules({ rows, triggered_rules: rules }: RunSummary, without: number): Markup {
  if (rows.succeeded === 0) return NOTHING
  const drawRow = (name: Markup | string, triggered: number) => {
    const part = triggered / rows.succeeded
    return [name, triggered, part, part]
  }
  const left = rules.length - RULES_MAX
  return html`<section><h2>Triggered rules</h2>
${drawTable({
  caption: `Of ${formatCounted(rows.succeeded, 'row')} that succeeded; a row can trigger several rules`,
  columns: [text('rule'), count('rows'), share('share'), bar('')],
  rows: [
    ...rules
      .slice(0, RULES_MAX)
      .map(({ rule_id: id, rule_name: name, rows: triggered }) =>
        drawRow(
          name === ''
            ? quoteForeign(id)
            : html`${quoteForeign(name)}<span class="meaning">${quoteForeign(id)}</span>`,
          triggered,
        ),
      ),
    drawRow(rules.length === 0 ? 'none' : 'no rule', without),
  ],
})}
${left > 0 ? html`<p class="about">${formatCounted(left, 'further rule')} left out.</p>` : NOTHING}</section>`
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
