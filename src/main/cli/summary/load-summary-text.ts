import stringWidth from 'string-width'
import type { LoadReport } from '../../../shared/load/load-report.ts'
import { type LoadFact, type LoadNotice, type LoadView, toLoadView } from '../../../shared/load/load-view.ts'
import { formatCount, formatCounted, formatDuration } from '../../../shared/messages/figure-text.ts'
import { adviseInTerminal } from '../../../shared/messages/outcome-advice.ts'
import { nameRunSource } from '../../../shared/plan/source-paths.ts'
import { figure, foreign, number, type Tone } from '../../../shared/report/report.ts'
import { type RunSummary, toServiceUrl } from '../../../shared/run/run.ts'
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
import { formatWarnings } from './service-section.ts'
import { formatSourceRead } from './source-read.ts'
import { formatLatency, STATE_TONES } from './summary-text.ts'

const SHOWN_STATUSES = 12
const SHOWN_ERRORS = 10
const SHOWN_GROUPS = 12

/**
 * A load test for a person to read. What makes the figures doubtful comes before any of them; then thresholds,
 * requests, latency, answers, and how this machine did.
 */
export function formatLoadSummary(terminal: Terminal, summary: RunSummary, report: LoadReport): string {
  const view = toLoadView(report)
  const { notices, caveats, traffic } = view
  const parts = [
    // A load test that another process is running has not ended.
    ...notices
      .filter(({ kind }) => kind === 'limited' || summary.state !== 'running')
      .map((notice) => formatNotice(terminal, notice)),
    formatHeading(terminal, summary, report),
    formatSourceRead(terminal, summary.source_read),
    formatThresholds(terminal, view),
    formatRequests(terminal, view),
    [...formatLatency(terminal, summary), ...caveats.flatMap((caveat) => formatCaveat(terminal, caveat))],
    formatStatuses(terminal, view),
    formatErrors(terminal, summary, view),
    [...traffic.flatMap((fact) => formatTraffic(terminal, fact)), ...formatWarnings(terminal, summary)],
    formatGroups(terminal, view),
    formatGenerator(terminal, view),
  ]
  return joinParts(parts)
}

function formatNotice(terminal: Terminal, { kind, title, details }: LoadNotice): string[] {
  const columns = Math.max(30, terminal.columns() - 2)
  const glyph = kind === 'limited' ? terminal.glyphs.failed : terminal.glyphs.stopped
  const tone = kind === 'limited' ? 'warn' : 'bad'
  return [
    ...wrapWords(toPrintable(title), columns).map((line, index) =>
      terminal.tone(tone, `${index === 0 ? glyph : ' '} ${line}`),
    ),
    ...details.flatMap((detail) => wrapWords(toPrintable(detail), columns).map((line) => `  ${line}`)),
  ]
}

function formatHeading(terminal: Terminal, summary: RunSummary, report: LoadReport): string[] {
  const { dot, arrow } = terminal.glyphs
  const state = terminal.tone(STATE_TONES[summary.state], summary.state)
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

/** Thresholds with ✓ or ✗, the value and how far it is from the limit; that failures fail nothing, where so. */
function formatThresholds(terminal: Terminal, { thresholds: { rows, note } }: LoadView): string[] {
  const room = sectionColumns(terminal)
  const notes = note === null ? [] : wrapWords(note, room).map((line) => terminal.tone('warn', line))
  const widest = (read: (row: (typeof rows)[number]) => string) =>
    Math.max(0, ...rows.map((row) => stringWidth(read(row))))
  const [nameColumns, valueColumns] = [widest((row) => row.expression), widest((row) => row.value)]
  const isWide = nameColumns + valueColumns + widest((row) => row.margin) + 6 <= room
  return formatSection(terminal, 'Thresholds', [
    ...rows.flatMap(({ expression, isMet, value, margin }) => {
      const mark = isMet ? terminal.glyphs.held : terminal.glyphs.crossed
      const head = `${terminal.tone(isMet ? 'good' : 'bad', `${mark} ${padRight(expression, nameColumns)}`)}  ${padLeft(value, valueColumns)}`
      const tail = terminal.tone(isMet ? 'quiet' : 'bad', margin)
      return isWide ? [`${head}  ${tail}`] : [head, `  ${tail}`]
    }),
    ...notes,
  ])
}

/** A label as it stands within a line. */
function toInline(label: string): string {
  return label.charAt(0).toLowerCase() + label.slice(1)
}

function formatRequests(terminal: Terminal, { requests }: LoadView): string[] {
  if (requests.length === 0) return formatSection(terminal, 'Requests', ['none sent'])
  const labelColumns = Math.max(...requests.map(({ label }) => label.length))
  const valueColumns = Math.max(...requests.map(({ value }) => value.length))
  const indent = ' '.repeat(labelColumns + valueColumns + 3)
  const room = Math.max(24, sectionColumns(terminal) - indent.length)
  return formatSection(
    terminal,
    'Requests',
    requests.flatMap(({ label, value, note = '', tone: given }) => {
      const tone: Tone = given ?? 'plain'
      const [first = '', ...others] = wrapWords(note, room)
      const head = `${terminal.tone(tone, padRight(toInline(label), labelColumns))} ${padLeft(value, valueColumns)}  `
      return [
        head + terminal.tone('quiet', first),
        ...others.map((line) => indent + terminal.tone('quiet', line)),
      ]
    }),
  )
}

function formatCaveat(terminal: Terminal, caveat: string): string[] {
  return wrapWords(caveat, Math.max(30, terminal.columns() - 4)).map((line, index) =>
    terminal.tone('warn', `  ${index === 0 ? '!' : ' '} ${line}`),
  )
}

function formatStatuses(terminal: Terminal, { statuses }: LoadView): string[] {
  const shown = statuses.slice(0, SHOWN_STATUSES).map((one) => ({ ...one, name: toPrintable(one.name) }))
  const nameColumns = Math.max(0, ...shown.map(({ name }) => stringWidth(name)))
  const countColumns = Math.max(0, ...shown.map(({ requests }) => formatCount(requests).length))
  const more = statuses.length - shown.length
  return formatSection(terminal, 'Statuses', [
    ...shown.map(
      ({ name, requests, share }) =>
        `${padRight(name, nameColumns)}  ${padLeft(formatCount(requests), countColumns)}  ${padLeft(share, 7)}`,
    ),
    ...(more > 0 ? [terminal.tone('quiet', `and ${formatCounted(more, 'kind')} more; --json has them`)] : []),
  ])
}

const OUTCOME_TONES: Readonly<Record<LoadView['errors'][number]['outcome'], Tone>> = {
  rejected: 'bad',
  failed: 'warn',
  unknown: 'odd',
}

/** What did not succeed by cause, when, and what to do about it. */
function formatErrors(terminal: Terminal, summary: RunSummary, { errors }: LoadView): string[] {
  const shown = errors.slice(0, SHOWN_ERRORS)
  const countColumns = Math.max(0, ...shown.map(({ requests }) => formatCount(requests).length))
  const indent = ' '.repeat(countColumns + 10)
  const columns = Math.max(24, sectionColumns(terminal) - indent.length)
  const arrow = `${terminal.glyphs.arrow} `
  const lines = shown.flatMap((error) => {
    const { outcome, status, message, requests, when } = error
    const [first = '', ...others] = wrapWords(toPrintable(`${status}: ${message} (${when})`), columns)
    const advice = adviseOnLoad(error, summary)
    const count = padLeft(formatCount(requests), countColumns)
    return [
      `${count} ${terminal.tone(OUTCOME_TONES[outcome], padRight(outcome, 9))}${first}`,
      ...others.map((line) => indent + line),
      ...(advice === null ? [] : wrapWords(advice, columns - stringWidth(arrow))).map(
        (line, index) =>
          indent + terminal.tone('quiet', padRight(index === 0 ? arrow : '', stringWidth(arrow)) + line),
      ),
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

/** Statuses whose cause is not the load itself. */
const ADVISED: ReadonlySet<number | null> = new Set([401, 403, 404, 405, 413])

function adviseOnLoad({ group }: LoadView['errors'][number], summary: RunSummary): string | null {
  const { outcome, status, errorCode, message, requests } = group
  if (!ADVISED.has(status)) return null
  return (
    adviseInTerminal({ outcome, status, error_code: errorCode, message, rows: requests }, summary)?.text ??
    null
  )
}

/** Throttling, callbacks or connections. */
function formatTraffic(terminal: Terminal, { label, value, note, tone }: LoadFact): string[] {
  const text = note === undefined ? value : `${value}, ${note}`
  const lines = wrapWords(text, sectionColumns(terminal))
  return formatSection(
    terminal,
    label,
    lines.map((line) => terminal.tone(tone ?? 'plain', line)),
  )
}

/** Latency by model and by size of content, where the source has more than one of them. */
function formatGroups(terminal: Terminal, { groups }: LoadView): string[] {
  const points = ['p50', 'p90', 'p99', 'max'] as const
  const lines = groups.flatMap(({ by, rows }) =>
    formatTable(
      terminal,
      {
        columns: [
          ...[foreign(`by ${by}`, 12), number('requests'), number('failed')],
          ...points.map((title) => figure(title)),
        ],
        rows: rows
          .slice(0, SHOWN_GROUPS)
          .map(({ label, requests, failedShare, percentiles }) => [
            ...[label, requests, failedShare],
            ...points.map((point) => percentiles?.[point] ?? ''),
          ]),
      },
      2,
    ),
  )
  return lines.length === 0 ? [] : [...formatSection(terminal, 'http_req_duration in ms', ['']), ...lines]
}

/** How this machine did: start lag, stalls, pauses, and what of the schedule went out. */
function formatGenerator(terminal: Terminal, { generator }: LoadView): string[] {
  if (generator === null || generator.facts.length === 0) return []
  const { verdict, isLimited, facts } = generator
  const texts = facts.map(({ label, value, note }) =>
    note === undefined ? `${toInline(label)} ${value}` : `${toInline(label)} ${value} (${note})`,
  )
  return formatSection(
    terminal,
    'Generator',
    wrapWords(`${verdict}: ${texts.join(', ')}`, sectionColumns(terminal)).map((line) =>
      isLimited ? terminal.tone('warn', line) : line,
    ),
  )
}
