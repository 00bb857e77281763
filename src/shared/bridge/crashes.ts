import { z } from 'zod'
import { type ErrorMessage, isErrorMessage } from '../messages/error-messages.ts'
import { base, doneSchema } from './procedure.ts'

/** Something that ended although nobody had asked for it: a thread of this process, or a helper process. */
export const crashSchema = z.object({
  crashId: z.string(),
  /** What crashed and what to do, as an error of the catalogue. */
  said: z.custom<ErrorMessage>(isErrorMessage),
  /** The run that was cut off by it; null if no run was. */
  runId: z.string().nullable(),
})

export type Crash = z.infer<typeof crashSchema>

/** Crashes that a person has not put away yet; `runs.watchAll` announces them. */
export const crashesContract = {
  /** Puts the notice of a crash away, in every window. */
  dismiss: base.input(z.strictObject({ crashId: z.string().min(1).max(100) })).output(doneSchema),
}
