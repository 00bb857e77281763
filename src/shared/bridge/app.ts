import { z } from 'zod'
import { bareUrlSchema } from '../plan/connection.ts'
import { operationSchema } from '../plan/operation.ts'
import { connectionNameSchema } from '../plan/stored-connection.ts'
import { base, doneSchema } from './procedure.ts'
import { chosenSourceSchema } from './source.ts'

/** Whether the window is the desktop app's or a browser's. */
const platformSchema = z.enum(['desktop', 'browser'])

/** See {@link platformSchema}. */
export type Platform = z.infer<typeof platformSchema>

const appSchema = z.object({
  version: z.string(),
  /** Folder that holds the journals. */
  workspace: z.string(),
  platform: platformSchema,
  /** Base URL of the newest run that was not sent to the sandbox. */
  lastBaseUrl: z.string().nullable(),
  /** Where a window begins: at the connection in use, else where the newest run went. */
  beginsAt: z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('sandbox') }),
    z.object({ kind: z.literal('stored'), name: connectionNameSchema }),
    z.object({ kind: z.literal('service'), baseUrl: z.string() }),
  ]),
  /** What the newest run did, so that the next may begin with it. */
  lastOperation: operationSchema.nullable(),
  /** Base URL of the sandbox that this process runs. */
  sandboxBaseUrl: z.string().nullable(),
})

/** What the machine knows. */
export type AppDescription = z.infer<typeof appSchema>

/** The app itself. */
export const appContract = {
  describe: base.output(appSchema),
}

const receiverSchema = z.object({
  /** Where it listens. */
  baseUrl: z.string(),
  /** `standby`: another process of this workspace listens, and takes this one's callbacks too. */
  role: z.enum(['listening', 'standby']),
  /** Callbacks stored since the workspace was made. */
  received: z.int(),
  /** Callbacks that were not stored, by reason. */
  refused: z.record(z.string(), z.int()),
})

/** The receiver of callbacks, for runs that are answered later. */
export const receiverContract = {
  /** Its state; null while it is not open. */
  status: base.output(receiverSchema.nullable()),
  /** Opens it unless it is open; it then stays open as long as the app. */
  open: base.output(receiverSchema),
  /** Posts to a public base of the receiver and waits for the arrival; fails with what went wrong. */
  test: base.input(z.strictObject({ publicUrl: bareUrlSchema })).output(doneSchema),
}

const sandboxSchema = z.object({
  baseUrl: z.string(),
  /** The bundled sample, to be used as a source. */
  sample: chosenSourceSchema,
})

/** What the sandbox has from the start: the id of a custom index, the name of a watchlist. */
const offersSchema = z.object({ indexId: z.string(), watchlist: z.string() })

/** See {@link offersSchema}. */
export type SandboxOffers = z.infer<typeof offersSchema>

/** The embedded service, to try things on. */
export const sandboxContract = {
  /** Names that it knows, whether it runs or not. */
  describe: base.output(offersSchema),
  /** Starts it; one that runs and is not in use forgets its tasks. Runs against it need no `apiKey`. */
  start: base.output(sandboxSchema),
  stop: base.output(doneSchema),
}
