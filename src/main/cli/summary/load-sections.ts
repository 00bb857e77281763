import type { LoadErrorGroup, LoadReport } from '../../../shared/load/load-report.ts'
import {
  formatThresholdMargin,
  formatThresholdValue,
  noteUnjudged,
} from '../../../shared/load/threshold-text.ts'
import type { RunSummary } from '../../../shared/run/run.ts'
import { formatCount, formatCounted, formatMs, formatRate, formatShare } from '../terminal/number-format.ts'
import { toPrintable } from '../terminal/printable.ts'
import { formatTable, wrapWords } from '../terminal/table.ts'
import type { Terminal, Tone } from '../terminal/terminal.ts'
import { padLeft, padRight, textWidth } from '../terminal/text-width.ts'
import { adviseOn } from './advice.ts'
import { formatSection, sectionColumns } from './section.ts'

const SHOWN_STATUSES = 12
const SHOWN_ERRORS = 10
const SHOWN_GROUPS = 12

/** Thresholds with ✓ or ✗, the value and how far it is from the limit; what none of them means for failures. */
export function formatThresholds(terminal: Terminal, report: LoadReport): string[] {
  const { thresholds } = report
  const unjudged = noteUnjudged(report)
  const notes =
    unjudged === null
      ? []
      : wrapWords(unjudged, sectionColumns(terminal)).map((line) => terminal.tone('warn', line))
  if (thresholds.length === 0) return notes.length === 0 ? [] : formatSection(terminal, 'Thresholds', notes)
  const { held, crossed } = terminal.glyphs
  const cells = thresholds.map((result) => ({
    result,
    mark: result.ok ? held : crossed,
    value: formatThresholdValue(result),
    margin: formatThresholdMargin(result),
  }))
  const nameColumns = Math.max(...cells.map(({ result }) => textWidth(result.expression)))
  const valueColumns = Math.max(...cells.map(({ value }) => textWidth(value)))
  const marginColumns = Math.max(...cells.map(({ margin }) => textWidth(margin)))
  const isWide = nameColumns + valueColumns + marginColumns + 6 <= sectionColumns(terminal)
  return formatSection(terminal, 'Thresholds', [
    ...cells.flatMap(({ result, mark, value, margin }) => {
      const tone: Tone = result.ok ? 'good' : 'bad'
      const head = `${terminal.tone(tone, `${mark} ${padRight(result.expression, nameColumns)}`)}  ${padLeft(value, valueColumns)}`
      const tail = terminal.tone(result.ok ? 'quiet' : 'bad', margin)
      return isWide ? [`${head}  ${tail}`] : [head, `  ${tail}`]
    }),
    ...notes,
  ])
}

/** What was asked for, sent, answered and succeeded, each a figure of its own (docs/load-tests.md §1). */
export function formatLoadRequests(terminal: Terminal, report: LoadReport): string[] {
  const { counts, rates, generator } = report
  if (counts.sent === 0) return formatSection(terminal, 'Requests', ['none sent'])
  const ended = counts.succeeded + counts.rejected + counts.failed + counts.unknown
  // A summary of k6's does not tell what was answered.
  const answered = report.statuses.length === 0 ? null : rates.answeredPerS
  const rows: [string, number | null, string, Tone][] = [
    ['scheduled', rates.scheduledPerS, '', 'plain'],
    ['sent', rates.attemptedPerS, `${formatCount(counts.sent)} in total`, 'plain'],
    ['answered', answered, `${formatCount(report.answered)} in total`, 'plain'],
    [
      'succeeded',
      rates.succeededPerS,
      `${formatCount(counts.succeeded)} in total, ${formatShare(counts.succeeded, ended)}`,
      'good',
    ],
  ]
  const shown = rows.flatMap(([name, perS, note, tone]) =>
    perS === null ? [] : [{ name, rate: `${formatRate(perS)}/s`, note, tone }],
  )
  const rateColumns = Math.max(...shown.map(({ rate }) => rate.length))
  const failures: [number, string, Tone][] = [
    [counts.rejected, 'rejected', 'bad'],
    [counts.failed, 'failed: not received by the service', 'warn'],
    [counts.unknown, 'unknown: sent without a usable answer, may have been accepted', 'odd'],
  ]
  return formatSection(terminal, 'Requests', [
    ...shown.map(
      ({ name, rate, note, tone }) =>
        `${terminal.tone(tone, padRight(name, 10))} ${padLeft(rate, rateColumns)}  ${terminal.tone('quiet', note)}`,
    ),
    ...failures
      .filter(([count]) => count > 0)
      .map(([count, word, tone]) => terminal.tone(tone, `${formatCount(count)} ${word}`)),
    ...(generator.dropped === 0
      ? []
      : [terminal.tone('warn', `${formatCount(generator.dropped)} dropped: too many in flight`)]),
  ])
}

/** Answers by status and error code, most first. */
export function formatStatuses(terminal: Terminal, { statuses }: LoadReport): string[] {
  if (statuses.length === 0) return []
  const total = statuses.reduce((sum, { requests }) => sum + requests, 0)
  const shown = statuses.slice(0, SHOWN_STATUSES).map(({ status, errorCode, requests }) => ({
    name: toPrintable([status === null ? 'no answer' : String(status), errorCode ?? ''].join(' ').trim()),
    requests,
  }))
  const nameColumns = Math.max(...shown.map(({ name }) => textWidth(name)))
  const countColumns = Math.max(...shown.map(({ requests }) => formatCount(requests).length))
  const more = statuses.length - shown.length
  return formatSection(terminal, 'Statuses', [
    ...shown.map(
      ({ name, requests }) =>
        `${padRight(name, nameColumns)}  ${padLeft(formatCount(requests), countColumns)}  ${padLeft(formatShare(requests, total), 7)}`,
    ),
    ...(more > 0 ? [terminal.tone('quiet', `and ${formatCounted(more, 'kind')} more; --json has them`)] : []),
  ])
}

const TONES: Readonly<Record<LoadErrorGroup['outcome'], Tone>> = {
  rejected: 'bad',
  failed: 'warn',
  unknown: 'odd',
}

/** What did not succeed by cause, most first, when, and what to do about it. */
export function formatLoadErrors(terminal: Terminal, summary: RunSummary, { errors }: LoadReport): string[] {
  const shown = errors.slice(0, SHOWN_ERRORS)
  if (shown.length === 0) return []
  const countColumns = Math.max(...shown.map(({ requests }) => formatCount(requests).length))
  const indent = ' '.repeat(countColumns + 10)
  const columns = Math.max(24, sectionColumns(terminal) - indent.length)
  const { arrow } = terminal.glyphs
  const lines = shown.flatMap((group) => {
    const [first = '', ...others] = wrapWords(toCause(group), columns)
    const advice = adviseOnLoad(group, summary)
    return [
      `${padLeft(formatCount(group.requests), countColumns)} ${terminal.tone(TONES[group.outcome], padRight(group.outcome, 9))}${first}`,
      ...others.map((line) => indent + line),
      ...(advice === null
        ? []
        : wrapWords(advice, columns - textWidth(arrow) - 1).map(
            (line, index) =>
              indent +
              terminal.tone('quiet', `${padRight(index === 0 ? arrow : '', textWidth(arrow) + 1)}${line}`),
          )),
    ]
  })
  const more = errors.length - shown.length
  return formatSection(terminal, 'Errors', [
    ...lines,
    ...(more > 0
      ? [terminal.tone('quiet', `and ${formatCounted(more, 'cause')} more; --json has them all`)]
      : []),
  ])
}

function toCause({ status, errorCode, message, firstSecond, lastSecond }: LoadErrorGroup): string {
  const code = [
    status === null ? '' : String(status),
    errorCode !== null && !message.includes(errorCode) ? errorCode : '',
  ].filter(Boolean)
  const when =
    firstSecond === lastSecond ? `in second ${firstSecond}` : `in seconds ${firstSecond} to ${lastSecond}`
  return toPrintable(`${[code.join(' '), message].filter(Boolean).join(': ')} (${when})`)
}

/** What to do where it is not the load itself that is too much. */
function adviseOnLoad(
  { status, errorCode, message, outcome, requests }: LoadErrorGroup,
  summary: RunSummary,
) {
  if (status !== 401 && status !== 403 && status !== 404 && status !== 405 && status !== 413) return null
  return adviseOn({ outcome, status, error_code: errorCode, message, rows: requests }, summary)?.text ?? null
}

/** Latency by model and by size of content, where the source has more than one of them. */
export function formatGroups(terminal: Terminal, { groups }: LoadReport): string[] {
  const lines = (['model', 'size'] as const).flatMap((by) => {
    const members = groups.filter((group) => group.by === by).slice(0, SHOWN_GROUPS)
    if (members.length < 2) return []
    return formatTable(
      terminal,
      [
        { title: `by ${by}`, align: 'left', minColumns: 12 },
        { title: 'requests', align: 'right' },
        { title: 'failed', align: 'right' },
        ...['p50', 'p90', 'p99', 'max'].map((title) => ({ title, align: 'right' as const })),
      ],
      members.map(({ label, requests, failed, httpReqDurationMs: ms }) => [
        toPrintable(label),
        formatCount(requests),
        formatShare(failed, requests),
        ...(ms === null ? ['', '', '', ''] : [ms.p50, ms.p90, ms.p99, ms.max].map(formatMs)),
      ]),
      2,
    )
  })
  return lines.length === 0 ? [] : [...formatSection(terminal, 'http_req_duration in ms', ['']), ...lines]
}
