import { formatDurationMs } from '../../../shared/messages/duration.ts'
import type { LoadProgress, RunPhase, RunSnapshot } from '../../../shared/run/snapshot.ts'
import { formatDuration } from '../terminal/number-format.ts'

/** A picture of a load test. */
export type LoadSnapshot = RunSnapshot & { load: LoadProgress }

/** Whether a picture is one of a load test that has begun. */
export function isLoadSnapshot(snapshot: RunSnapshot): snapshot is LoadSnapshot {
  return snapshot.load !== null
}

/** What the load test is doing, in a word. */
export function toLoadLabel(phase: RunPhase, load: LoadProgress): string {
  if (phase === 'ended') return 'Ended'
  if (load.phase === 'warmup') return 'Warming'
  if (load.phase === 'measuring') return 'Loading'
  return load.awaited > 0 ? 'Awaiting' : 'Stopping'
}

/** How much of the measured time is over, from 0 to 1; null where it ends with a number of requests. */
export function toLoadShare({ phase, elapsedMs, measuredMs }: LoadProgress): number | null {
  if (phase === 'warmup') return 0
  if (phase === 'stopping') return 1
  return measuredMs === null ? null : Math.min(1, Math.max(0, elapsedMs / measuredMs))
}

/** How long it has measured, or will warm up: `25.3 s of 1m`, `starts in 3.2 s`. */
export function formatLoadTime({ phase, elapsedMs, measuredMs }: LoadProgress): string {
  if (phase === 'warmup') return `measuring in ${formatDuration(-elapsedMs)}`
  const overMs = Math.max(0, elapsedMs)
  const ms = measuredMs === null || phase === 'measuring' ? overMs : Math.min(overMs, measuredMs)
  return measuredMs === null
    ? formatDuration(ms)
    : `${formatDuration(ms)} of ${formatDurationMs(Math.round(measuredMs))}`
}
