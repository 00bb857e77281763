import { performance } from 'node:perf_hooks'

export interface SandboxClock {
  /** Milliseconds since some instant; never goes back. */
  nowMs(): number
  /** Wall-clock time, for the time stamps of answers. */
  date(): Date
}

/** The time of this machine. */
export const SYSTEM_CLOCK: SandboxClock = { nowMs: () => performance.now(), date: () => new Date() }
