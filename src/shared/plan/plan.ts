import { z } from 'zod'
import { loadSchema } from '../load/load.ts'
import { IN_FLIGHT_MAX, RATE_MAX } from '../load/load-pace.ts'
import { acceptCodeSchema } from '../run/accept-code.ts'
import { callbackSchema } from './callback.ts'
import { bareUrlSchema, connectionSchema } from './connection.ts'
import { fixesSchema } from './fixes.ts'
import { operationSchema } from './operation.ts'
import { SOURCE_FORMAT_NAMES } from './source-formats.ts'

export type { Operation, TaskOperation } from './operation.ts'

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
 * Which column, constant or template fills which field of the request (docs/interface.md §2). Keys are wire names
 * (`text_data`, `post_id`, `models`, …) or `user_metadata.KEY` and `content_metadata.KEY` for one key of the object.
 */
const mappingSchema = z.record(z.string(), fieldSourceSchema)

export type Mapping = z.infer<typeof mappingSchema>

const filledBySchema = z.record(z.string(), z.enum(['name', 'guess']))

/** Fields of a mapping that nobody stated: filled by a column of their name, or by a guess. */
export type FilledBy = z.infer<typeof filledBySchema>

const mediaSchema = z.discriminatedUnion('kind', [
  /** Addresses made from a template; `{{path}}` is the file's path inside the folder, percent-encoded. */
  z.object({ kind: z.literal('template'), template: z.string().min(1) }),
  /** The media host serves the files itself; `url` is its public base (default: its own address). */
  z.object({ kind: z.literal('host'), url: bareUrlSchema.optional() }),
])

/** Where the service finds the media files of a folder. */
export type PlanMedia = z.infer<typeof mediaSchema>

/** How a source is read. */
export const sourceFormatSchema = z.enum(SOURCE_FORMAT_NAMES)

/** One character of delimited text that means something, or that there is none. */
const characterSchema = z.union([z.string().length(1), z.literal('none')])

const sourceSchema = z.object({
  /** Absolute path of the file or folder. */
  path: z.string().min(1),
  /** Absolute paths of further files, or folders of tables, whose rows follow in this order. */
  more: z.array(z.string().min(1)).min(1).optional(),
  /** By the file's ending unless given. */
  format: sourceFormatSchema.optional(),
  /** Whether the first record names the columns. */
  header: z.boolean().default(true),
  /** 1-based record that names the columns; those before it are passed over. */
  headerRow: z.int().min(1).optional(),
  /** Name or 1-based number of a spreadsheet's sheet (default: the first). */
  sheet: z.union([z.string(), z.int().min(1)]).optional(),
  /** Which rows of a spreadsheet are read (default: all, and a run asks before it sends hidden ones). */
  rows: z.enum(['all', 'visible']).optional(),
  /**
   * Whether empty cells get the text of the first cell that they are merged with (default: they stay empty, which is
   * told).
   */
  merged: z.enum(['empty', 'fill']).optional(),
  /** A label that `iconv-lite` or TextDecoder knows, such as `windows-1252` (default: recognised). */
  encoding: z.string().optional(),
  /** One character, or `none` for one cell a line (default: recognised). */
  delimiter: characterSchema.optional(),
  /** Stands around cells that contain delimiters or line breaks; `none` where nothing does (default: recognised). */
  quote: characterSchema.optional(),
  /** Makes a quote inside a cell part of its text; `none` where quotes are doubled (default: recognised). */
  escape: characterSchema.optional(),
  /** A folder's media files; without it they have no address and cannot be sent. */
  media: mediaSchema.optional(),
})

/** A file or folder of rows and how to read it. */
export type PlanSource = z.infer<typeof sourceSchema>

const paceSchema = z.discriminatedUnion('kind', [
  /** At most `concurrency` requests in flight; the next is sent when one returns. */
  z.object({ kind: z.literal('closed'), concurrency: z.int().min(1).max(IN_FLIGHT_MAX) }),
  /** `ratePerSecond` requests due each second on an absolute schedule, at most `maxInFlight` at once. */
  z.object({
    kind: z.literal('open'),
    ratePerSecond: z.number().positive().max(RATE_MAX),
    maxInFlight: z.int().min(1).max(IN_FLIGHT_MAX),
  }),
])

/** How fast to send. */
export type Pace = z.infer<typeof paceSchema>

/** Longest wait that a plan may ask for, milliseconds; a timer lasts at most 24 days. */
const WAIT_MAX_MS = 3_600_000

const retrySchema = z.object({
  /** Retries after the first try, 0 for none. */
  limit: z.int().min(0).max(100).default(3),
  /** Back-off before the first retry; doubled each time, with full jitter. */
  baseMs: z.int().min(1).max(WAIT_MAX_MS).default(200),
  /** Bound of one back-off. */
  maxMs: z.int().min(1).max(WAIT_MAX_MS).default(10_000),
  /** Bound on a Retry-After that is waited for; a longer one is cut to this up to a minute, and holds the run beyond. */
  maxRetryAfterMs: z.int().min(1).max(WAIT_MAX_MS).default(60_000),
})

/** When and how often an attempt that was not taken is repeated (docs/architecture.md §2.2). */
export type RetryRules = z.infer<typeof retrySchema>

/** Everything a run needs but its secrets: the same plan runs from the window and from the command line. */
export const planSchema = z.object({
  version: z.literal(1).default(1),
  name: z.string().optional(),
  connection: connectionSchema,
  source: sourceSchema,
  mapping: mappingSchema.default({}),
  /** Which fields of `mapping` nobody stated; a run asks before it loses content to a guess. */
  filledBy: filledBySchema.optional(),
  /** What is sent otherwise than the source has it. */
  fixes: fixesSchema.optional(),
  /** Warnings that do not stop the rows from being sent (`shared/run/accept-code.ts`). */
  accept: z.array(acceptCodeSchema).optional(),
  operation: operationSchema,
  callback: callbackSchema.default(callbackSchema.parse({})),
  pace: paceSchema.default({ kind: 'closed', concurrency: 4 }),
  /** A load test instead of a run that sends each row once; its pace goes before the plan's. */
  load: loadSchema.optional(),
  retry: retrySchema.default(retrySchema.parse({})),
})

/** A plan with every default filled in. */
export type Plan = z.infer<typeof planSchema>

/** A plan as a person writes it, defaults left out. */
export type PlanInput = z.input<typeof planSchema>
