import { z } from 'zod'
import { ALLOCATIONS, type SampleOptions } from './stratified-sample.ts'

/** Most rows that are drawn to be labelled one by one. */
export const LABELLING_MAX_ROWS = 10_000

const positionSchema = z.object({
  /** Place in `rows` of the row that is looked at; the number of rows where all were walked. */
  at: z.int().min(0),
  /** Rows that were passed over, by number. */
  skipped: z.array(z.int()),
  /** Rules to choose from, by name; the first nine have the keys 1 to 9. */
  rules: z.array(z.string().min(1).max(1_000)).max(1_000),
  /** Whether what the service decided is shown before the person has decided. */
  showsDecision: z.boolean(),
})

/** Rows that were drawn from a run to be labelled one by one, and how far a person has come. */
export const labellingSchema = positionSchema.extend({
  by: z.string().nullable(),
  allocation: z.enum(ALLOCATIONS),
  seed: z.int(),
  /** ISO 8601. */
  started_at: z.string(),
  /** Most rows first. */
  strata: z.array(z.object({ stratum: z.string(), rows: z.int(), drawn: z.int() })),
  /**
   * Row numbers in the order they are walked, each with the place of its stratum in `strata`. The order is random, so that
   * whoever stops early has labelled a sample, too.
   */
  rows: z.array(z.tuple([z.int(), z.int()])),
})

export type Labelling = z.infer<typeof labellingSchema>

/** How rows are drawn to be labelled. */
export type LabellingOptions = Omit<SampleOptions, 'file'> & Pick<Labelling, 'rules' | 'showsDecision'>

export const labellingChangeSchema = z.object({
  /** Which rows the change is of: `started_at` of what was drawn. */
  started_at: labellingSchema.shape.started_at,
  at: positionSchema.shape.at.exactOptional(),
  skipped: positionSchema.shape.skipped.max(LABELLING_MAX_ROWS).exactOptional(),
  rules: positionSchema.shape.rules.exactOptional(),
  showsDecision: positionSchema.shape.showsDecision.exactOptional(),
})

/** What changes while rows are labelled; absent members stay. Other rows may have been drawn in the meantime. */
export type LabellingChange = z.infer<typeof labellingChangeSchema>
