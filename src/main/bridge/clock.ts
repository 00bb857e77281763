import { setTimeout as wait } from 'node:timers/promises'

/** Time as the event streams see it. */
export interface Clock {
  /** Milliseconds that only ever grow. */
  now(): number
  /** Settles after that many milliseconds, or at once when the signal is given. Never rejects. */
  wait(ms: number, signal: AbortSignal): Promise<void>
}

/** The machine's own clock. */
export const systemClock: Clock = {
  now: () => performance.now(),
  wait: (ms, signal) => wait(ms, undefined, { signal }).catch(() => {}),
}
