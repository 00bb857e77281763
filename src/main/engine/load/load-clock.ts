/**
 * Unix milliseconds, with fractions, of a clock that is never set and is the same in every thread of the process: what
 * a load is scheduled and measured with. The machine's own time may jump, or go on while the machine sleeps.
 */
export function readClockMs(): number {
  return performance.timeOrigin + performance.now()
}
