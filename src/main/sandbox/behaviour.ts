import type { BehaviourSettings, Fault, Latency } from '../../shared/sandbox/behaviour.ts'
import { type CallbackSettings, parseCallbacks } from './callbacks/callback-settings.ts'
import { parseFaults } from './faults.ts'
import { parseLatency } from './latency.ts'

export interface Behaviour {
  settings: BehaviourSettings
  latency: Latency
  faults: readonly Fault[]
  callbacks: CallbackSettings
  /** Null for no limit. */
  limiter: ReturnType<typeof createRateLimiter> | null
  /** Null for no limit. */
  slots: ReturnType<typeof createSlots> | null
}

/** Parses the settings. `nowMs` is a monotonic clock. Throws `BAD_USAGE` for an invalid one. */
export function createBehaviour(settings: BehaviourSettings, nowMs: () => number): Behaviour {
  return {
    settings,
    latency: parseLatency(settings.latency),
    faults: parseFaults(settings.faults),
    callbacks: parseCallbacks(settings.callbacks),
    limiter: settings.ratePerSecond === null ? null : createRateLimiter(settings.ratePerSecond, nowMs),
    slots: settings.slots === null ? null : createSlots(settings.slots),
  }
}

/**
 * Creates a token bucket that is filled at `ratePerSecond` and holds one second's worth, at least one token.
 * `nowMs` is a monotonic clock.
 */
export function createRateLimiter(ratePerSecond: number, nowMs: () => number) {
  const capacity = Math.max(1, ratePerSecond)
  let tokens = capacity
  let filledAtMs = nowMs()
  return {
    /** 0 if a request may pass, which is then counted; else the whole seconds to wait before the next try. */
    take: (): number => {
      const atMs = nowMs()
      tokens = Math.min(capacity, tokens + ((atMs - filledAtMs) / 1_000) * ratePerSecond)
      filledAtMs = atMs
      if (tokens >= 1) {
        tokens -= 1
        return 0
      }
      return Math.max(1, Math.ceil((1 - tokens) / ratePerSecond))
    },
  }
}

/** Limits concurrency: waiting requests get free slots in the order of their arrival. */
export function createSlots(count: number) {
  const waiting: Array<(release: () => void) => void> = []
  let free = count
  let next = 0
  const release = () => {
    const work = waiting[next]
    if (work === undefined) {
      free += 1
      return
    }
    next += 1
    if (next === waiting.length) {
      waiting.length = 0
      next = 0
    }
    work(release)
  }
  return {
    /** Starts the work in its turn; the work calls `release` once when it is done. */
    take: (work: (release: () => void) => void): void => {
      if (free === 0) waiting.push(work)
      else {
        free -= 1
        work(release)
      }
    },
  }
}
