import { formatThresholdValue } from '../../../shared/load/threshold-text.ts'
import { formatCount, formatCounted, formatMs, formatRate } from '../terminal/number-format.ts'
import { toPrintable } from '../terminal/printable.ts'
import { formatLoadTime, type LoadSnapshot, toLoadLabel } from './load-progress.ts'

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
    `${formatCount(failed)} did not succeed`,
    ...(latency === null
      ? []
      : [
          `p50 ${formatMs(latency.p50)} ms`,
          `p95 ${formatMs(latency.p95)} ms`,
          `p99 ${formatMs(latency.p99)} ms`,
        ]),
    ...(awaited === 0 ? [] : [`${formatCounted(awaited, 'callback')} awaited`]),
    ...(dropped === 0 ? [] : [`${formatCount(dropped)} dropped`]),
    ...(limitedSeconds === 0 ? [] : [`generator-limited in ${limitedSeconds} s`]),
    ...(thresholds.length === 0
      ? []
      : [`${thresholds.length - crossed.length} of ${formatCounted(thresholds.length, 'threshold')} held`]),
    ...crossed.map((result) => `✗ ${result.expression} ${formatThresholdValue(result)}`),
    ...(notice === null ? [] : [toPrintable(notice)]),
  ].join(', ')
}
