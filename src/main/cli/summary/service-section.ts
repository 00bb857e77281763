import stringWidth from 'string-width'
import {
  formatCount,
  formatCounted,
  formatDuration,
  formatFigure,
} from '../../../shared/messages/figure-text.ts'
import { listRowWarnings, type RowWarning, type RunSummary } from '../../../shared/run/run.ts'
import { describeThrottling } from '../../../shared/run/run-view.ts'
import { formatSection, padRight, sectionColumns, wrapWords } from '../terminal/layout.ts'
import { toPrintable } from '../terminal/output.ts'
import type { Terminal } from '../terminal/terminal.ts'

/** What is odd about the way to the service, and the warnings about rows, by cause. */
export function formatWarnings(terminal: Terminal, { warnings }: Pick<RunSummary, 'warnings'>): string[] {
  const ofRun = warnings.filter(({ rows }) => rows === undefined)
  return [
    ...ofRun.flatMap(({ message }) =>
      formatSection(
        terminal,
        'Warning',
        wrapWords(message, sectionColumns(terminal)).map((line) => terminal.tone('warn', line)),
      ),
    ),
    ...formatSection(terminal, 'Warnings', formatRowWarnings(terminal, listRowWarnings(warnings))),
  ]
}

function formatRowWarnings(terminal: Terminal, warnings: readonly RowWarning[]): string[] {
  const counts = warnings.map(({ rows }) => formatCounted(rows, 'row'))
  const countColumns = Math.max(0, ...counts.map((count) => stringWidth(count)))
  return warnings.flatMap(({ message }, index) =>
    wrapWords(toPrintable(message), sectionColumns(terminal) - countColumns - 2).map((line, at) =>
      terminal.tone('warn', `${padRight(at === 0 ? (counts[index] ?? '') : '', countColumns)}  ${line}`),
    ),
  )
}

/** What the service said about its rate and its cache; nothing where it said nothing. */
export function formatServiceNotes(terminal: Terminal, summary: RunSummary): string[] {
  const { retry_after, from_cache, result_lost } = summary
  const lines: string[] = []
  const throttling = describeThrottling(summary)
  if (throttling !== null) {
    lines.push(...formatSection(terminal, 'Throttling', wrapWords(throttling, sectionColumns(terminal))))
  }
  if (retry_after.answers > 0) {
    lines.push(
      ...formatSection(
        terminal,
        'Retry-After',
        wrapWords(
          `${formatCounted(retry_after.answers, 'answer')} asked to wait; rows waited ${formatDuration(retry_after.waited_s * 1000)} in total`,
          sectionColumns(terminal),
        ),
      ),
    )
  }
  if (from_cache.rows > 0) {
    lines.push(
      ...formatSection(
        terminal,
        'From cache',
        wrapWords(
          `${formatCounted(from_cache.rows, 'row')} answered from the service's cache, with the latency of the cache`,
          sectionColumns(terminal),
        ),
      ),
    )
  }
  if (result_lost.rows > 0) {
    lines.push(
      ...formatSection(
        terminal,
        'No result',
        wrapWords(
          `${formatCounted(result_lost.rows, 'succeeded row')} had been delivered before; the service does not repeat the result, so the triggered rules are unknown`,
          sectionColumns(terminal),
        ),
      ),
    )
  }
  return lines
}

/** Whether this machine, rather than the service, set the pace. Said before any number where it did. */
export function formatGenerator(terminal: Terminal, { generator }: RunSummary): string[] {
  const facts = [
    ...(generator.dropped > 0 ? [`${formatCount(generator.dropped)} dropped`] : []),
    ...(generator.waited > 0
      ? [`${formatCounted(generator.waited, 'request')} waited: --concurrency was too low for the rate`]
      : []),
    ...(generator.start_lag_p99_ms === null
      ? []
      : [`start lag p99 ${formatFigure(generator.start_lag_p99_ms)} ms`]),
    ...(generator.event_loop_max_ms === null
      ? []
      : [`longest stall ${formatFigure(generator.event_loop_max_ms)} ms`]),
  ]
  if (generator.limited) {
    const text = `stalled or sent late at times${facts.length === 0 ? '' : ` (${facts.join(', ')})`}. Treat latencies with caution.`
    return formatSection(
      terminal,
      'This machine',
      wrapWords(text, sectionColumns(terminal)).map((line) => terminal.tone('warn', line)),
    )
  }
  if (facts.length === 0) return []
  return formatSection(terminal, 'This machine', [`kept up: ${facts.join(', ')}`])
}
