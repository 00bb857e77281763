import { eventIterator } from '@orpc/contract'
import { z } from 'zod'
import { bareUrlSchema } from '../plan/connection.ts'
import { callbackOverviewSchema, receiverSchema, receiverTestSchema } from '../run/callback-overview.ts'
import { base, streamIdSchema } from './procedure.ts'

/** The receiver of callbacks, for runs that are answered later. */
export const receiverContract = {
  /** Its state; null while it is not open. */
  status: base.output(receiverSchema.nullable()),
  /** Opens it unless it is open; it then stays open as long as the app. */
  open: base.output(receiverSchema),
  /** Posts to a public base of the receiver and waits until that arrives; fails with what went wrong. */
  test: base.input(z.strictObject({ publicUrl: bareUrlSchema })).output(receiverTestSchema),
  /** What arrived, what it did, and what is still awaited, without any content. */
  overview: base.output(callbackOverviewSchema),
  /** The content of one callback in the inbox, cut if it is long; null if it is gone. */
  readBody: base
    .input(z.strictObject({ id: z.int().min(1) }))
    .output(z.object({ text: z.string(), length: z.int() }).nullable()),
  /** Its state, now and whenever it changes. Use `followReceiver` of `follow.ts`. */
  watch: base
    .input(streamIdSchema)
    .output(eventIterator(z.object({ sequence: z.int(), receiver: receiverSchema.nullable() }))),
}
