import type { LoadReport } from '../load/load-report.ts'
import type { RunReport } from '../lookback/run-report.ts'
import { toEvaluationReport } from './evaluation-report.ts'
import { toLoadSections } from './load-sections.ts'
import { formatMarkdown, formatMarkdownHeading } from './markdown.ts'
import type { Section } from './report.ts'
import { toLoadHead, toRunHead } from './report-head.ts'
import { toSummaryReport } from './summary-report.ts'

/** How a document begins: at the top of a file, or below earlier content. */
interface DocumentOptions {
  level: 1 | 2
}

/** A bulk run as a Markdown document. If the report has no content, nothing in the document quotes a cell. */
export function formatRunMarkdown(report: RunReport, { level }: DocumentOptions = { level: 1 }): string {
  const { summary, evaluation, has_content: hasContent } = report
  return formatDocument(level, summary.name, [
    toRunHead(report, 'document'),
    ...toSummaryReport(summary, ''),
    ...(evaluation === null ? [] : toEvaluationReport(evaluation, 'page', hasContent)),
  ])
}

export function formatLoadMarkdown(report: LoadReport, { level }: DocumentOptions = { level: 1 }): string {
  const { source, requests, latency, caveats, answers } = toLoadSections(report)
  return formatDocument(level, report.name, [
    toLoadHead(report, 'document'),
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
