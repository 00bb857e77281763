import type { Pace } from '../../../shared/plan/plan.ts'

/** Decides when the next request may be sent. Times are milliseconds of one monotonic clock. */
export interface Pacer {
  /** Most requests in flight. */
  readonly concurrency: number
  /** How many requests are due but not taken yet; Infinity if only the number in flight limits. */
  due(nowMs: number): number
  /** Takes the next due request; returns the instant it was scheduled for, null under a closed pace. */
  take(): number | null
  /** Starts, or continues after a pause: what would have been due in between is not made up for. */
  start(nowMs: number): void
}

export function createPacer(pace: Pace): Pacer {
  if (pace.kind === 'closed') {
    return { concurrency: pace.concurrency, due: () => Infinity, take: () => null, start: () => {} }
  }
  return createOpenPacer(pace.ratePerSecond, pace.maxInFlight)
}

/**
 * Request i is due at `t0 + i / rate`, whenever this is called: late timers do not add up (docs/load-tests.md
 * §2).
 */
function createOpenPacer(ratePerSecond: number, maxInFlight: number): Pacer {
  const intervalMs = 1000 / ratePerSecond
  let startMs = 0
  let taken = 0
  return {
    concurrency: maxInFlight,
    due: (nowMs) => Math.max(0, Math.floor((nowMs - startMs) / intervalMs) + 1 - taken),
    take() {
      const scheduledMs = startMs + taken * intervalMs
      taken += 1
      return scheduledMs
    },
    start(nowMs) {
      startMs = nowMs
      taken = 0
    },
  }
}
