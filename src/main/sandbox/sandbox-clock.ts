import { performance } from 'node:perf_hooks'

export interface SandboxClock {
  /** Monotonic time in milliseconds. */
  nowMs(): number
  /** Wall-clock time, for time stamps in answers. */
  date(): Date
}

export const SYSTEM_CLOCK: SandboxClock = { nowMs: () => performance.now(), date: () => new Date() }
