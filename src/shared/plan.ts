import { z } from 'zod'

/** Where a field's value comes from. */
const fieldSourceSchema = z.discriminatedUnion('kind', [
  /** The cell of a column, by header name or 1-based number. */
  z.object({ kind: z.literal('column'), column: z.union([z.string(), z.int().min(1)]) }),
  /** Text with `{{row}}`, `{{run}}` and `{{column name}}` filled in; without any of them, a constant. */
  z.object({ kind: z.literal('template'), template: z.string() }),
])

/** Which column or template fills one field of the request. */
export type FieldSource = z.infer<typeof fieldSourceSchema>

/**
 * Which column, constant or template fills which field of the request (interface §2). Keys are wire names
 * (`text_data`, `post_id`, `models`, …) or `user_metadata.KEY` and `content_metadata.KEY` for one key of the object.
 */
const mappingSchema = z.record(z.string(), fieldSourceSchema)

/** See {@link mappingSchema}. */
export type Mapping = z.infer<typeof mappingSchema>

const sourceSchema = z.object({
  /** Absolute path of the file. */
  path: z.string().min(1),
  /** By the file's ending unless given. */
  format: z.enum(['csv', 'tsv']).optional(),
  /** Whether the first record names the columns. */
  header: z.boolean().default(true),
  /** A label that `iconv-lite` or TextDecoder knows, such as `windows-1252`; recognised unless given. */
  encoding: z.string().optional(),
  /** One character; recognised unless given. */
  delimiter: z.string().length(1).optional(),
})

/** A file of rows and how to read it. */
export type PlanSource = z.infer<typeof sourceSchema>

/** A plan is journaled and shown, so its address must carry no secret. */
function isBareUrl(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { username, password, search, hash } = new URL(text)
  return username === '' && password === '' && search === '' && hash === ''
}

const connectionSchema = z.object({
  /** Scheme, host, port and an optional path prefix, without a trailing slash. */
  baseUrl: z.url({ protocol: /^https?$/ }).refine(isBareUrl, {
    error: 'must hold no user name, password, query or fragment',
  }),
  /** Name of the environment variable that holds the API key; the key itself is never in a plan. */
  apiKeyEnv: z.string().min(1).default('SLUICE_API_KEY'),
  /** From handing a request to the connection until its last byte. */
  timeoutMs: z.int().min(1).max(3_600_000).default(60_000),
  /** Service error codes that mean "this post_id was delivered before"; such an answer counts as succeeded. */
  deliveredCodes: z.array(z.string()).default([]),
})

/** A deployment of the service. */
export type PlanConnection = z.infer<typeof connectionSchema>

const operationSchema = z.object({
  kind: z.literal('task'),
  mode: z.enum(['sync', 'async']).default('sync'),
  api: z.enum(['v1', 'v2']).default('v1'),
  /** Ask for the legacy response (`?legacy=1`, interface §2.3). */
  legacy: z.boolean().default(false),
  /** Models of every row, unless the mapping fills `models` from a column. */
  models: z.array(z.string()).default([]),
})

/** What is done with each row (interface §4). */
export type Operation = z.infer<typeof operationSchema>

const paceSchema = z.discriminatedUnion('kind', [
  /** At most `concurrency` requests in flight; the next is sent when one returns. */
  z.object({ kind: z.literal('closed'), concurrency: z.int().min(1).max(10_000) }),
  /** `ratePerSecond` requests due each second on an absolute schedule, at most `maxInFlight` at once. */
  z.object({
    kind: z.literal('open'),
    ratePerSecond: z.number().positive().max(1_000_000),
    maxInFlight: z.int().min(1).max(10_000),
  }),
])

/** How fast to send. */
export type Pace = z.infer<typeof paceSchema>

/** Longest wait that a plan may ask for, milliseconds; a timer bears no more than 24 days. */
const WAIT_MAX_MS = 3_600_000

const retrySchema = z.object({
  /** Retries after the first try, 0 for none. */
  limit: z.int().min(0).max(100).default(3),
  /** Back-off before the first retry; doubled each time, with full jitter. */
  baseMs: z.int().min(1).max(WAIT_MAX_MS).default(200),
  /** Bound of one back-off. */
  maxMs: z.int().min(1).max(WAIT_MAX_MS).default(10_000),
  /** Bound on a Retry-After that is honoured; a longer one is cut to this. */
  maxRetryAfterMs: z.int().min(1).max(WAIT_MAX_MS).default(60_000),
})

/** When and how often an attempt that was not taken is repeated (design §2). */
export type RetryRules = z.infer<typeof retrySchema>

/** Everything a run needs but its secrets: the same plan runs from the window and from the command line. */
export const planSchema = z.object({
  version: z.literal(1).default(1),
  name: z.string().optional(),
  connection: connectionSchema,
  source: sourceSchema,
  mapping: mappingSchema.default({}),
  operation: operationSchema,
  pace: paceSchema.default({ kind: 'closed', concurrency: 4 }),
  retry: retrySchema.default(retrySchema.parse({})),
})

/** A plan with every default filled in. */
export type Plan = z.infer<typeof planSchema>

/** A plan as a person writes it, defaults left out. */
export type PlanInput = z.input<typeof planSchema>
