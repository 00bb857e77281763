import { z } from 'zod'
import { loadSchema } from '../load/load.ts'
import { IN_FLIGHT_MAX, RATE_MAX } from '../load/load-pace.ts'
import { operationSchema } from '../operations/operations.ts'
import { CALLBACK_OPTIONS } from '../options/callback-options.ts'
import { toShape } from '../options/option.ts'
import { RETRY_OPTIONS } from '../options/retry-options.ts'
import { SOURCE_OPTIONS } from '../options/source-options.ts'
import { STOP_OPTIONS } from '../options/stop-options.ts'
import { acceptCodeSchema } from '../run/accept-code.ts'
import { acceptedCausesSchema } from '../run/accepted-causes.ts'
import { connectionSchema } from './connection.ts'
import { type EarlierFixes, fixesSchema } from './fixes.ts'
import { SOURCE_FORMAT_NAMES } from './source-formats.ts'

/** Source of a field's value. */
/** For columns without a name, which are stored by number: how many columns the source had. */
const columnCountSchema = z.int().min(1)

const fieldSourceSchema = z.discriminatedUnion('kind', [
  /** The cell of a column, by header name or 1-based number. */
  z.object({
    kind: z.literal('column'),
    column: z.union([z.string(), z.int().min(1)]),
    /** For a stored number: the column's name. A source with another name there is refused. */
    name: z.string().exactOptional(),
    /** Whether several columns had that name, so that the number decides between them. */
    isOneOfSeveral: z.literal(true).exactOptional(),
    of: columnCountSchema.exactOptional(),
  }),
  /** Text with `{{row}}`, `{{run}}` and `{{column name}}` filled in; without any of them, a constant. */
  z.object({ kind: z.literal('template'), template: z.string(), of: columnCountSchema.exactOptional() }),
])

/** Which column or template fills one field of the request. */
export type FieldSource = z.infer<typeof fieldSourceSchema>

/**
 * Which column, constant or template fills which field of the request (docs/interface.md §2). Keys are wire
 * names (`text_data`, `post_id`, `models`, …), or `user_metadata.KEY` and `content_metadata.KEY` for one key
 * of these objects.
 */
const mappingSchema = z.record(z.string(), fieldSourceSchema)

export type Mapping = z.infer<typeof mappingSchema>

const filledBySchema = z.record(z.string(), z.enum(['name', 'guess']))

/** Mapped fields that nobody chose: filled by a column of their name, or by a guess. */
export type FilledBy = z.infer<typeof filledBySchema>

export const sourceFormatSchema = z.enum(SOURCE_FORMAT_NAMES)

const sourceSchema = z.object(toShape(SOURCE_OPTIONS))

/** A file or folder of rows and how to read it. */
export type PlanSource = z.infer<typeof sourceSchema>

const callbackSchema = z.object(toShape(CALLBACK_OPTIONS))

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

export type Pace = z.infer<typeof paceSchema>

const retrySchema = z.object(toShape(RETRY_OPTIONS))

/** When and how often an attempt that was not accepted is repeated (docs/architecture.md §2.2). */
export type RetryRules = z.infer<typeof retrySchema>

const stopSchema = z.object(toShape(STOP_OPTIONS))

/** When a run stops because too many of its rows do not succeed. */
export type StopRule = z.infer<typeof stopSchema>

export const DEFAULT_STOP_RULE: StopRule = stopSchema.parse({})

/** Skips rows that were sent to the same service before. */
const onlyNewSchema = z.object({
  /** Fields of the request, or columns of the source, that together identify a row (default: its own id). */
  by: z.array(z.string().min(1)).min(1).exactOptional(),
  /** Also skips rows that may have been sent, instead of asking about them. */
  unknown: z.literal('skip').exactOptional(),
})

/** Everything a run needs except its secrets: the same plan runs from the window and the command line. */
export const planSchema = z.object({
  version: z.literal(1).default(1),
  name: z.string().optional(),
  connection: connectionSchema,
  source: sourceSchema,
  mapping: mappingSchema.default({}),
  /** Which fields of `mapping` nobody chose; a run asks before a guess loses content. */
  filledBy: filledBySchema.optional(),
  /** Corrections of what the source has. */
  fixes: fixesSchema.optional(),
  /** Kinds of warnings that do not hold the rows back, for any cause (`shared/run/accept-code.ts`). */
  accept: z.array(acceptCodeSchema).optional(),
  /** Accepted causes of warnings, which do not hold back the rows of such sources either. */
  accepted: acceptedCausesSchema.optional(),
  /** Sends only rows that earlier runs of the workspace have not sent. */
  onlyNew: onlyNewSchema.optional(),
  operation: operationSchema,
  callback: callbackSchema.default(callbackSchema.parse({})),
  pace: paceSchema.default({ kind: 'closed', concurrency: 4 }),
  /** A load test instead of a run that sends each row once; its pace overrides the plan's. */
  load: loadSchema.optional(),
  retry: retrySchema.default(retrySchema.parse({})),
  stop: stopSchema.optional(),
})

/** A plan with every default filled in. */
export type Plan = z.infer<typeof planSchema>

/** The plan of a run. Rows that its corrections did not resend keep the mapping with the earlier fixes. */
export type SentPlan = Plan & { earlierFixes?: readonly EarlierFixes[] }

/** A plan as a person writes it, without defaults. */
export type PlanInput = z.input<typeof planSchema>
