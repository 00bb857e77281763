import { formatDurationMs } from '../messages/duration.ts'
import { formatCount, formatCounted } from '../messages/figure-text.ts'
import { type Load, toMaxInFlight, toPlannedRequests } from './load.ts'
import { isOpen, type LoadPace } from './load-pace.ts'
import type { LoadReport } from './load-report.ts'
import { formatThreshold } from './thresholds.ts'

/** What a load does, a phrase for each thing that a person chose, the pace first. `timeoutMs` is the connection's. */
export function describeLoad(load: Load, timeoutMs: number): string[] {
  const { pace, warmupMs, thinkTime, thresholds } = load
  const cap = formatCount(toMaxInFlight(load, timeoutMs))
  return [
    `${describePace(pace)}${describeEnd(load)}`,
    ...(warmupMs > 0 ? [`after a warm-up of ${formatDurationMs(warmupMs)}`] : []),
    ...(isOpen(pace)
      ? [`at most ${cap} in flight, ${load.whenFull === 'drop' ? 'dropping' : 'waiting'} when full`]
      : []),
    ...(thinkTime === undefined ? [] : [`think time ${describeThinkTime(thinkTime)}`]),
    `HTTP/${load.httpVersion}`,
    ...(load.http2Connections === undefined
      ? []
      : [`at most ${formatCounted(load.http2Connections, 'HTTP/2 connection')} per worker`]),
    ...(load.workers > 1 ? [`${load.workers} sending threads`] : []),
    `graceful stop ${formatDurationMs(load.gracefulStopMs)}`,
    ...(thresholds.length === 0 ? [] : [`thresholds ${thresholds.map(formatThreshold).join('; ')}`]),
  ]
}

/** Whether k6 sent the load, which does not watch itself. */
export function isFromK6({ generator }: Pick<LoadReport, 'generator'>): boolean {
  return generator.startLagP99Ms === null && generator.eventLoopMaxMs === null
}

/** A pace: `open, 200 requests a second`. */
export function describePace(pace: LoadPace): string {
  if (pace.kind === 'closed') return `closed, ${formatCounted(pace.concurrency, 'request')} in flight`
  if (pace.kind === 'open') return `open, ${describeRate(pace.ratePerSecond)}`
  const parts = pace.stages.map(({ from, to, durationMs }) => {
    const level = (value: number) => (pace.of === 'rate' ? String(value) : formatCount(value))
    const levels = from === to ? level(to) : `${level(from)} to ${level(to)}`
    return `${levels} for ${formatDurationMs(durationMs)}`
  })
  const unit = pace.of === 'rate' ? 'open, requests a second' : 'closed, requests in flight'
  return `${unit}: ${parts.join(', ')}`
}

function describeRate(ratePerSecond: number): string {
  return `${ratePerSecond.toLocaleString('en-US')} ${ratePerSecond === 1 ? 'request' : 'requests'} a second`
}

function describeEnd(load: Load): string {
  if (load.pace.kind === 'stages') {
    const planned = toPlannedRequests(load)
    return planned === null ? '' : ` (${formatCounted(planned, 'request')})`
  }
  if (load.requests !== undefined) return `, ${formatCounted(load.requests, 'request')} in total`
  return load.durationMs === undefined ? '' : ` for ${formatDurationMs(load.durationMs)}`
}

function describeThinkTime({ minMs, maxMs }: NonNullable<Load['thinkTime']>): string {
  return minMs === maxMs
    ? formatDurationMs(minMs)
    : `${formatDurationMs(minMs)} to ${formatDurationMs(maxMs)}`
}
