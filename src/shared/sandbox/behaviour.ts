import { z } from 'zod'

/** The sandbox's behaviour as a person writes it; it can be changed while the sandbox runs. */
export const behaviourSettingsSchema = z.strictObject({
  /** See `parseLatency`. */
  latency: z.string(),
  /** See `parseFaults`. */
  faults: z.array(z.string()),
  /** Requests accepted each second for all keys, in bursts of up to a second's worth; null: no limit. */
  ratePerSecond: z.number().positive().max(1_000_000).nullable(),
  /** Requests handled at once; others wait their turn, so answers slow down with load. Null for no limit. */
  slots: z.int().min(1).max(10_000).nullable(),
  /** See `parseCallbacks`. */
  callbacks: z.string(),
  /** A request with more terms is answered with 413; null for no limit. */
  maxTermsPerRequest: z.int().min(1).nullable(),
  /** The items of `failed_terms`: term objects, or only their texts. */
  failedTerms: z.enum(['objects', 'strings']),
  /** Whether watchlist add pairs error codes like update, or as its table (docs/interface.md §7). */
  watchlistAddCodes: z.enum(['consistent', 'contradictory']),
})

export type BehaviourSettings = z.infer<typeof behaviourSettingsSchema>

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

/** Settings to change; absent ones stay. */
export const behaviourChangeSchema = behaviourSettingsSchema.partial()

export type BehaviourChange = z.infer<typeof behaviourChangeSchema>

export function applyChange(settings: BehaviourSettings, change: BehaviourChange): BehaviourSettings {
  const names = Object.keys(DEFAULT_BEHAVIOUR) as (keyof BehaviourSettings)[]
  const changed = names.map((name) => [name, change[name] === undefined ? settings[name] : change[name]])
  return Object.fromEntries(changed) as BehaviourSettings
}

/** One kind of answer: after `baseMs` ± up to `jitterMs`, uniformly distributed. */
export const latencyModeSchema = z.object({
  baseMs: z.number(),
  jitterMs: z.number(),
  /** Share of the answers, from 0 to 1. */
  share: z.number(),
})

export type LatencyMode = z.infer<typeof latencyModeSchema>

/** How long the sandbox takes to answer; the shares add up to 1. */
export type Latency = readonly LatencyMode[]

/** A fault setting: what goes wrong, how often, and how. */
export const faultSchema = z.object({
  /**
   * What goes wrong. `status`: an error status. `reset`: the connection is reset before the answer. `stall`:
   * nothing is answered. `broken-json`: 200 with a body that is not JSON. `truncated`: the connection ends
   * inside the body. `html`: a page like a gateway's instead of the answer.
   */
  kind: z.enum(['status', 'reset', 'stall', 'broken-json', 'truncated', 'html']),
  /** Its name in the setting: `5xx`, `503-after`, `reset`. */
  name: z.string(),
  /** Share of the requests, from 0 to 1. */
  share: z.number(),
  /** When the fault happens: `before` or `after` the task is stored, or `either` with equal probability. */
  moment: z.enum(['before', 'after', 'either']),
  /** HTTP status; null chooses among 500, 502, 503 and 504. */
  status: z.number().nullable(),
  /** Seconds of the Retry-After header; null for none. */
  retryAfterS: z.number().nullable(),
  /** Applies only to this many first tries of a post_id; null for every try. */
  tries: z.number().nullable(),
  /** After how many milliseconds a stalled answer comes after all; null for never. */
  stallMs: z.number().nullable(),
})

export type Fault = z.infer<typeof faultSchema>
