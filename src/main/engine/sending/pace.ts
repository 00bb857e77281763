import type { Pace } from '../../../shared/plan/plan.ts'

/** Says when the next request may go out. Times are milliseconds of the same monotonic clock throughout. */
export interface Pacer {
  /** Requests at most in flight. */
  readonly concurrency: number
  /** How many requests are due now and not taken yet; Infinity if only what is in flight limits. */
  due(nowMs: number): number
  /** Takes the next due request; returns the instant it was scheduled for, null under a closed pace. */
  take(): number | null
  /** Starts, or continues after a pause: what would have been due meanwhile is not made up for. */
  start(nowMs: number): void
}

export function createPacer(pace: Pace): Pacer {
  if (pace.kind === 'closed') {
    return { concurrency: pace.concurrency, due: () => Infinity, take: () => null, start: () => {} }
  }
  return createOpenPacer(pace.ratePerSecond, pace.maxInFlight)
}

/** Request i is due at `t0 + i / rate`, whenever anybody looks: no timer's lateness adds up (docs/load-tests.md §2). */
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
