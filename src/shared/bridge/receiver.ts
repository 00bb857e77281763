import { z } from 'zod'
import { bareUrlSchema } from '../plan/connection.ts'
import { base, doneSchema } from './base.ts'

const receiverSchema = z.object({
  /** Where it listens. */
  baseUrl: z.string(),
  /** `standby`: another process of this workspace listens, and takes this one's callbacks too. */
  role: z.enum(['listening', 'standby']),
  /** Callbacks stored since the workspace was made. */
  received: z.int(),
  /** Callbacks that were not stored, by why. */
  refused: z.record(z.string(), z.int()),
})

/** The receiver of callbacks, for runs that are answered later. */
export const receiverContract = {
  /** As it stands; null while it is not open. */
  status: base.output(receiverSchema.nullable()),
  /** Opens it where it is not open yet; it then stays open as long as the app. */
  open: base.output(receiverSchema),
  /** Posts to a public base of the receiver and waits for the arrival; fails with what went wrong. */
  test: base.input(z.strictObject({ publicUrl: bareUrlSchema })).output(doneSchema),
}
