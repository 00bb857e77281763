import type { LoadReport } from '../../../shared/load/load-report.ts'
import { isFromK6 } from '../../../shared/load/load-text.ts'
import {
  formatCount,
  formatCounted,
  formatDuration,
  formatMs,
  formatShare,
} from '../terminal/number-format.ts'
import { wrapWords } from '../terminal/table.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { formatSection, sectionColumns } from './section.ts'

/** That the machine which sent was the limit, and why: said before any number (docs/load-tests.md §1). */
export function formatGeneratorFirst(terminal: Terminal, { generator, durationMs }: LoadReport): string[] {
  if (!generator.limited) return []
  const { limitedSeconds, reasons } = generator
  const seconds = Math.max(limitedSeconds, Math.ceil(durationMs / 1000))
  const where =
    limitedSeconds === 0 ? '' : ` in ${formatCount(limitedSeconds)} of ${formatCounted(seconds, 'second')}`
  const text = `Generator-limited: this machine was the bottleneck${where}.`
  const columns = Math.max(30, terminal.columns() - 2)
  const { failed } = terminal.glyphs
  return [
    ...wrapWords(text, columns).map((line, index) =>
      terminal.tone('warn', `${index === 0 ? failed : ' '} ${line}`),
    ),
    ...reasons.flatMap((reason) => wrapWords(reason, columns).map((line) => `  ${line}`)),
  ]
}

/** What the percentiles leave out, or hold that a person may not expect. */
export function formatPercentileCaveats(
  terminal: Terminal,
  { generator, callbacks, fromCache, latencyMs }: LoadReport,
): string[] {
  const late = callbacks === null ? 0 : callbacks.overdue + callbacks.outstanding
  const caveats = [
    ...(generator.dropped > 0
      ? [
          `${formatCounted(generator.dropped, 'dropped request')} ${generator.dropped === 1 ? 'has' : 'have'} no latency. Percentiles would be higher with ${generator.dropped === 1 ? 'it' : 'them'}.`,
        ]
      : []),
    ...(late > 0
      ? [
          `${formatCounted(late, 'callback')} did not arrive. callback_latency would be higher with ${late === 1 ? 'it' : 'them'}.`,
        ]
      : []),
    ...(fromCache > 0
      ? [
          `${formatCounted(fromCache, 'answer')} came from the service's cache, which lowers latencies. Use more different rows to avoid this.`,
        ]
      : []),
    ...(generator.waited > 0 && latencyMs.response_time !== undefined
      ? [
          `${formatCounted(generator.waited, 'request')} waited because too many were in flight. response_time and start_lag include this, http_req_duration does not.`,
        ]
      : []),
  ]
  return caveats.flatMap((caveat) =>
    wrapWords(caveat, Math.max(30, terminal.columns() - 4)).map((line, index) =>
      terminal.tone('warn', `  ${index === 0 ? '!' : ' '} ${line}`),
    ),
  )
}

/** What the service said of its own load; nothing where it said nothing. */
export function formatThrottling(terminal: Terminal, report: LoadReport): string[] {
  const { throttling, counts } = report
  const { answers, retryAfterAnswers, askedS } = throttling
  if (answers + retryAfterAnswers === 0) return []
  const ended = counts.succeeded + counts.rejected + counts.failed + counts.unknown
  const asked =
    retryAfterAnswers === 0
      ? isFromK6(report)
        ? 'k6 does not report for how long'
        : 'without Retry-After'
      : `${formatCounted(retryAfterAnswers, 'answer')} with Retry-After, ${formatDuration(askedS * 1000)} in total`
  return formatSection(
    terminal,
    'Throttling',
    wrapWords(
      `${formatCounted(answers, '429 answer')} (${formatShare(answers, ended)}), ${asked}`,
      sectionColumns(terminal),
    ),
  )
}

/** The outcome of the callbacks of an async load. */
export function formatLoadCallbacks(terminal: Terminal, { callbacks }: LoadReport): string[] {
  if (callbacks === null) return []
  const { received, doubled, rejected, overdue, outstanding } = callbacks
  const parts = [
    `${formatCount(received)} received`,
    ...(rejected > 0 ? [terminal.tone('bad', `${formatCount(rejected)} with an error`)] : []),
    ...(doubled > 0 ? [formatCounted(doubled, 'duplicate')] : []),
    ...(overdue > 0 ? [terminal.tone('warn', `${formatCount(overdue)} overdue`)] : []),
    ...(outstanding > 0 ? [terminal.tone('warn', `${formatCount(outstanding)} outstanding`)] : []),
  ]
  return formatSection(terminal, 'Callbacks', [parts.join(', ')])
}

/** Connections that were opened, and requests that went out on one that was open. */
export function formatConnections(terminal: Terminal, { connections }: LoadReport): string[] {
  const { opened, reused } = connections
  if (opened + reused === 0) return []
  return formatSection(terminal, 'Connections', [
    `${formatCount(opened)} opened, reused by ${formatCounted(reused, 'request')}`,
  ])
}

/** How the machine did that sent: start lag, stalls, pauses, and what of the schedule went out. */
export function formatGeneratorHealth(terminal: Terminal, { generator, counts }: LoadReport): string[] {
  if (counts.sent === 0 || isFromK6({ generator })) return []
  const { startLagP99Ms, eventLoopMaxMs, gcPauses, gcMaxMs, achievedShare, workers } = generator
  const facts = [
    ...(achievedShare === null ? [] : [`sent ${formatShare(achievedShare, 1)} of the schedule`]),
    ...(startLagP99Ms === null ? [] : [`start lag p99 ${formatMs(startLagP99Ms)} ms`]),
    ...(eventLoopMaxMs === null ? [] : [`longest stall ${formatMs(eventLoopMaxMs)} ms`]),
    ...(gcPauses === 0 || gcMaxMs === null
      ? []
      : [`${formatCounted(gcPauses, 'GC pause')}, longest ${formatMs(gcMaxMs)} ms`]),
    formatCounted(workers, 'sending thread'),
  ]
  return formatSection(
    terminal,
    'Generator',
    wrapWords(
      `${generator.limited ? 'limited' : 'kept up'}: ${facts.join(', ')}`,
      sectionColumns(terminal),
    ).map((line) => (generator.limited ? terminal.tone('warn', line) : line)),
  )
}
