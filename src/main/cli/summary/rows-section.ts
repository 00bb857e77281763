import { formatCount, formatDuration, formatRate, formatShare } from '../../../shared/messages/figure-text.ts'
import type { RunSummary } from '../../../shared/run/run.ts'
import type { Terminal, Tone } from '../terminal/terminal.ts'
import { padLeft, padRight, textWidth } from '../terminal/text-width.ts'
import { formatSection, sectionColumns } from './section.ts'

/** A sign, a share and the spaces around them and the state. */
const SIGN_AND_SHARE_COLUMNS = 14
/** The longest state that is usual. */
const NAME_COLUMNS = 10

/** The shortest sending time for which a rate is shown, seconds. */
const RATE_MIN_S = 0.1

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
  const nameColumns = Math.max(NAME_COLUMNS, ...shown.map(([, , name]) => textWidth(name)))
  const meaningColumns = Math.max(...shown.map(([, , , , meaning]) => textWidth(meaning)))
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

function formatThroughput({ throughput, callbacks }: RunSummary): string {
  const duration = formatDuration(throughput.duration_s * 1000)
  if (throughput.duration_s < RATE_MIN_S) return `sent for only ${duration}: too short for a rate`
  const rates = `${formatRate(throughput.attempted_per_s)} requests/s, ${formatRate(throughput.succeeded_per_s)} rows`
  return callbacks === undefined
    ? `${rates} succeeded/s, over ${duration}`
    : `${rates} accepted/s, over ${duration} (excludes waiting for callbacks)`
}
