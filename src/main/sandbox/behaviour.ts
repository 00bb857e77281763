import { z } from 'zod'
import { type CallbackSettings, parseCallbacks } from './callbacks/callback-settings.ts'
import { type Fault, parseFaults } from './faults.ts'
import { type Latency, parseLatency } from './latency.ts'

/** How the sandbox behaves, as one writes it; it can be changed while the sandbox runs. */
export const behaviourSettingsSchema = z.strictObject({
  /** See `parseLatency`. */
  latency: z.string(),
  /** See `parseFaults`. */
  faults: z.array(z.string()),
  /** Requests taken each second by all keys together, in bursts of up to one second's worth; null for no limit. */
  ratePerSecond: z.number().positive().max(1_000_000).nullable(),
  /** Requests worked on at once; others wait their turn, so that answers slow down with load. Null for no limit. */
  slots: z.int().min(1).max(10_000).nullable(),
  /** See `parseCallbacks`. */
  callbacks: z.string(),
  /** More terms in one request are answered 413; null for no limit. */
  maxTermsPerRequest: z.int().min(1).nullable(),
  /** What `failed_terms` holds: term objects, or their texts alone. */
  failedTerms: z.enum(['objects', 'strings']),
  /**
   * Whether watchlist add pairs its error codes like watchlist update, or as its own table does (docs/interface.md §7).
   */
  watchlistAddCodes: z.enum(['consistent', 'contradictory']),
})

/** See {@link behaviourSettingsSchema}. */
export type BehaviourSettings = z.infer<typeof behaviourSettingsSchema>

/** Default behaviour of a sandbox. */
export const DEFAULT_BEHAVIOUR: Readonly<BehaviourSettings> = {
  latency: '0ms',
  faults: [],
  ratePerSecond: null,
  slots: null,
  callbacks: '',
  maxTermsPerRequest: null,
  failedTerms: 'objects',
  watchlistAddCodes: 'consistent',
}

/** The behaviour in force. */
export interface Behaviour {
  settings: BehaviourSettings
  latency: Latency
  faults: readonly Fault[]
  callbacks: CallbackSettings
  /** Null for no limit. */
  limiter: RateLimiter | null
  /** Null for no limit. */
  slots: Slots | null
}

/** Reads the settings. `nowMs` is a clock that never goes back. Throws `BAD_USAGE` where one cannot be read. */
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

/** Settings to change; what is left out stays. */
export const behaviourChangeSchema = behaviourSettingsSchema.partial()

/** See {@link behaviourChangeSchema}. */
export type BehaviourChange = z.infer<typeof behaviourChangeSchema>

/** The settings after a change. */
export function applyChange(settings: BehaviourSettings, change: BehaviourChange): BehaviourSettings {
  return {
    latency: change.latency ?? settings.latency,
    faults: change.faults ?? settings.faults,
    ratePerSecond: change.ratePerSecond === undefined ? settings.ratePerSecond : change.ratePerSecond,
    slots: change.slots === undefined ? settings.slots : change.slots,
    callbacks: change.callbacks ?? settings.callbacks,
    maxTermsPerRequest:
      change.maxTermsPerRequest === undefined ? settings.maxTermsPerRequest : change.maxTermsPerRequest,
    failedTerms: change.failedTerms ?? settings.failedTerms,
    watchlistAddCodes: change.watchlistAddCodes ?? settings.watchlistAddCodes,
  }
}

/** Says whether a request may pass. */
export interface RateLimiter {
  /** 0 where it may, and it is then counted; otherwise the whole seconds after which it may be tried again. */
  take(): number
}

/**
 * A bucket of tokens, filled at `ratePerSecond`, that holds one second's worth and at least one. `nowMs` is a clock
 * that never goes back.
 */
export function createRateLimiter(ratePerSecond: number, nowMs: () => number): RateLimiter {
  const capacity = Math.max(1, ratePerSecond)
  let tokens = capacity
  let filledAtMs = nowMs()
  return {
    take: () => {
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

/** Lets requests in as slots become free. */
export interface Slots {
  /** Starts the work in its turn; the work calls `release` once, when it is done. */
  take(work: (release: () => void) => void): void
}

/** A number of slots, given out in the order of arrival. */
export function createSlots(count: number): Slots {
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
    take: (work) => {
      if (free === 0) waiting.push(work)
      else {
        free -= 1
        work(release)
      }
    },
  }
}
