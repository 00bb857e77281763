import { z } from 'zod'

/** A request as it arrived at the sandbox. */
export const arrivalSchema = z.object({
  /** Counts up from the start, from 1. */
  number: z.int(),
  /** Such as `task/v1/sync` or `watchlist-add`. */
  endpoint: z.string(),
  /** The post_id, index, watchlist or appeal it is about; '' if that could not be read. */
  subject: z.string(),
  /** `accepted`, the refusal (`rejected:CODE`), or the fault that befell its answer (`fault:NAME`). */
  outcome: z.string(),
  arrived_on: z.string(),
  /** The body as it came; null if there was none, or it was too long to be kept. */
  body: z.string().nullable(),
})

export type Arrival = z.infer<typeof arrivalSchema>

/** How many requests of an endpoint had one outcome. */
export const arrivalCountSchema = z.object({ endpoint: z.string(), outcome: z.string(), requests: z.int() })

export type ArrivalCount = z.infer<typeof arrivalCountSchema>
