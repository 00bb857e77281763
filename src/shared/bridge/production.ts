import { eventIterator } from '@orpc/contract'
import { z } from 'zod'
import { base, doneSchema, streamIdSchema } from './procedure.ts'

const waitingQuestionSchema = z.object({
  id: z.string(),
  /** The question in words. */
  title: z.string(),
  /** How long it waits for an answer, milliseconds. */
  waitsMs: z.int(),
})

/** A question before production that waits for a person outside of the window that caused it. */
export type WaitingQuestion = z.infer<typeof waitingQuestionSchema>

/** Questions before production. No window can answer one: it shows that a person has to, and can give up. */
export const productionContract = {
  /** The question that this window waits for, whenever it changes, the present one at once. Use `followQuestion` of `follow.ts`. */
  watch: base
    .input(streamIdSchema)
    .output(eventIterator(z.object({ sequence: z.int(), question: waitingQuestionSchema.nullable() }))),
  /** Takes back what the question is about. Does nothing if it was answered meanwhile. */
  cancel: base.input(z.strictObject({ id: z.string().min(1).max(100) })).output(doneSchema),
}
