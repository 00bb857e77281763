import {
  formatBytes,
  formatCount,
  formatCounted,
  formatFigure,
  formatRate,
  formatTimeLeft,
} from '../../../shared/messages/figure-text.ts'
import { formatSlowdown, type RunSnapshot } from '../../../shared/run/snapshot.ts'
import { toPrintable } from '../terminal/printable.ts'
import { formatLoadLine, isLoadSnapshot } from './load-progress.ts'
import { toPhaseLabel, toRowProgress } from './row-progress.ts'

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
    ...(etaMs === null ? [] : [`${formatTimeLeft(etaMs)} left`]),
    ...(slowdown === null ? [] : [toPrintable(formatSlowdown(slowdown))]),
    ...(notice === null ? [] : [toPrintable(notice)]),
  ].join(', ')
}
