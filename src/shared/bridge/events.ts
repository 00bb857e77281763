import { z } from 'zod'
import { base, doneSchema, streamIdSchema } from './base.ts'
import { toStrict } from './to-strict.ts'

/** The back channel of the event streams. */
export const eventsContract = {
  /** Says which event of a stream has arrived, so that the next may come. Unknown streams are ignored. */
  seen: base.input(toStrict(streamIdSchema.extend({ sequence: z.int() }))).output(doneSchema),
}
