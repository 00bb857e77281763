import type { createLogUpdate } from 'log-update'
import {
  formatBytes,
  formatCount,
  formatCounted,
  formatFigure,
  formatRate,
  formatSpan,
} from '../../../shared/messages/figure-text.ts'
import type { Tone } from '../../../shared/report/report.ts'
import { countSendable, countSettled } from '../../../shared/run/counts.ts'
import { formatSlowdown, formatStop, type RunSnapshot } from '../../../shared/run/snapshot.ts'
import type { CliContext } from '../context.ts'
import {
  cutToWidth,
  fitSegments,
  formatBarLine,
  LABEL_COLUMNS,
  padLeft,
  type Segment,
} from '../terminal/layout.ts'
import { toPrintable } from '../terminal/output.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { createJsonReporter } from './json-progress.ts'
import { formatLoadBlock, formatLoadLine, isLoadSnapshot } from './load-progress.ts'
import type { ProgressReporter } from './shown-progress.ts'

function createLiveReporter(context: CliContext): ProgressReporter {
  let draw: ReturnType<typeof createLogUpdate> | null = null
  let last: RunSnapshot | null = null
  let hasFinished = false
  const redraw = () => {
    if (last !== null) draw?.(formatProgressBlock(context.errTerminal, last))
  }
  // Loaded only to draw, and not awaited: it first builds a table of character widths.
  void import('log-update').then((loaded) => {
    if (hasFinished) return
    draw = loaded.createLogUpdate(process.stderr)
    redraw()
  })
  process.stderr.on('resize', redraw)
  return {
    update: (snapshot) => {
      last = snapshot
      redraw()
    },
    say: (text) => (draw === null ? void context.err.writeLine(text) : draw.persist(text)),
    finish: () => {
      process.stderr.off('resize', redraw)
      hasFinished = true
      draw?.clear()
      draw?.done()
    },
  }
}

function createLineReporter(context: CliContext): ProgressReporter {
  let last: RunSnapshot | null = null
  const timer = setInterval(() => {
    if (last !== null && last.phase !== 'ended') void context.err.writeLine(formatProgressLine(last))
  }, context.lineEveryMs)
  timer.unref()
  return {
    update: (snapshot) => {
      last = snapshot
    },
    say: (text) => void context.err.writeLine(text),
    finish: () => clearInterval(timer),
  }
}

/** How progress is shown: text for a person, or a line of JSON per second for another program. */
export type ProgressKind = 'text' | 'json'

export interface FollowOptions {
  quiet: boolean
  /** Default: text. */
  progress?: ProgressKind
}

/** The same, from options of the command line. */
export function toFollowOptions({
  quiet = false,
  progress,
}: {
  quiet?: boolean
  progress?: ProgressKind
}): FollowOptions {
  return { quiet, ...(progress !== undefined && { progress }) }
}

/** A redrawn bar on a terminal, a line every 5 s elsewhere; with `quiet` only messages. */
export function createProgressReporter(
  context: CliContext,
  { quiet, progress = 'text' }: FollowOptions,
): ProgressReporter {
  if (progress === 'json') return createJsonReporter(context)
  if (quiet) {
    return { update: () => {}, say: (text) => void context.err.writeLine(text), finish: () => {} }
  }
  return context.errTerminal.isInteractive ? createLiveReporter(context) : createLineReporter(context)
}

function toPercent(share: number): string {
  return `${padLeft(String(Math.floor(share * 100)), 3)} %`
}

function formatIntake(terminal: Terminal, snapshot: RunSnapshot): string {
  const { bytes, rows, problems } = snapshot
  const share = bytes.total === 0 ? 0 : bytes.read / bytes.total
  return formatBarLine(terminal, toPhaseLabel('intake'), { share, tone: 'accent' }, [
    { text: toPercent(share), keep: 3 },
    { text: `${formatCounted(rows.read, 'row')}`, keep: 4 },
    {
      text: problems.errors === 0 ? '' : terminal.tone('warn', formatCounted(problems.errors, 'problem')),
      keep: 2,
    },
    { text: terminal.tone('quiet', `${formatBytes(bytes.read)} of ${formatBytes(bytes.total)}`), keep: 1 },
  ])
}

function formatOutcomes(terminal: Terminal, snapshot: RunSnapshot): string {
  const { rows, ratePerSecond, latencyMs, inFlight, phase } = snapshot
  const { glyphs } = terminal
  const count = (sign: string, rowCount: number, word: string, tone: Tone, keep: number): Segment => ({
    text: rowCount === 0 && keep < 9 ? '' : terminal.tone(tone, `${sign} ${formatCount(rowCount)} ${word}`),
    keep,
  })
  const segments = [
    count(glyphs.ok, rows.succeeded, 'ok', 'good', 9),
    count(glyphs.rejected, rows.rejected, 'rejected', 'bad', 8),
    count(glyphs.failed, rows.failed, 'failed', 'warn', 7),
    count(glyphs.unknown, rows.unknown, 'unknown', 'odd', 6),
    count(glyphs.unknown, rows.overdue, 'overdue', 'odd', 6),
    count(glyphs.ellipsis, rows.awaiting, 'awaiting', 'accent', 5),
    count(glyphs.skipped, rows.invalid, 'invalid', 'quiet', 3),
    {
      text:
        phase === 'draining'
          ? `${formatCount(inFlight)} in flight`
          : phase === 'awaiting'
            ? ''
            : `${formatRate(ratePerSecond.current)}/s`,
      keep: 5,
    },
    { text: latencyMs === null ? '' : `p95 ${formatFigure(latencyMs.p95)} ms`, keep: 4 },
  ]
  return ' '.repeat(LABEL_COLUMNS) + fitSegments(segments, terminal.columns() - 1 - LABEL_COLUMNS, '   ')
}

/** The lines that a terminal redraws during a run: what it is doing and how far, then its outcome. */
export function formatProgressBlock(terminal: Terminal, snapshot: RunSnapshot): string {
  if (snapshot.phase === 'intake') return formatIntake(terminal, snapshot)
  if (isLoadSnapshot(snapshot)) return formatLoadBlock(terminal, snapshot)
  const { done, total, share } = toRowProgress(snapshot)
  const isGoing = snapshot.phase === 'running' || snapshot.phase === 'awaiting'
  const isLeft = isGoing && snapshot.etaMs !== null
  const tone = isGoing ? 'accent' : 'warn'
  const lines = [
    formatBarLine(terminal, toPhaseLabel(snapshot.phase), { share, tone }, [
      { text: toPercent(share), keep: 3 },
      { text: `${formatCount(done)} of ${formatCounted(total, 'row')}`, keep: 2 },
      {
        text: terminal.tone('quiet', isLeft ? `${formatSpan(snapshot.etaMs ?? 0)} left` : ''),
        keep: 1,
      },
    ]),
    formatOutcomes(terminal, snapshot),
  ]
  const { notice, slowdown } = snapshot
  for (const note of [
    slowdown === null ? null : formatSlowdown(slowdown),
    notice === null ? null : formatStop(notice.reason, notice.advice),
  ]) {
    if (note === null) continue
    const text = cutToWidth(toPrintable(note), terminal.columns() - 12, terminal.glyphs.ellipsis)
    lines.push(' '.repeat(LABEL_COLUMNS) + terminal.tone('warn', text))
  }
  return lines.join('\n')
}

/** One line about a run for places that keep every line, such as a CI log. */
export function formatProgressLine(snapshot: RunSnapshot): string {
  const label = toPhaseLabel(snapshot.phase).toLowerCase()
  if (snapshot.phase === 'intake') {
    const { bytes, rows, problems } = snapshot
    const found = problems.errors === 0 ? '' : `, ${formatCounted(problems.errors, 'problem')}`
    return `${label}: ${formatCounted(rows.read, 'row')}, ${formatBytes(bytes.read)} of ${formatBytes(bytes.total)}${found}`
  }
  if (isLoadSnapshot(snapshot)) return formatLoadLine(snapshot)
  const { done, total, share } = toRowProgress(snapshot)
  const { rows, latencyMs, etaMs, notice, callbacks, slowdown } = snapshot
  return [
    `${label}: ${formatCount(done)} of ${formatCounted(total, 'row')} (${Math.floor(share * 100)} %)`,
    `${formatCount(rows.succeeded)} ok`,
    `${formatCount(rows.rejected)} rejected`,
    `${formatCount(rows.failed)} failed`,
    `${formatCount(rows.unknown)} unknown`,
    ...(callbacks === null ? [] : [`${formatCount(rows.awaiting)} awaiting`]),
    ...(rows.overdue === 0 ? [] : [`${formatCount(rows.overdue)} overdue`]),
    ...(snapshot.phase === 'awaiting' ? [] : [`${formatRate(snapshot.ratePerSecond.current)}/s`]),
    ...(latencyMs === null ? [] : [`p95 ${formatFigure(latencyMs.p95)} ms`]),
    ...(etaMs === null ? [] : [`${formatSpan(etaMs)} left`]),
    ...(slowdown === null ? [] : [toPrintable(formatSlowdown(slowdown))]),
    ...(notice === null ? [] : [toPrintable(formatStop(notice.reason, notice.advice))]),
  ].join(', ')
}

/** How far a run is, in rows that can be sent. */
interface RowProgress {
  done: number
  total: number
  /** From 0 to 1. */
  share: number
}

/** Rows that are settled, of those that passed validation. */
function toRowProgress({ rows }: RunSnapshot): RowProgress {
  const total = countSendable(rows)
  const done = countSettled(rows)
  return { done, total, share: total === 0 ? 0 : done / total }
}

/** What the run is doing, in a word. */
function toPhaseLabel(phase: RunSnapshot['phase']): string {
  switch (phase) {
    case 'intake':
      return 'Reading'
    case 'ready':
      return 'Checked'
    case 'running':
      return 'Sending'
    case 'paused':
      return 'Paused'
    case 'draining':
      return 'Stopping'
    case 'awaiting':
      return 'Awaiting'
    case 'ended':
      return 'Ended'
  }
}
