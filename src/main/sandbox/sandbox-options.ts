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

/** Options of a sandbox. Plain data, so that they can be sent to a thread. */
const sandboxOptionsSchema = z.strictObject({
  /** Address to listen on. The admin routes always answer on loopback only; see `isServedHost`. */
  host: z.string().min(1).default('127.0.0.1'),
  /** 0 picks a free port. */
  port: z.int().min(0).max(65_535).default(0),
  /** Port of the second host, which serves only v2 tasks (docs/interface.md §5.5); 0 picks a free port. */
  taskPort: z.int().min(0).max(65_535).default(0),
  /** Interchangeable keys of the project, without white space. */
  apiKeys: z.array(z.string().regex(/^\S+$/, 'must be one word')).min(1).default([DEFAULT_SANDBOX_KEY]),
  /** File that stores everything, including pending callbacks; null to keep it in memory. */
  databaseFile: z.string().min(1).nullable().default(null),
  /** Everything random follows from it, separately for each post_id. */
  seed: z.union([z.string(), z.number()]).transform(String).default('sluice'),
  ...behaviourShape,
  /** Larger bodies are answered with 413. */
  bodyLimitBytes: z
    .int()
    .min(1)
    .default(64 * 1024 * 1024),
  /** Longest time for a whole request to arrive; the head has a sixth of it. */
  requestTimeoutMs: z.int().min(1).default(60_000),
  /** Most pending callbacks; with that many, async requests with a callback are answered with 503. */
  maxPendingCallbacks: z.int().min(1).default(100_000),
  /**
   * The workspace whose media files are fetched for the custom indexes, only from the loopback addresses that
   * it has issued for them. Null to fetch nothing.
   */
  mediaWorkspace: z.string().min(1).nullable().default(null),
  /** Limits of size and time for fetched media. */
  mediaLimitBytes: z
    .int()
    .min(1)
    .default(32 * 1024 * 1024),
  mediaTimeoutMs: z.int().min(1).default(5_000),
  /** The admin routes show the requests of this many newest tasks, and this many settled callbacks. */
  keepRequests: z.int().min(0).default(100_000),
  /** Only the hash is kept of larger requests. */
  keepRequestBytes: z
    .int()
    .min(0)
    .default(1024 * 1024),
  /** Rules of a new store; null for the default ones. */
  rules: z.array(ruleSchema).nullable().default(null),
  /** Watchlists of a new store by name; null for the default one. */
  watchlists: z.record(z.string().min(1), z.array(termSchema)).nullable().default(null),
  /** Ids of the custom indexes of a new store; null for the default one. */
  indexes: z.array(z.string().min(1)).nullable().default(null),
  /** Appeals of a new store; null for the default ones. */
  appeals: z.array(appealSchema).nullable().default(null),
  /** Key and certificate (PEM) to serve https; null for http. */
  tls: z.object({ key: z.string(), cert: z.string() }).nullable().default(null),
})

/** Options as callers give them; all have defaults. */
export type SandboxOptions = z.input<typeof sandboxOptionsSchema>

export type ResolvedSandboxOptions = z.output<typeof sandboxOptionsSchema>

/** Fills in the defaults. Throws `BAD_USAGE` with all problems, without repeating keys. */
export function parseSandboxOptions(options: unknown): ResolvedSandboxOptions {
  const parsed = sandboxOptionsSchema.safeParse(options)
  if (parsed.success) return parsed.data
  throw new SluiceError({ id: 'sandbox_options_refused', faults: formatIssues(parsed.error.issues, options) })
}
