import { z } from 'zod'
import { SluiceError } from '../../shared/messages/errors.ts'
import { behaviourSettingsSchema, DEFAULT_BEHAVIOUR } from '../../shared/sandbox/behaviour.ts'
import { appealSchema, ruleSchema } from '../../shared/sandbox/content.ts'
import { formatIssues } from './sandbox-errors.ts'

export const DEFAULT_SANDBOX_KEY = 'sandbox-key'

const termSchema = z.object({ term: z.string().min(1), notes: z.string().nullable().default(null) })

type BehaviourShape = typeof behaviourSettingsSchema.shape

const behaviourShape = Object.fromEntries(
  Object.entries<z.ZodType>(behaviourSettingsSchema.shape).map(([name, schema]) => [
    name,
    schema.default(DEFAULT_BEHAVIOUR[name as keyof BehaviourShape]),
  ]),
) as { [Name in keyof BehaviourShape]: z.ZodDefault<BehaviourShape[Name]> }

/** What a sandbox is made of. Plain data, so that it can cross to a thread. */
const sandboxOptionsSchema = z.strictObject({
  /** Address to listen on. The admin routes answer on loopback only, whatever it is; see `isServedHost`. */
  host: z.string().min(1).default('127.0.0.1'),
  /** 0 takes a free one. */
  port: z.int().min(0).max(65_535).default(0),
  /** Port of the second host, which serves the v2 tasks only (docs/interface.md §5.5); 0 takes a free one. */
  taskPort: z.int().min(0).max(65_535).default(0),
  /** Keys of the project, all interchangeable; no white space. */
  apiKeys: z.array(z.string().regex(/^\S+$/, 'must be one word')).min(1).default([DEFAULT_SANDBOX_KEY]),
  /** File that keeps everything, callbacks to be delivered included; null keeps them in memory. */
  databaseFile: z.string().min(1).nullable().default(null),
  /** Everything left to chance follows from it, each post_id for itself. */
  seed: z.union([z.string(), z.number()]).transform(String).default('sluice'),
  /** The behaviour at the start. */
  ...behaviourShape,
  /** Larger bodies are answered 413. */
  bodyLimitBytes: z
    .int()
    .min(1)
    .default(64 * 1024 * 1024),
  /** Longest time for a whole request to arrive; its head has a sixth of it. */
  requestTimeoutMs: z.int().min(1).default(60_000),
  /** Async requests with a callback are answered 503 while that many callbacks wait to be delivered. */
  maxPendingCallbacks: z.int().min(1).default(100_000),
  /**
   * The workspace whose media files are fetched for the custom indexes: at the loopback addresses that it has given to
   * them, and from nowhere else. Null fetches nothing.
   */
  mediaWorkspace: z.string().min(1).nullable().default(null),
  /** They are fetched up to this size, and in this time. */
  mediaLimitBytes: z
    .int()
    .min(1)
    .default(32 * 1024 * 1024),
  mediaTimeoutMs: z.int().min(1).default(5_000),
  /** Requests of this many newest tasks, and this many settled callbacks, are kept for the admin routes. */
  keepRequests: z.int().min(0).default(100_000),
  /** Larger requests are not kept, only their hash. */
  keepRequestBytes: z
    .int()
    .min(0)
    .default(1024 * 1024),
  /** Rules of a new store, instead of the default ones. */
  rules: z.array(ruleSchema).nullable().default(null),
  /** Watchlists of a new store by name, instead of the default one. */
  watchlists: z.record(z.string().min(1), z.array(termSchema)).nullable().default(null),
  /** Ids of the custom indexes of a new store, instead of the default one. */
  indexes: z.array(z.string().min(1)).nullable().default(null),
  /** Appeals of a new store, instead of the default ones. */
  appeals: z.array(appealSchema).nullable().default(null),
  /** Serves https with this certificate, both PEM. */
  tls: z.object({ key: z.string(), cert: z.string() }).nullable().default(null),
})

/** Options as one gives them; every one has a default. */
export type SandboxOptions = z.input<typeof sandboxOptionsSchema>

export type ResolvedSandboxOptions = z.output<typeof sandboxOptionsSchema>

/** Fills in the defaults. Throws `BAD_USAGE` with everything that is wrong; keys are not repeated. */
export function parseSandboxOptions(options: unknown): ResolvedSandboxOptions {
  const parsed = sandboxOptionsSchema.safeParse(options)
  if (parsed.success) return parsed.data
  throw new SluiceError({ id: 'sandbox_options_refused', faults: formatIssues(parsed.error.issues, options) })
}
