import { z } from 'zod'
import type { Fault } from './faults.ts'
import { type Latency, parseLatency } from './latency.ts'
import { parseFaults } from './parse-faults.ts'
import { createRateLimiter, type RateLimiter } from './rate-limiter.ts'

/** How the sandbox behaves, as one writes it; it can be changed while the sandbox runs. */
export const behaviourSettingsSchema = z.strictObject({
  latency: z.string(),
  faults: z.array(z.string()),
  ratePerSecond: z.number().positive().max(1_000_000).nullable(),
})

/** See {@link behaviourSettingsSchema}. */
export type BehaviourSettings = z.infer<typeof behaviourSettingsSchema>

/** The behaviour in force. */
export interface Behaviour {
  settings: BehaviourSettings
  latency: Latency
  faults: readonly Fault[]
  /** Null for no limit. */
  limiter: RateLimiter | null
}

/** Reads the settings. `nowMs` is a clock that never goes back. Throws `BAD_USAGE` where one cannot be read. */
export function createBehaviour(settings: BehaviourSettings, nowMs: () => number): Behaviour {
  return {
    settings,
    latency: parseLatency(settings.latency),
    faults: parseFaults(settings.faults),
    limiter: settings.ratePerSecond === null ? null : createRateLimiter(settings.ratePerSecond, nowMs),
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
  }
}
