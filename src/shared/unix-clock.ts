/**
 * How far the machine's clock may be from ours before ours follows it, milliseconds. Less than that is only
 * its resolution: a clock that is corrected slowly takes `performance.now()` along.
 */
const STEP_MS = 1_000

let originMs = performance.timeOrigin

/** Earlier origins, oldest first, and the moments of `performance.now()` until which each was ours. */
const earlier: { originMs: number; untilMs: number }[] = []

/**
 * When `performance.now()` was 0, by the machine's clock of now. `performance.timeOrigin` is wrong once that
 * clock was set, or the machine has slept, during which `performance.now()` stands still.
 */
function readOriginMs(): number {
  const measuredMs = Date.now() - performance.now()
  if (isOtherClock(measuredMs, originMs)) {
    const { timeOrigin } = performance
    earlier.push({ originMs, untilMs: performance.now() })
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

/**
 * A time by the machine's clock, Unix milliseconds: whatever that clock showed before it, once shown, is at
 * least `ms` milliseconds ago as measured. Usually `ms` before now; earlier if the clock was set meanwhile,
 * or the machine has slept.
 */
export function toUnixMsAgo(ms: number): number {
  const momentMs = performance.now() - ms
  const sinceMs = [
    readOriginMs(),
    ...earlier.flatMap((one) => (one.untilMs > momentMs ? [one.originMs] : [])),
  ]
  return Math.min(...sinceMs) + momentMs
}

/**
 * Whether the machine's clock was set, or the machine slept, at a time that may lie between two times, Unix
 * milliseconds: their distance is then not what passed. Known of the time since this process began.
 */
export function wasClockSet(fromMs: number, toMs: number): boolean {
  const now = readOriginMs()
  return earlier.some(({ originMs: before, untilMs }, index) => {
    const after = earlier[index + 1]?.originMs ?? now
    return fromMs <= Math.max(before, after) + untilMs && toMs >= Math.min(before, after) + untilMs
  })
}

/** The moment of `performance.now()` of Unix milliseconds. */
export function toMonotonicMs(unixMs: number): number {
  return unixMs - readOriginMs()
}
