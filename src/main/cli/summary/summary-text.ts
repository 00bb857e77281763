import { formatCount, formatCounted, formatDuration } from '../../../shared/messages/figure-text.ts'
import { formatMinute } from '../../../shared/messages/moment-text.ts'
import { nameRunSource } from '../../../shared/plan/source-paths.ts'
import type { Section, Tone } from '../../../shared/report/report.ts'
import { toBriefReport, toSummaryReport } from '../../../shared/report/summary-report.ts'
import {
  listRetries,
  type RunState,
  type RunSummary,
  toServiceUrl,
  toShownState,
} from '../../../shared/run/run.ts'
import { describeExtent, describeOperation, toDurationMs } from '../../../shared/run/run-view.ts'
import { formatStop } from '../../../shared/run/snapshot.ts'
import { hang, wrapWords } from '../terminal/layout.ts'
import { toPrintable } from '../terminal/output.ts'
import { formatReportSection, joinParts } from '../terminal/report-text.ts'
import type { Terminal } from '../terminal/terminal.ts'

/** The whole run for a person to read: first what stopped it, then rows, requests, latency, rules, errors. */
export function formatSummary(terminal: Terminal, summary: RunSummary): string {
  return formatBelow(terminal, summary, toSummaryReport(summary, terminal.commandPrefix))
}

/** A run in a few lines: rows, what was answered of them, callbacks and how long they took. */
export function formatBriefSummary(terminal: Terminal, summary: RunSummary): string {
  return formatBelow(terminal, summary, toBriefReport(summary))
}

function formatBelow(terminal: Terminal, summary: RunSummary, sections: readonly Section[]): string {
  const parts = sections.map((section) => formatReportSection(terminal, section))
  return joinParts([formatHeading(terminal, summary), ...parts])
}

export const STATE_TONES: Readonly<Record<RunState, Tone>> = {
  running: 'accent',
  completed: 'good',
  stopped: 'bad',
  interrupted: 'warn',
}

function formatHeading(terminal: Terminal, summary: RunSummary): string[] {
  const { dot, arrow, stopped } = terminal.glyphs
  const lines: string[] = []
  if (summary.stop_reason !== null) {
    const reason = `Stopped: ${toPrintable(formatStop(summary.stop_reason, summary.stop_advice))}`
    lines.push(
      ...hang(`${stopped} `, reason, terminal.columns()).map((line) => terminal.tone('bad', line)),
      '',
    )
  }
  const state = terminal.tone(STATE_TONES[summary.state], toShownState(summary))
  const duration = summary.started_at === null ? '' : ` ${dot} ${formatDuration(toDurationMs(summary))}`
  const extent = describeExtent(summary)
  const parent = summary.parent_run_id === null ? '' : ` ${dot} retry of ${summary.parent_run_id}`
  lines.push(
    `${terminal.tone('strong', toPrintable(summary.name))} ${dot} ${state}${extent === null ? '' : `, ${extent}`}${duration}`,
    terminal.tone(
      'quiet',
      toPrintable(`run ${summary.run_id} ${dot} ${describeOperation(summary)}${parent}`),
    ),
    terminal.tone('quiet', toPrintable(`${nameRunSource(summary)} ${arrow} ${toServiceUrl(summary)}`)),
  )
  for (const line of formatRetries(summary)) lines.push(terminal.tone('quiet', line))
  const { tags = [], note } = summary
  if (tags.length > 0) lines.push(terminal.tone('quiet', toPrintable(`tags: ${tags.join(', ')}`)))
  if (note !== undefined) {
    for (const line of wrapWords(`note: ${toPrintable(note)}`, terminal.columns()))
      lines.push(terminal.tone('quiet', line))
  }
  return lines
}

/** Runs that belong to this one: its retries or, for a retry, the whole run. */
function formatRetries(summary: RunSummary): string[] {
  const { run_id: runId, retries, whole_run: whole } = summary
  const shown = [
    ...listRetries(summary)
      .filter((session) => session.run_id === runId)
      .map(({ kind, started_at, rows_taken: taken, requests }) => {
        const succeeded = `${formatCount(requests.succeeded)} of ${formatCounted(requests.sent, 'request')} succeeded`
        return `${kind === 'correction' ? 'corrected' : 'retried'} ${formatMinute(started_at)}: ${formatCounted(taken, 'row')}, ${succeeded}`
      }),
    ...retries.map(
      ({ run_id, state, phase = state, rows }) =>
        `with retry ${run_id}: ${phase}, ${formatCount(rows.succeeded)} of ${formatCounted(rows.read, 'row')} succeeded`,
    ),
  ]
  if (whole === null) return shown
  const { read, succeeded } = whole.rows
  return [
    `part of run ${whole.run_id}: ${formatCount(succeeded)} of ${formatCounted(read, 'row')} succeeded in total`,
    ...shown,
  ]
}
