import { eventIterator } from '@orpc/contract'
import { z } from 'zod'
import { capacityBoundsSchema } from '../load/capacity-plan.ts'
import { capacityReportSchema } from '../load/capacity-report.ts'
import { base, doneSchema, streamIdSchema, toStrict } from './procedure.ts'
import { acceptedSchema, startRunSchema } from './runs.ts'

const searchIdSchema = z.strictObject({ searchId: z.string().min(1).max(100) })

const progressSchema = z.object({
  isOver: z.boolean(),
  /** The load test that is being sent; null between two of them and at the end. */
  current: z.object({ runId: z.string(), level: z.number(), number: z.int() }).nullable(),
  /** What was found; during the search, what it would find if it were stopped now. */
  report: capacityReportSchema,
})

export type CapacityProgress = z.infer<typeof progressSchema>

const progressEventSchema = z.object({ sequence: z.int(), progress: progressSchema })

/** Capacity searches: load tests in a row until a deployment's limit is known (docs/load-tests.md §11). */
export const capacityContract = {
  /**
   * Begins a search whose probes are the request's load test. If it goes to production, a person is asked
   * first, in a place that the page cannot reach; fails with `NOT_CONFIRMED` if they decline, and with
   * `BAD_PLAN` if the load test cannot be used as a probe.
   */
  start: base
    .input(toStrict(startRunSchema.extend({ bounds: capacityBoundsSchema, accept: acceptedSchema })))
    .output(searchIdSchema),
  /** Ends the probe and the search; what it found is kept while this process runs. */
  stop: base.input(searchIdSchema).output(doneSchema),
  /** This process's latest search, whether or not it is over, and its probes; null if there was none. */
  newest: base.output(
    searchIdSchema.extend({ name: z.string(), isOver: z.boolean(), runIds: z.array(z.string()) }).nullable(),
  ),
  /**
   * The state of a search, now and at most twice a second. Ends with the search; fails with the error that
   * ended it before its first probe was over. Use `followCapacity` of `follow.ts`.
   */
  watch: base
    .input(toStrict(searchIdSchema.extend(streamIdSchema.shape)))
    .output(eventIterator(progressEventSchema)),
}
