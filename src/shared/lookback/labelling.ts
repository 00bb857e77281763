import { z } from 'zod'
import { ALLOCATIONS, type SampleOptions } from './stratified-sample.ts'

/** Most rows that are drawn to be labelled one by one. */
export const LABELLING_MAX_ROWS = 10_000

const positionSchema = z.object({
  /** Position in `rows` of the current row; the number of rows once all were visited. */
  at: z.int().min(0),
  /** Skipped rows, by number. */
  skipped: z.array(z.int()),
  /** Rules to choose from, by name; the first nine have the keys 1 to 9. */
  rules: z.array(z.string().min(1).max(1_000)).max(1_000),
  /** Whether the service's decision is shown before the person has decided. */
  showsDecision: z.boolean(),
})

/** Rows drawn from a run to be labelled one by one, and a person's progress. */
export const labellingSchema = positionSchema.extend({
  by: z.string().nullable(),
  allocation: z.enum(ALLOCATIONS),
  seed: z.int(),
  /** ISO 8601. */
  started_at: z.string(),
  /** Most rows first. */
  strata: z.array(z.object({ stratum: z.string(), rows: z.int(), drawn: z.int() })),
  /**
   * Row numbers in visiting order, each with the index of its stratum in `strata`. The order is random, so
   * that the rows labelled before stopping early are a sample too.
   */
  rows: z.array(z.tuple([z.int(), z.int()])),
})

export type Labelling = z.infer<typeof labellingSchema>

export type LabellingOptions = Omit<SampleOptions, 'file'> & Pick<Labelling, 'rules' | 'showsDecision'>

export const labellingChangeSchema = z.object({
  /** Identifies the drawn rows by their `started_at`. */
  started_at: labellingSchema.shape.started_at,
  at: positionSchema.shape.at.exactOptional(),
  skipped: positionSchema.shape.skipped.max(LABELLING_MAX_ROWS).exactOptional(),
  rules: positionSchema.shape.rules.exactOptional(),
  showsDecision: positionSchema.shape.showsDecision.exactOptional(),
})

/** Changes during labelling; absent members stay. Refused if other rows were drawn in the meantime. */
export type LabellingChange = z.infer<typeof labellingChangeSchema>
