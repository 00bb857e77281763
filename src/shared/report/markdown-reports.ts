import type { LoadReport } from '../load/load-report.ts'
import { toLoadView } from '../load/load-view.ts'
import type { RunReport } from '../lookback/run-report.ts'
import { formatCount, formatCounted, formatDuration } from '../messages/figure-text.ts'
import { nameRunSource } from '../plan/source-paths.ts'
import { type RunSummary, toServiceUrl } from '../run/run.ts'
import { describeOperation, describeTrial, toDurationMs } from '../run/run-view.ts'
import { toEvaluationReport } from './evaluation-report.ts'
import { toLoadSections } from './load-sections.ts'
import { formatMarkdown, formatMarkdownHeading } from './markdown.ts'
import { type Line, quote, type Section } from './report.ts'
import { toSummaryReport } from './summary-report.ts'

/** How a document begins: at the top of a file, or below what others wrote before. */
interface DocumentOptions {
  level: 1 | 2
}

/** A bulk run as a Markdown document. Without content in the report, nothing of it quotes a cell. */
export function formatRunMarkdown(report: RunReport, { level }: DocumentOptions = { level: 1 }): string {
  const { summary, evaluation, has_content: hasContent } = report
  return formatDocument(level, summary.name, [
    toRunHead(report),
    ...toSummaryReport(summary, ''),
    ...(evaluation === null ? [] : toEvaluationReport(evaluation, 'page', hasContent)),
  ])
}

export function formatLoadMarkdown(report: LoadReport, { level }: DocumentOptions = { level: 1 }): string {
  const { source, requests, latency, caveats, answers } = toLoadSections(report)
  return formatDocument(level, report.name, [
    toLoadHead(report),
    ...requests,
    latency,
    { warnings: caveats },
    ...answers,
    source,
  ])
}

function formatDocument(level: 1 | 2, title: string, sections: readonly Section[]): string {
  return `${formatMarkdownHeading(level, title)}\n\n${formatMarkdown(sections)}`
}

function toRunHead({ summary, app_version: version }: RunReport): Section {
  const { state, started_at: startedAt, stop_reason: reason, stop_advice: advice } = summary
  const trial = describeTrial(summary)
  const duration = startedAt === null ? '' : ` · ${formatDuration(toDurationMs(summary))}`
  const stopped = reason === null ? [] : [`Stopped: ${reason}${advice === null ? '' : `. ${advice}`}`]
  return {
    warnings: stopped,
    lines: [
      [{ text: state, tone: 'strong' }, `${trial === null ? '' : `, ${trial}`}${duration}`],
      toPlace(summary, describeOperation(summary)),
      `run ${summary.run_id} · Sluice ${version}`,
      ...listRetries(summary),
    ],
  }
}

function toPlace(summary: RunSummary, what: string): Line {
  return [`${what} · rows of `, quote(nameRunSource(summary)), ' to ', quote(toServiceUrl(summary))]
}

function listRetries({ retries, whole_run: whole }: RunSummary): string[] {
  return [
    ...(whole === null
      ? []
      : [
          `A retry of run ${whole.run_id}, in which ${formatCount(whole.rows.succeeded)} of ${formatCounted(whole.rows.read, 'row')} succeeded in total.`,
        ]),
    ...retries.map(
      ({ run_id, state, rows }) =>
        `With retry ${run_id}: ${state}, ${formatCount(rows.succeeded)} of ${formatCounted(rows.read, 'row')} succeeded.`,
    ),
  ]
}

function toLoadHead(report: LoadReport): Section {
  const { state, startedAt, durationMs, thresholds } = report
  const { notices, thresholds: judged } = toLoadView(report)
  const measured = startedAt === null ? '' : ` · ${formatDuration(durationMs)} measured`
  const verdict =
    thresholds.length === 0 ? '' : ` · thresholds: ${judged.isMet ? '✓' : '✗'} ${judged.verdict}`
  return {
    warnings: notices.map(({ title, details }) => [title, ...details].join('. ')),
    lines: [
      [{ text: state, tone: 'strong' }, `${measured}${verdict}`],
      [`load test · ${report.operation} · rows of `, quote(report.source), ' to ', quote(report.baseUrl)],
      report.plan.filter((phrase) => !phrase.startsWith('thresholds ')).join('; '),
      `run ${report.runId} · Sluice ${report.appVersion}`,
    ],
  }
}
