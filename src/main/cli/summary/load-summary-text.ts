import { basename } from 'node:path'
import type { LoadReport } from '../../../shared/load/load-report.ts'
import { type RunSummary, toServiceUrl } from '../../../shared/run/run.ts'
import { formatDuration } from '../terminal/number-format.ts'
import { toPrintable } from '../terminal/printable.ts'
import { wrapWords } from '../terminal/table.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { formatLatency } from './latency-section.ts'
import {
  formatConnections,
  formatGeneratorFirst,
  formatGeneratorHealth,
  formatLoadCallbacks,
  formatPercentileCaveats,
  formatThrottling,
} from './load-health-sections.ts'
import {
  formatGroups,
  formatLoadErrors,
  formatLoadRequests,
  formatStatuses,
  formatThresholds,
} from './load-sections.ts'
import { formatWarnings } from './service-section.ts'
import { STATE_TONES } from './state-tone.ts'

/**
 * A load test for a person to read. What makes the figures doubtful comes before any of them; then thresholds,
 * requests, latency, answers, and how the machine did that sent.
 */
export function formatLoadSummary(terminal: Terminal, summary: RunSummary, report: LoadReport): string {
  const parts = [
    formatGeneratorFirst(terminal, report),
    formatHeading(terminal, summary, report),
    formatThresholds(terminal, report),
    formatLoadRequests(terminal, report),
    [...formatLatency(terminal, summary), ...formatPercentileCaveats(terminal, report)],
    formatStatuses(terminal, report),
    formatLoadErrors(terminal, summary, report),
    [
      ...formatThrottling(terminal, report),
      ...formatLoadCallbacks(terminal, report),
      ...formatConnections(terminal, report),
      ...formatWarnings(terminal, summary),
    ],
    formatGroups(terminal, report),
    formatGeneratorHealth(terminal, report),
  ]
  return parts
    .filter((part) => part.length > 0)
    .map((part) => part.join('\n'))
    .join('\n\n')
}

function formatHeading(terminal: Terminal, summary: RunSummary, report: LoadReport): string[] {
  const { dot, arrow, stopped } = terminal.glyphs
  const columns = terminal.columns()
  const lines: string[] = []
  if (summary.stop_reason !== null) {
    const reason = wrapWords(`Stopped: ${toPrintable(summary.stop_reason)}`, columns - 2)
    lines.push(
      ...reason.map((line, index) => terminal.tone('bad', `${index === 0 ? stopped : ' '} ${line}`)),
      '',
    )
  }
  const state = terminal.tone(STATE_TONES[summary.state], summary.state)
  const measured = report.startedAt === null ? '' : ` ${dot} ${formatDuration(report.durationMs)} measured`
  const quiet = [
    `run ${summary.run_id} ${dot} load test ${dot} ${report.operation}`,
    `${basename(summary.source)} ${arrow} ${toServiceUrl(summary)}`,
    ...wrapWords(report.plan.filter((phrase) => !phrase.startsWith('thresholds ')).join('; '), columns),
  ]
  lines.push(
    `${terminal.tone('strong', toPrintable(summary.name))} ${dot} ${state}${measured}`,
    ...quiet.map((line) => terminal.tone('quiet', toPrintable(line))),
  )
  return lines
}
