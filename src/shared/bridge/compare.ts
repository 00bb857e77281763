import { z } from 'zod'
import { latencyOverlaySchema } from '../load/latency-overlay.ts'
import {
  COMPARED_MAX,
  changedRowSchema,
  changeFilterSchema,
  decisionComparisonSchema,
} from '../lookback/comparison.ts'
import { trendSchema } from '../lookback/trend.ts'
import { ROW_EXPORT_FORMATS } from '../run/export-formats.ts'
import { base, ofRun, runIdSchema, toStrict } from './procedure.ts'
import { exportedSchema, exportTargetSchema } from './results.ts'
import { excerptShape } from './source.ts'

const { runId } = runIdSchema.shape

const labelsSchema = z.object({
  /** Column with the labels, by name or number; null if verdicts alone are labels. */
  column: z.string().min(1).nullable(),
  useVerdicts: z.boolean(),
  /** Rows with the label `value` should trigger `rule`; if empty, a label names its rule. */
  positives: z.array(z.object({ value: z.string().min(1), rule: z.string().min(1) })),
  /** Separator of several values in one label; null if each label is one value. */
  separator: z.string().min(1).nullable(),
  /** Whether rows with an empty label should trigger no rule (default: they count as unlabelled). */
  emptyIsNegative: z.boolean().exactOptional(),
})

/** Labels of runs as a page names them: a column of their source, or verdicts. */
export type LabelChoice = z.infer<typeof labelsSchema>

const pairSchema = z.object({
  /** The earlier run, and the run that is compared with it. */
  a: runId,
  b: runId,
  /** `post_id`, `row`, `content` or a column (default: what both runs have in common). */
  by: z.string().min(1).exactOptional(),
})

/** Two runs, and how their rows are joined. */
export type RunPair = z.infer<typeof pairSchema>

const decisionsSchema = decisionComparisonSchema.omit({ listed: true, exported: true, labels: true })

/** What two runs decided differently, without rows and labels. */
export type ComparedDecisions = z.infer<typeof decisionsSchema>

const listedRowSchema = changedRowSchema.extend({
  ...excerptShape,
  /** Length of the whole key, of which `key` may be an excerpt. */
  keyLength: z.int(),
})

/** A changed row as a page lists it: its cells and key are excerpts. */
export type ListedChange = z.infer<typeof listedRowSchema>

const pageShape = { offset: z.int().min(0), limit: z.int().min(1).max(200) }

/** Runs that a trend shows instead of the runs of one source. */
const trendGroupSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('pattern'), pattern: z.string().min(1).max(4_096) }),
  z.object({ kind: z.literal('tag'), tag: z.string().min(1).max(1_000) }),
])

/** What differs between runs. */
export const compareContract = {
  /** What two bulk runs of one operation decided differently. */
  decisions: base.input(toStrict(pairSchema)).output(decisionsSchema),
  /** The same against labels. Fails with `BAD_USAGE` if no row that both runs answered has a label. */
  byLabels: base
    .input(toStrict(pairSchema.extend({ labels: labelsSchema })))
    .output(
      decisionComparisonSchema.shape.labels
        .unwrap()
        .extend(decisionComparisonSchema.pick({ warnings: true }).shape),
    ),
  /** A page of the changed rows, by row of B. */
  changes: base
    .input(toStrict(pairSchema.extend({ list: changeFilterSchema, ...pageShape })))
    .output(z.object({ total: z.int(), offset: z.int(), rows: z.array(listedRowSchema) })),
  /** Writes all changed rows to a file; see `exports.create`. */
  exportChanges: base
    .input(
      toStrict(
        pairSchema.extend({
          list: changeFilterSchema,
          format: z.enum(ROW_EXPORT_FORMATS.map(({ ending }) => ending)),
          targetId: exportTargetSchema.shape.targetId.exactOptional(),
        }),
      ),
    )
    .output(exportedSchema),
  /** Latencies of several runs for one chart; each run after the first is compared with the first. */
  latency: base
    .input(z.strictObject({ runIds: z.array(runId).min(1).max(COMPARED_MAX) }))
    .output(latencyOverlaySchema),
  /**
   * All runs of a run's source, oldest first, or those that a person groups by the names of their sources or
   * by a tag. With labels, each run is evaluated.
   */
  trend: base
    .input(ofRun({ labels: labelsSchema.exactOptional(), group: trendGroupSchema.exactOptional() }))
    .output(trendSchema),
}

export interface TrendQuestion {
  labels?: LabelChoice
  group?: z.infer<typeof trendGroupSchema>
}

const baselineEntrySchema = z.object({
  name: z.string(),
  runId: z.string(),
  /** Null if the run was deleted. */
  runName: z.string().nullable(),
  /** ISO 8601. */
  setAt: z.string(),
})

/** A baseline of the connection and source of a run. */
export type BaselineEntry = z.infer<typeof baselineEntrySchema>

const entriesSchema = z.array(baselineEntrySchema)
const named = runIdSchema.extend({ name: z.string().trim().min(1).max(100) })

/** Runs that later runs of the same connection and source are compared with. Changes return the new list. */
export const baselinesContract = {
  /** The baselines that the run can be compared with, and those that it is itself. */
  list: base.input(runIdSchema).output(entriesSchema),
  /** Makes the run the baseline of that name, replacing an earlier one. */
  set: base.input(named).output(entriesSchema),
  /** Removes the baseline of that name of the run's connection and source; its run stays. */
  remove: base.input(named).output(entriesSchema),
}
