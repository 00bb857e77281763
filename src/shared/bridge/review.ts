import { z } from 'zod'
import { base, runIdSchema } from './base.ts'
import { problemSchema, sourcePlaceSchema } from './problem-schema.ts'
import { toStrict } from './to-strict.ts'

const requestSchema = z.object({
  row: z.int(),
  place: sourcePlaceSchema,
  method: z.enum(['POST', 'GET']),
  url: z.string(),
  /** Names and values in the order they are sent; the key is masked. */
  headers: z.array(z.tuple([z.string(), z.string()])),
  /** The exact JSON, all rows of the request in it; null where the request has none. */
  body: z.string().nullable(),
  /** Whether the row has errors, so that it is not sent. */
  isInvalid: z.boolean(),
  problems: z.array(problemSchema),
})

/** One row's request before or after it was sent. */
export type RequestReview = z.infer<typeof requestSchema>

/** The last look before anything is sent. */
export const reviewContract = {
  /** The exact request of any row of a run, held or not. */
  readRequest: base.input(toStrict(runIdSchema.extend({ row: z.int().min(1) }))).output(requestSchema),
}
