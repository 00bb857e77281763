import { z } from 'zod'
import { type ErrorMessage, isErrorMessage } from '../messages/error-messages.ts'
import { base, doneSchema } from './procedure.ts'

/** A thread of this process, or a helper process, that ended unexpectedly. */
export const crashSchema = z.object({
  crashId: z.string(),
  /** What crashed and what to do, as an error of the catalogue. */
  said: z.custom<ErrorMessage>(isErrorMessage),
  /** The run that it cut off; null if it cut off none. */
  runId: z.string().nullable(),
})

export type Crash = z.infer<typeof crashSchema>

/** Crashes that a person has not dismissed yet; `runs.watchAll` announces them. */
export const crashesContract = {
  /** Dismisses the notice of a crash in every window. */
  dismiss: base.input(z.strictObject({ crashId: z.string().min(1).max(100) })).output(doneSchema),
}
