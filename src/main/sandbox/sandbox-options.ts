import { z } from 'zod'
import { SluiceError } from '../../shared/errors.ts'
import { formatIssues } from './format-issues.ts'
import { ruleSchema } from './rules/rule.ts'

/** The key of a sandbox that was given none. */
export const DEFAULT_SANDBOX_KEY = 'sandbox-key'

const termSchema = z.object({ term: z.string().min(1), notes: z.string().nullable().default(null) })

/** What a sandbox is made of. Plain data, so that it can cross to a thread. */
export const sandboxOptionsSchema = z.strictObject({
  /** Address to listen on. The admin routes answer on loopback only, whatever it is. */
  host: z.string().min(1).default('127.0.0.1'),
  /** 0 takes a free one. */
  port: z.int().min(0).max(65_535).default(0),
  /** Keys of the project, all interchangeable; no white space. */
  apiKeys: z.array(z.string().regex(/^\S+$/, 'must be one word')).min(1).default([DEFAULT_SANDBOX_KEY]),
  /** File that keeps tasks, keys, rules and watchlists; null keeps them in memory. */
  databaseFile: z.string().min(1).nullable().default(null),
  /** Everything left to chance follows from it, each post_id for itself. */
  seed: z.union([z.string(), z.number()]).transform(String).default('sluice'),
  /** See `parseLatency`. */
  latency: z.string().default('0ms'),
  /** See `parseFaults`. */
  faults: z.array(z.string()).default([]),
  /** Requests taken each second by all keys together, in bursts of up to one second's worth; null for no limit. */
  ratePerSecond: z.number().positive().max(1_000_000).nullable().default(null),
  /** Larger bodies are answered 413. */
  bodyLimitBytes: z
    .int()
    .min(1)
    .default(64 * 1024 * 1024),
  /** Requests of this many newest tasks are kept for the admin routes. */
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
  /** Serves https with this certificate, both PEM. */
  tls: z.object({ key: z.string(), cert: z.string() }).nullable().default(null),
})

/** Options as one gives them; every one has a default. */
export type SandboxOptions = z.input<typeof sandboxOptionsSchema>

/** Options with every default filled in. */
export type ResolvedSandboxOptions = z.output<typeof sandboxOptionsSchema>

/** Fills in the defaults. Throws `BAD_USAGE` with everything that is wrong; keys are not repeated. */
export function parseSandboxOptions(options: unknown): ResolvedSandboxOptions {
  const parsed = sandboxOptionsSchema.safeParse(options)
  if (parsed.success) return parsed.data
  throw new SluiceError({
    code: 'BAD_USAGE',
    message: `the sandbox cannot be set up like this: ${formatIssues(parsed.error.issues, options)}`,
    hint: 'Correct these settings; docs/sandbox.md lists all of them.',
  })
}
