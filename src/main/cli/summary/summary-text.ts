import { basename } from 'node:path'
import { formatCount, formatCounted, formatDuration } from '../../../shared/messages/figure-text.ts'
import { type RunSummary, toServiceUrl } from '../../../shared/run/run.ts'
import { toPrintable } from '../terminal/printable.ts'
import { wrapWords } from '../terminal/table.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { formatAppeals, formatCallbacks, formatItems, formatTerms } from './answers-section.ts'
import { formatErrors } from './errors-section.ts'
import { formatLatency } from './latency-section.ts'
import { formatRequests, formatRows } from './rows-section.ts'
import { formatTriggeredRules } from './rules-section.ts'
import { formatGenerator, formatServiceNotes, formatWarnings } from './service-section.ts'
import { STATE_TONES } from './state-tone.ts'

/** The operation with what it has a choice of: mode and version for tasks, mode for indexes. */
function formatOperation({ operation, mode, api, target }: RunSummary): string {
  if (operation === 'task') return `${operation} ${mode} ${api}`
  const name = operation.startsWith('index-') ? `${operation} ${mode}` : operation
  return target === undefined ? name : `${name} "${target}"`
}

/** How long a run took: with the wait for callbacks once it has ended, else the time it has been sending. */
function toDurationMs({ throughput, callbacks, started_at, ended_at }: RunSummary): number {
  const sendingMs = throughput.duration_s * 1000
  if (callbacks === undefined || started_at === null || ended_at === null) return sendingMs
  return Math.max(sendingMs, Date.parse(ended_at) - Date.parse(started_at))
}

function formatHeading(terminal: Terminal, summary: RunSummary): string[] {
  const { dot, arrow, stopped } = terminal.glyphs
  const lines: string[] = []
  if (summary.stop_reason !== null) {
    const reason = wrapWords(`Stopped: ${toPrintable(summary.stop_reason)}`, terminal.columns() - 2)
    lines.push(
      ...reason.map((line, index) => terminal.tone('bad', `${index === 0 ? stopped : ' '} ${line}`)),
      '',
    )
  }
  const state = terminal.tone(STATE_TONES[summary.state], summary.state)
  const duration = summary.started_at === null ? '' : ` ${dot} ${formatDuration(toDurationMs(summary))}`
  const parent = summary.parent_run_id === null ? '' : ` ${dot} retry of ${summary.parent_run_id}`
  lines.push(
    `${terminal.tone('strong', toPrintable(summary.name))} ${dot} ${state}${duration}`,
    terminal.tone('quiet', toPrintable(`run ${summary.run_id} ${dot} ${formatOperation(summary)}${parent}`)),
    terminal.tone('quiet', toPrintable(`${basename(summary.source)} ${arrow} ${toServiceUrl(summary)}`)),
  )
  for (const line of formatRetries(summary)) lines.push(terminal.tone('quiet', line))
  return lines
}

/** What belongs to the run: its retries, or where it is a retry, the whole. */
function formatRetries({ retries, whole_run: whole }: RunSummary): string[] {
  const shown = retries.map(
    ({ run_id, state, rows }) =>
      `with retry ${run_id}: ${state}, ${formatCount(rows.succeeded)} of ${formatCounted(rows.read, 'row')} succeeded`,
  )
  if (whole === null) return shown
  const { read, succeeded } = whole.rows
  return [
    `part of run ${whole.run_id}: ${formatCount(succeeded)} of ${formatCounted(read, 'row')} succeeded in total`,
    ...shown,
  ]
}

/** The whole run for a person to read: first what stopped it, then rows, requests, latency, rules, errors. */
export function formatSummary(terminal: Terminal, summary: RunSummary): string {
  const parts = [
    formatHeading(terminal, summary),
    summary.generator.limited ? formatGenerator(terminal, summary) : [],
    formatWarnings(terminal, summary),
    formatRows(terminal, summary),
    [
      ...formatTerms(terminal, summary),
      ...formatItems(terminal, summary),
      ...formatAppeals(terminal, summary),
    ],
    [
      ...formatRequests(terminal, summary),
      ...formatCallbacks(terminal, summary),
      ...formatServiceNotes(terminal, summary),
    ],
    formatLatency(terminal, summary),
    formatTriggeredRules(terminal, summary),
    formatErrors(terminal, summary),
    summary.generator.limited ? [] : formatGenerator(terminal, summary),
  ]
  return joinParts(parts)
}

/** A run in a few lines: rows, what was answered of them, callbacks and how long they took. */
export function formatBriefSummary(terminal: Terminal, summary: RunSummary): string {
  return joinParts([
    formatHeading(terminal, summary),
    [
      ...formatRows(terminal, summary),
      ...formatTerms(terminal, summary),
      ...formatItems(terminal, summary),
      ...formatAppeals(terminal, summary),
      ...formatCallbacks(terminal, summary),
    ],
    formatLatency(terminal, summary, ['http_req_duration', 'callback_latency']),
  ])
}

function joinParts(parts: readonly (readonly string[])[]): string {
  return parts
    .filter((part) => part.length > 0)
    .map((part) => part.join('\n'))
    .join('\n\n')
}
