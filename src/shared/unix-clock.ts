/**
 * How far the machine's clock may be from ours before ours follows it, milliseconds. Less than that is only
 * its resolution: a clock that is corrected slowly takes `performance.now()` along.
 */
const STEP_MS = 1_000

let originMs = performance.timeOrigin

/**
 * When `performance.now()` was 0, by the machine's clock of now. `performance.timeOrigin` is wrong once that
 * clock was set, or the machine has slept, during which `performance.now()` stands still.
 */
function readOriginMs(): number {
  const measuredMs = Date.now() - performance.now()
  if (isOtherClock(measuredMs, originMs)) {
    const { timeOrigin } = performance
    originMs = isOtherClock(measuredMs, timeOrigin) ? measuredMs : timeOrigin
  }
  return originMs
}

function isOtherClock(oneMs: number, otherMs: number): boolean {
  return Math.abs(oneMs - otherMs) > STEP_MS
}

/**
 * Unix milliseconds, with fractions, of a moment of `performance.now()` (default: now). Unless the machine's
 * clock jumps, moments are exactly as far apart as they were measured.
 */
export function toUnixMs(monotonicMs: number = performance.now()): number {
  return readOriginMs() + monotonicMs
}

/** The moment of `performance.now()` of Unix milliseconds. */
export function toMonotonicMs(unixMs: number): number {
  return unixMs - readOriginMs()
}
