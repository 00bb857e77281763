import { setTimeout as wait } from 'node:timers/promises'

/** The receiver's time, so that tests can be its master. */
export interface ReceiverClock {
  /** Unix milliseconds. */
  nowMs(): number
  /** Unix microseconds. */
  nowUs(): number
  /** Resolves after so many milliseconds; rejects when the signal aborts. */
  wait(ms: number, signal: AbortSignal): Promise<void>
}

/** The machine's own time. */
export const MACHINE_CLOCK: ReceiverClock = {
  nowMs: () => Date.now(),
  nowUs: () => (performance.timeOrigin + performance.now()) * 1000,
  wait: (ms, signal) => wait(ms, undefined, { signal }),
}
