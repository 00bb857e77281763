import stringWidth from 'string-width'
import { LATENCY_POINTS } from '../../../shared/load/load-view.ts'
import { TREND_METRICS, type TrendMetric } from '../../../shared/load/metrics.ts'
import {
  formatCount,
  formatCounted,
  formatDuration,
  formatRate,
  formatShare,
} from '../../../shared/messages/figure-text.ts'
import { sayCorrected } from '../../../shared/messages/fix-messages.ts'
import { nameRunSource } from '../../../shared/plan/source-paths.ts'
import { count, figure, type Tone, text } from '../../../shared/report/report.ts'
import { type Percentiles, type RunState, type RunSummary, toServiceUrl } from '../../../shared/run/run.ts'
import {
  describeOperation,
  describeTrial,
  listOutcomes,
  RATE_MIN_S,
  toDurationMs,
} from '../../../shared/run/run-view.ts'
import { formatStop } from '../../../shared/run/snapshot.ts'
import {
  formatSection,
  formatTable,
  padLeft,
  padRight,
  sectionColumns,
  wrapWords,
} from '../terminal/layout.ts'
import { toPrintable } from '../terminal/output.ts'
import { joinParts } from '../terminal/report-text.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { formatAnswers, formatCallbacks } from './answers-section.ts'
import { formatErrors, formatTriggeredRules } from './errors-section.ts'
import { formatGenerator, formatServiceNotes, formatWarnings } from './service-section.ts'
import { formatSourceRead } from './source-read.ts'
import { formatUsedMapping } from './used-mapping.ts'

/** The whole run for a person to read: first what stopped it, then rows, requests, latency, rules, errors. */
export function formatSummary(terminal: Terminal, summary: RunSummary): string {
  const parts = [
    formatHeading(terminal, summary),
    summary.generator.limited ? formatGenerator(terminal, summary) : [],
    formatWarnings(terminal, summary),
    [
      ...formatSourceRead(terminal, summary.source_read),
      ...formatUsedMapping(terminal, summary.mapping),
      ...formatRows(terminal, summary),
      ...formatCorrected(terminal, summary),
    ],
    formatAnswers(terminal, summary),
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
      ...formatAnswers(terminal, summary),
      ...formatCallbacks(terminal, summary),
    ],
    formatLatency(terminal, summary, ['http_req_duration', 'callback_latency']),
  ])
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
    const reason = wrapWords(
      `Stopped: ${toPrintable(formatStop(summary.stop_reason, summary.stop_advice))}`,
      terminal.columns() - 2,
    )
    lines.push(
      ...reason.map((line, index) => terminal.tone('bad', `${index === 0 ? stopped : ' '} ${line}`)),
      '',
    )
  }
  const state = terminal.tone(STATE_TONES[summary.state], summary.state)
  const duration = summary.started_at === null ? '' : ` ${dot} ${formatDuration(toDurationMs(summary))}`
  const trial = describeTrial(summary)
  const parent = summary.parent_run_id === null ? '' : ` ${dot} retry of ${summary.parent_run_id}`
  lines.push(
    `${terminal.tone('strong', toPrintable(summary.name))} ${dot} ${state}${trial === null ? '' : `, ${trial}`}${duration}`,
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

function formatCorrected(terminal: Terminal, { corrected }: RunSummary): string[] {
  return corrected === undefined ? [] : formatSection(terminal, 'Corrected', [sayCorrected(corrected)])
}

/** The longest state that is usual. */
const NAME_COLUMNS = 10

/** Rows by outcome; states without rows are left out, except `succeeded`. */
export function formatRows(terminal: Terminal, summary: RunSummary): string[] {
  const { glyphs } = terminal
  const { rows } = summary
  const signs: Readonly<Record<string, string>> = {
    succeeded: glyphs.ok,
    rejected: glyphs.rejected,
    failed: glyphs.failed,
    unknown: glyphs.unknown,
    overdue: glyphs.unknown,
    invalid: glyphs.skipped,
    'left out': glyphs.skipped,
  }
  const shown = listOutcomes(summary)
  const countColumns = Math.max(
    ...[rows.read, ...shown.map(({ rows: count }) => count)].map((n) => formatCount(n).length),
  )
  const nameColumns = Math.max(NAME_COLUMNS, ...shown.map(({ name }) => stringWidth(name)))
  const meaningColumns = Math.max(...shown.map(({ meaning }) => stringWidth(meaning)))
  const hasRoom =
    SIGN_AND_SHARE_COLUMNS + nameColumns + countColumns + meaningColumns <= sectionColumns(terminal)
  const lines = shown.map(({ rows: count, name, tone, meaning }) =>
    [
      terminal.tone(tone, `${signs[name] ?? glyphs.dot} ${padRight(name, nameColumns)}`),
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
  const table = {
    columns: [text(''), count('count'), ...points.map(([, title]) => figure(title))],
    rows: measured.map(({ name, series }) => [name, series.count, ...points.map(([point]) => series[point])]),
  }
  return [...formatSection(terminal, 'Latency in ms', ['']), ...formatTable(terminal, table, 2)]
}
