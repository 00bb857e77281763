import { z } from 'zod'

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

/** Settings to change; what is left out stays. */
export const behaviourChangeSchema = behaviourSettingsSchema.partial()

export type BehaviourChange = z.infer<typeof behaviourChangeSchema>

export function applyChange(settings: BehaviourSettings, change: BehaviourChange): BehaviourSettings {
  const names = Object.keys(DEFAULT_BEHAVIOUR) as (keyof BehaviourSettings)[]
  const changed = names.map((name) => [name, change[name] === undefined ? settings[name] : change[name]])
  return Object.fromEntries(changed) as BehaviourSettings
}

/** One way to answer: after `baseMs`, give or take up to `jitterMs`, every value between as likely. */
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
   * What goes wrong. `status`: an error status. `reset`: the connection is reset before the answer. `stall`: nothing is
   * answered. `broken-json`: 200 whose body is not JSON. `truncated`: the connection ends amid the body. `html`: a page
   * such as a gateway's instead of the answer.
   */
  kind: z.enum(['status', 'reset', 'stall', 'broken-json', 'truncated', 'html']),
  /** As the setting names it: `5xx`, `503-after`, `reset`. */
  name: z.string(),
  /** Share of the requests, from 0 to 1. */
  share: z.number(),
  /** Whether the task is stored first: `before` no, `after` yes, `either` one as likely as the other. */
  moment: z.enum(['before', 'after', 'either']),
  /** HTTP status; null chooses among 500, 502, 503 and 504. */
  status: z.number().nullable(),
  /** Seconds of the Retry-After header; null for none. */
  retryAfterS: z.number().nullable(),
  /** Only the first tries of a post_id, that many; null for every attempt. */
  tries: z.number().nullable(),
  /** How long a stall lasts before the answer comes after all, in milliseconds; null forever. */
  stallMs: z.number().nullable(),
})

export type Fault = z.infer<typeof faultSchema>
