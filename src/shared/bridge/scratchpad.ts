import { z } from 'zod'
import { scratchEndpointSchema } from '../operations/operations.ts'
import { bareUrlSchema } from '../plan/connection.ts'
import { connectionNameSchema } from '../plan/stored-connection.ts'
import {
  SCRATCH_TEXT_MAX,
  scratchCallbackSchema,
  scratchExchangeSchema,
  scratchProblemSchema,
} from '../service/scratchpad.ts'
import { base, runIdSchema } from './procedure.ts'

/** Where a single request, or a run again, can go: a page cannot type an address here. */
export const destinationSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('sandbox') }),
  z.strictObject({ kind: z.literal('stored'), name: connectionNameSchema }),
])

export type ScratchDestination = z.infer<typeof destinationSchema>

const textSchema = z.string().max(SCRATCH_TEXT_MAX)

const draftSchema = z.object({
  endpoint: scratchEndpointSchema,
  text: z.string(),
  /** Null if the row went neither to the sandbox nor to a stored connection. */
  destination: destinationSchema.nullable(),
})

/** A single request that is being written. */
export type ScratchDraft = z.infer<typeof draftSchema>

/** Single requests by hand, which belong to no run and no file. */
export const scratchpadContract = {
  /** What is wrong with a text, by the checks of rows. */
  check: base
    .input(z.strictObject({ endpoint: scratchEndpointSchema, text: textSchema }))
    .output(z.array(scratchProblemSchema)),
  /** The request of a row, to change and send once more. */
  fromRow: base.input(runIdSchema.extend({ row: z.int().min(1) })).output(draftSchema),
  /** Sends a request once and waits for its answer. For production, asks a person out of the page's reach. */
  send: base
    .input(
      z.strictObject({
        destination: destinationSchema,
        endpoint: scratchEndpointSchema,
        text: textSchema,
        /** Public address that leads to the receiver (default: where it listens). */
        callbackUrl: bareUrlSchema.exactOptional(),
      }),
    )
    .output(scratchExchangeSchema),
  /** The callback of a request, returned only once; null until it has arrived. */
  takeCallback: base
    .input(z.strictObject({ id: z.string().max(100) }))
    .output(scratchCallbackSchema.nullable()),
}
