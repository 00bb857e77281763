import { basename } from 'node:path'
import stringWidth from 'string-width'
import { LATENCY_POINTS } from '../../../shared/load/load-view.ts'
import { TREND_METRICS, type TrendMetric } from '../../../shared/load/metrics.ts'
import {
  formatCount,
  formatCounted,
  formatDuration,
  formatFigure,
  formatRate,
  formatShare,
} from '../../../shared/messages/figure-text.ts'
import { type Percentiles, type RunState, type RunSummary, toServiceUrl } from '../../../shared/run/run.ts'
import {
  formatSection,
  formatTable,
  padLeft,
  padRight,
  sectionColumns,
  type TableColumn,
  wrapWords,
} from '../terminal/layout.ts'
import { toPrintable } from '../terminal/output.ts'
import type { Terminal, Tone } from '../terminal/terminal.ts'
import { formatAppeals, formatCallbacks, formatItems, formatTerms } from './answers-section.ts'
import { formatErrors, formatTriggeredRules } from './errors-section.ts'
import { formatGenerator, formatServiceNotes, formatWarnings } from './service-section.ts'

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

/** The colour of a run's state. */
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

/** A sign, a share and the spaces around them and the state. */
const SIGN_AND_SHARE_COLUMNS = 14

/** The longest state that is usual. */
const NAME_COLUMNS = 10

/** Rows by outcome; states without rows are left out, except `succeeded`. */
export function formatRows(terminal: Terminal, { rows, to_repeat: repeat }: RunSummary): string[] {
  const { glyphs } = terminal
  const states: [number, string, string, Tone, string][] = [
    [rows.succeeded, glyphs.ok, 'succeeded', 'good', ''],
    [rows.rejected, glyphs.rejected, 'rejected', 'bad', 'the service answered an error'],
    [rows.failed, glyphs.failed, 'failed', 'warn', 'not received by the service'],
    [rows.unknown, glyphs.unknown, 'unknown', 'odd', 'sent without a usable answer, may have been accepted'],
    [rows.overdue, glyphs.unknown, 'overdue', 'odd', 'accepted, no result in time'],
    [rows.awaiting, glyphs.dot, 'awaiting', 'accent', 'accepted, waiting for the result'],
    [rows.invalid, glyphs.skipped, 'invalid', 'warn', 'failed the checks, not sent'],
    [rows.not_sent - repeat.rows, glyphs.dot, 'not sent', 'quiet', 'not sent yet'],
    [repeat.rows, glyphs.dot, 'to be repeated', 'quiet', 'sent before, to be sent again'],
  ]
  const shown = states.filter(([count, , name]) => count > 0 || name === 'succeeded')
  const countColumns = Math.max(
    ...[rows.read, ...shown.map(([count]) => count)].map((n) => formatCount(n).length),
  )
  const nameColumns = Math.max(NAME_COLUMNS, ...shown.map(([, , name]) => stringWidth(name)))
  const meaningColumns = Math.max(...shown.map(([, , , , meaning]) => stringWidth(meaning)))
  const hasRoom =
    SIGN_AND_SHARE_COLUMNS + nameColumns + countColumns + meaningColumns <= sectionColumns(terminal)
  const lines = shown.map(([count, sign, name, tone, meaning]) =>
    [
      terminal.tone(tone, `${sign} ${padRight(name, nameColumns)}`),
      padLeft(formatCount(count), countColumns),
      padLeft(formatShare(count, rows.read), 8),
      hasRoom && meaning !== '' ? ` ${terminal.tone('quiet', meaning)}` : '',
    ].join(' '),
  )
  return formatSection(terminal, 'Rows', [
    `  ${padRight('read', nameColumns)} ${padLeft(formatCount(rows.read), countColumns)}`,
    ...lines,
  ])
}

/** Requests by how they ended, and how many a second. */
export function formatRequests(terminal: Terminal, summary: RunSummary): string[] {
  const { requests } = summary
  if (requests.sent === 0) return formatSection(terminal, 'Requests', ['none sent'])
  const parts = [
    `${formatCount(requests.succeeded)} succeeded`,
    ...(requests.rejected > 0 ? [`${formatCount(requests.rejected)} rejected`] : []),
    ...(requests.failed > 0 ? [`${formatCount(requests.failed)} failed`] : []),
    ...(requests.unknown > 0 ? [`${formatCount(requests.unknown)} unknown`] : []),
    ...(requests.retried > 0 ? [`${formatCount(requests.retried)} retried`] : []),
  ]
  return [
    ...formatSection(terminal, 'Requests', [`${formatCount(requests.sent)} sent: ${parts.join(', ')}`]),
    ...formatSection(terminal, 'Throughput', [formatThroughput(summary)]),
  ]
}

/** The shortest sending time for which a rate is shown, seconds. */
const RATE_MIN_S = 0.1

function formatThroughput({ throughput, callbacks }: RunSummary): string {
  const duration = formatDuration(throughput.duration_s * 1000)
  if (throughput.duration_s < RATE_MIN_S) return `sent for only ${duration}: too short for a rate`
  const rates = `${formatRate(throughput.attempted_per_s)} requests/s, ${formatRate(throughput.succeeded_per_s)} rows`
  return callbacks === undefined
    ? `${rates} succeeded/s, over ${duration}`
    : `${rates} accepted/s, over ${duration} (excludes waiting for callbacks)`
}

/** On narrower terminals only these are shown. */
const FEW_POINTS: readonly (keyof Percentiles)[] = ['p50', 'p95', 'p99', 'max']

const FULL_COLUMNS = 96

/** A table of latency series that were measured, in milliseconds; all of them unless some are named. */
export function formatLatency(
  terminal: Terminal,
  { latency_ms }: RunSummary,
  wanted: readonly TrendMetric[] = TREND_METRICS,
): string[] {
  const measured = wanted.flatMap((name) => {
    const series: Percentiles | undefined = latency_ms[name]
    return series === undefined || series.count === 0 ? [] : [{ name, series }]
  })
  if (measured.length === 0) return []
  const isFull = terminal.columns() >= FULL_COLUMNS
  const points = LATENCY_POINTS.filter(([point]) => isFull || FEW_POINTS.includes(point))
  const columns: TableColumn[] = [
    { title: '', align: 'left' },
    { title: 'count', align: 'right' },
    ...points.map(([, title]) => ({ title, align: 'right' as const })),
  ]
  const rows = measured.map(({ name, series }) => [
    name,
    formatCount(series.count),
    ...points.map(([point]) => formatFigure(series[point])),
  ])
  return [...formatSection(terminal, 'Latency in ms', ['']), ...formatTable(terminal, columns, rows, 2)]
}
