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

/** A production question that a person must answer outside the window that caused it. */
export type WaitingQuestion = z.infer<typeof waitingQuestionSchema>

/** Questions before production. A window cannot answer one; it can show that one waits, and give up. */
export const productionContract = {
  /** The question that this window waits for, now and at each change. Use `followQuestion` of `follow.ts`. */
  watch: base
    .input(streamIdSchema)
    .output(eventIterator(z.object({ sequence: z.int(), question: waitingQuestionSchema.nullable() }))),
  /** Cancels what the question is about. Does nothing if it has been answered meanwhile. */
  cancel: base.input(z.strictObject({ id: z.string().min(1).max(100) })).output(doneSchema),
}
