import { z } from 'zod'

export const arrivalSchema = z.object({
  /** Counts requests since the start, from 1. */
  number: z.int(),
  /** Such as `task/v1/sync` or `watchlist-add`. */
  endpoint: z.string(),
  /** The post_id, index, watchlist or appeal that it is about; '' if unreadable. */
  subject: z.string(),
  /** `accepted`, the refusal (`rejected:CODE`), or the fault in its answer (`fault:NAME`). */
  outcome: z.string(),
  arrived_on: z.string(),
  /** The body as received; null if there was none, or it was too long to keep. */
  body: z.string().nullable(),
})

export type Arrival = z.infer<typeof arrivalSchema>

/** How many requests to an endpoint had this outcome. */
export const arrivalCountSchema = z.object({ endpoint: z.string(), outcome: z.string(), requests: z.int() })

export type ArrivalCount = z.infer<typeof arrivalCountSchema>
