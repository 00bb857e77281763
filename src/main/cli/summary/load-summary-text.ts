import type { LoadErrorGroup, LoadReport } from '../../../shared/load/load-report.ts'
import { type LoadNotice, toLoadView } from '../../../shared/load/load-view.ts'
import { formatDuration } from '../../../shared/messages/figure-text.ts'
import { adviseInTerminal } from '../../../shared/messages/outcome-advice.ts'
import { nameRunSource } from '../../../shared/plan/source-paths.ts'
import { toLoadSections } from '../../../shared/report/load-sections.ts'
import type { Section } from '../../../shared/report/report.ts'
import { findLoadFailure, type RunSummary, toServiceUrl, toShownState } from '../../../shared/run/run.ts'
import { hang, wrapWords } from '../terminal/layout.ts'
import { toPrintable } from '../terminal/output.ts'
import { formatReportSection, joinParts } from '../terminal/report-text.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { STATE_TONES } from './summary-text.ts'

/**
 * A load test for a person to read: first what makes the figures doubtful, then thresholds, requests,
 * latency, answers, and how this machine coped.
 */
export function formatLoadSummary(terminal: Terminal, summary: RunSummary, report: LoadReport): string {
  const { notices } = toLoadView(report)
  const sections = toLoadSections(report, (error) => adviseOnLoad(error, summary))
  const draw = (section: Section) => formatReportSection(terminal, section)
  return joinParts([
    // A load test that another process is running has not ended.
    ...notices
      .filter(({ kind }) => kind !== 'ended' || summary.state !== 'running')
      .map((notice) => formatNotice(terminal, notice)),
    formatHeading(terminal, summary, report),
    draw(sections.source),
    ...sections.requests.map(draw),
    [...draw(sections.latency), ...sections.caveats.flatMap((caveat) => formatCaveat(terminal, caveat))],
    ...sections.answers.map(draw),
  ])
}

function formatNotice(terminal: Terminal, { kind, title, text, details }: LoadNotice): string[] {
  const columns = terminal.columns()
  const [glyph, tone] =
    kind !== 'ended'
      ? ([terminal.glyphs.failed, 'warn'] as const)
      : ([terminal.glyphs.stopped, 'bad'] as const)
  return [
    ...hang(`${glyph} `, toPrintable(title), columns).map((line) => terminal.tone(tone, line)),
    ...[...details, ...(kind === 'ended' ? [] : [text])].flatMap((line) =>
      hang('  ', toPrintable(line), columns),
    ),
  ]
}

function formatHeading(terminal: Terminal, summary: RunSummary, report: LoadReport): string[] {
  const { dot, arrow } = terminal.glyphs
  const tone = findLoadFailure(summary) === null ? STATE_TONES[summary.state] : 'bad'
  const state = terminal.tone(tone, toShownState(summary))
  const measured = report.startedAt === null ? '' : ` ${dot} ${formatDuration(report.durationMs)} measured`
  const plan = report.plan.filter((phrase) => !phrase.startsWith('thresholds ')).join('; ')
  const quiet = [
    `run ${summary.run_id} ${dot} load test ${dot} ${report.operation}`,
    `${nameRunSource(summary)} ${arrow} ${toServiceUrl(summary)}`,
    ...wrapWords(plan, terminal.columns()),
  ]
  return [
    `${terminal.tone('strong', toPrintable(summary.name))} ${dot} ${state}${measured}`,
    ...quiet.map((line) => terminal.tone('quiet', toPrintable(line))),
  ]
}

function formatCaveat(terminal: Terminal, caveat: string): string[] {
  return hang('  ! ', caveat, terminal.columns()).map((line) => terminal.tone('warn', line))
}

/** Statuses whose cause is not the load itself. */
const ADVISED: ReadonlySet<number | null> = new Set([401, 403, 404, 405, 413])

function adviseOnLoad(
  { outcome, status, errorCode, message, requests }: LoadErrorGroup,
  summary: RunSummary,
): string | null {
  if (!ADVISED.has(status)) return null
  return (
    adviseInTerminal({ outcome, status, error_code: errorCode, message, rows: requests }, summary)?.text ??
    null
  )
}
