import { z } from 'zod'
import { annotationChangeSchema } from '../lookback/annotations.ts'
import { prunableRunsSchema, retentionSchema } from '../lookback/retention.ts'
import { base, doneSchema, runIdSchema, toStrict } from './procedure.ts'
import { apiKeySchema } from './runs.ts'
import { destinationSchema } from './scratchpad.ts'
import { chosenSourceSchema } from './source.ts'

const againSchema = z.strictObject({
  runId: runIdSchema.shape.runId,
  /** A file to read instead of the earlier source. */
  sourceId: chosenSourceSchema.shape.sourceId.exactOptional(),
})

const plannedAgainSchema = z.object({
  /** The run with the plan: for a retry, the first run of the whole. */
  runId: z.string(),
  name: z.string(),
  isLoadTest: z.boolean(),
  baseUrl: z.string(),
  /** The second host for v2 tasks; null if there is none. */
  taskBaseUrl: z.string().nullable(),
  /** The stored connection that the run went to; null if it no longer exists. */
  connectionName: z.string().nullable(),
  isSandbox: z.boolean(),
  /** Whether requests of this operation carry a key, and whether the earlier connection's key is missing. */
  sendsKey: z.boolean(),
  needsKey: z.boolean(),
  source: z.object({
    name: z.string(),
    change: z.enum(['same', 'changed', 'unknown', 'missing']),
    /** The change in a sentence, with sizes and times. */
    description: z.string(),
  }),
  /** `own`: the source has post_ids; new ones replace them unless they are kept. */
  postIds: z.enum(['none', 'new', 'own']),
  /** Whether it asked for legacy answers, which have scores; null if the operation has no such choice. */
  legacy: z.boolean().nullable(),
  /** Rows that the earlier run read. */
  rows: z.int(),
})

/** What running a run again would do. */
export type PlannedAgain = z.infer<typeof plannedAgainSchema>

/** Managing runs: notes about them, which to keep, and running one again. */
export const historyContract = {
  /** Changes the name, tags and note of a run and its retries. */
  annotate: base
    .input(z.strictObject({ runId: runIdSchema.shape.runId, change: annotationChangeSchema }))
    .output(doneSchema),
  /** The workspace's limits for cleaning up. */
  readRetention: base.output(retentionSchema),
  storeRetention: base.input(toStrict(retentionSchema)).output(doneSchema),
  /** The runs that exceed limits; nothing is deleted. */
  findPrunable: base.input(toStrict(retentionSchema)).output(prunableRunsSchema),
  /** Deletes those runs that still exceed the limits. Returns how many, and those left alone as in use. */
  prune: base
    .input(z.strictObject({ runIds: z.array(runIdSchema.shape.runId), retention: toStrict(retentionSchema) }))
    .output(z.object({ deleted: z.int(), busy: z.array(z.string()) })),
  /** What running a run again would do, with the source as it is now. */
  planAgain: base.input(againSchema).output(plannedAgainSchema),
  /**
   * Starts a new run with the plan of an earlier one, and holds it for `runs.begin`. Without a destination it
   * goes where the earlier run went.
   */
  runAgain: base
    .input(
      againSchema.extend({
        destination: destinationSchema.exactOptional(),
        /** Sends the source's own post_ids, which the service may know. */
        keepPostIds: z.boolean().exactOptional(),
        /** Asks for legacy answers or not, instead of as in the earlier run; only v1 tasks have them. */
        legacy: z.boolean().exactOptional(),
        name: z.string().min(1).max(200).exactOptional(),
        apiKey: apiKeySchema.exactOptional(),
      }),
    )
    .output(runIdSchema),
}
