import stringWidth from 'fast-string-width'
import { sayLiveSilence } from '../../../shared/load/load-silence.ts'
import { formatThresholdValue, type ThresholdResult } from '../../../shared/load/thresholds.ts'
import { formatSetDuration } from '../../../shared/messages/duration.ts'
import {
  formatCount,
  formatCounted,
  formatDuration,
  formatFigure,
  formatRate,
  formatShare,
} from '../../../shared/messages/figure-text.ts'
import {
  formatStop,
  type LoadProgress,
  type RunPhase,
  type RunSnapshot,
} from '../../../shared/run/snapshot.ts'
import { cutToWidth, fitSegments, formatBarLine, LABEL_COLUMNS, type Segment } from '../terminal/layout.ts'
import { toPrintable } from '../terminal/output.ts'
import type { Terminal } from '../terminal/terminal.ts'

export type LoadSnapshot = RunSnapshot & { load: LoadProgress }

/** Whether a snapshot belongs to a load test that has begun. */
export function isLoadSnapshot(snapshot: RunSnapshot): snapshot is LoadSnapshot {
  return snapshot.load !== null
}

/** What the load test is doing, in a word. */
function toLoadLabel(phase: RunPhase, load: LoadProgress): string {
  if (phase === 'ended') return 'Ended'
  if (load.phase === 'warmup') return 'Warm-up'
  if (load.phase === 'measuring') return 'Loading'
  return load.awaited > 0 ? 'Awaiting' : 'Stopping'
}

/** Share of the measured time that is over, from 0 to 1; null if the test ends with a number of requests. */
function toLoadShare({ phase, elapsedMs, measuredMs }: LoadProgress): number | null {
  if (phase === 'warmup') return 0
  if (phase === 'stopping') return 1
  return measuredMs === null ? null : Math.min(1, Math.max(0, elapsedMs / measuredMs))
}

/** The measured time so far, or the time until measuring starts: `25.3 s of 1 min`, `starts in 3.2 s`. */
function formatLoadTime({ phase, elapsedMs, measuredMs }: LoadProgress): string {
  if (phase === 'warmup') return `measuring in ${formatDuration(-elapsedMs)}`
  const overMs = Math.max(0, elapsedMs)
  const ms = measuredMs === null || phase === 'measuring' ? overMs : Math.min(overMs, measuredMs)
  return measuredMs === null
    ? formatDuration(ms)
    : `${formatDuration(ms)} of ${formatSetDuration(Math.round(measuredMs))}`
}

/** Lines of thresholds at most; failing ones come first. */
const THRESHOLD_LINES = 3
const GAP = '   '

/** The lines that a terminal redraws during a load: how far, how fast, how well, and how thresholds stand. */
export function formatLoadBlock(terminal: Terminal, snapshot: LoadSnapshot): string {
  const room = terminal.columns() - 1 - LABEL_COLUMNS
  const indent = ' '.repeat(LABEL_COLUMNS)
  const lines = [
    formatHead(terminal, snapshot, room),
    indent + fitSegments(listFigures(terminal, snapshot), room, GAP),
    ...packThresholds(terminal, snapshot.load.thresholds, room).map((line) => indent + line),
  ]
  const doubts = fitSegments(listDoubts(terminal, snapshot, room), room, GAP)
  if (doubts !== '') lines.push(indent + doubts)
  if (snapshot.notice !== null) {
    const notice = cutToWidth(
      toPrintable(formatStop(snapshot.notice.reason, snapshot.notice.advice)),
      room,
      terminal.glyphs.ellipsis,
    )
    lines.push(indent + terminal.tone('warn', notice))
  }
  return lines.join('\n')
}

function formatHead(terminal: Terminal, { phase, load, inFlight }: LoadSnapshot, room: number): string {
  return formatBarLine(
    terminal,
    toLoadLabel(phase, load),
    { share: toLoadShare(load), tone: load.phase === 'measuring' ? 'accent' : 'warn' },
    [
      { text: cutToWidth(formatLoadTime(load), room, terminal.glyphs.ellipsis), keep: 4 },
      { text: formatSending(load), keep: 3 },
      { text: terminal.tone('quiet', `${formatCount(inFlight)} in flight`), keep: 2 },
      {
        text: load.awaited > 0 ? terminal.tone('quiet', `${formatCount(load.awaited)} awaited`) : '',
        keep: 1,
      },
    ],
  )
}

/** Requests sent per second, and those that the schedule asks for: `198 of 200/s`. */
function formatSending({ phase, achievedPerS, scheduledPerS }: LoadSnapshot['load']): string {
  if (phase === 'stopping') return ''
  const achieved = achievedPerS === null ? null : formatRate(achievedPerS)
  if (scheduledPerS === null) return achieved === null ? '' : `${achieved}/s`
  return `${achieved === null ? '' : `${achieved} of `}${formatRate(scheduledPerS)}/s`
}

function listFigures(terminal: Terminal, { load }: LoadSnapshot): Segment[] {
  const { ok, rejected } = terminal.glyphs
  const { requests, failed } = load
  const latency = load.latencyMs.http_req_duration ?? null
  const share = requests === 0 ? '' : ` (${formatShare(failed, requests)})`
  return [
    { text: terminal.tone('good', `${ok} ${formatCount(requests - failed)} ok`), keep: 9 },
    {
      text:
        failed === 0 ? '' : terminal.tone('bad', `${rejected} ${formatCount(failed)} unsuccessful${share}`),
      keep: 8,
    },
    ...(latency === null
      ? []
      : [
          { text: `p50 ${formatFigure(latency.p50)} ms`, keep: 5 },
          { text: `p95 ${formatFigure(latency.p95)} ms`, keep: 6 },
          { text: `p99 ${formatFigure(latency.p99)} ms`, keep: 7 },
        ]),
  ]
}

function packThresholds(terminal: Terminal, thresholds: readonly ThresholdResult[], room: number): string[] {
  const ordered = thresholds.toSorted((one, other) => Number(one.ok) - Number(other.ok))
  const lines: string[] = []
  for (const [index, result] of ordered.entries()) {
    const text = cutToWidth(
      `${result.ok ? terminal.glyphs.held : terminal.glyphs.crossed} ${formatThreshold(result)}`,
      room,
      terminal.glyphs.ellipsis,
    )
    const toned = terminal.tone(result.ok ? 'good' : 'bad', text)
    const last = lines.at(-1)
    if (last !== undefined && stringWidth(last) + GAP.length + stringWidth(text) <= room) {
      lines[lines.length - 1] = last + GAP + toned
    } else if (lines.length < THRESHOLD_LINES) lines.push(toned)
    else {
      lines.push(terminal.tone('quiet', `and ${thresholds.length - index} more`))
      break
    }
  }
  return lines
}

function formatThreshold(result: ThresholdResult): string {
  return `${result.expression} ${formatThresholdValue(result)}${result.unanswered ? ' (not judged)' : ''}`
}

function listDoubts(terminal: Terminal, { load }: LoadSnapshot, room: number): Segment[] {
  const { dropped, limitedSeconds, silentMs } = load
  return [
    {
      text:
        silentMs === null
          ? ''
          : terminal.tone('bad', cutToWidth(sayLiveSilence(silentMs), room, terminal.glyphs.ellipsis)),
      keep: 3,
    },
    {
      text:
        limitedSeconds === 0
          ? ''
          : terminal.tone(
              'warn',
              cutToWidth(
                `generator-limited in ${formatCount(limitedSeconds)} s`,
                room,
                terminal.glyphs.ellipsis,
              ),
            ),
      keep: 2,
    },
    { text: dropped === 0 ? '' : terminal.tone('warn', `${formatCount(dropped)} dropped`), keep: 1 },
  ]
}

/** One line about a load test for places that keep every line, such as a CI log. */
export function formatLoadLine({ phase, load, inFlight, notice }: LoadSnapshot): string {
  const { requests, failed, dropped, limitedSeconds, awaited, achievedPerS, scheduledPerS, thresholds } = load
  const latency = load.latencyMs.http_req_duration ?? null
  const crossed = thresholds.filter(({ ok }) => !ok)
  return [
    `${toLoadLabel(phase, load).toLowerCase()}: ${formatLoadTime(load)}`,
    ...(achievedPerS === null || load.phase === 'stopping' ? [] : [`${formatRate(achievedPerS)}/s sent`]),
    ...(scheduledPerS === null || load.phase === 'stopping'
      ? []
      : [`${formatRate(scheduledPerS)}/s scheduled`]),
    `${formatCount(inFlight)} in flight`,
    formatCounted(requests, 'request'),
    `${formatCount(failed)} unsuccessful`,
    ...(latency === null
      ? []
      : [
          `p50 ${formatFigure(latency.p50)} ms`,
          `p95 ${formatFigure(latency.p95)} ms`,
          `p99 ${formatFigure(latency.p99)} ms`,
        ]),
    ...(awaited === 0 ? [] : [`${formatCounted(awaited, 'callback')} awaited`]),
    ...(load.silentMs === null ? [] : [sayLiveSilence(load.silentMs)]),
    ...(dropped === 0 ? [] : [`${formatCount(dropped)} dropped`]),
    ...(limitedSeconds === 0 ? [] : [`generator-limited in ${limitedSeconds} s`]),
    ...(thresholds.length === 0
      ? []
      : [`${thresholds.length - crossed.length} of ${formatCounted(thresholds.length, 'threshold')} passed`]),
    ...crossed.map((result) => `✗ ${formatThreshold(result)}`),
    ...(notice === null ? [] : [toPrintable(formatStop(notice.reason, notice.advice))]),
  ].join(', ')
}
