import { z } from 'zod'
import { operationSchema } from '../operations/operations.ts'
import { connectionNameSchema } from '../plan/stored-connection.ts'
import { base } from './procedure.ts'

/** Whether the window is the desktop app's or a browser's. */
const platformSchema = z.enum(['desktop', 'browser'])

export type Platform = z.infer<typeof platformSchema>

const appSchema = z.object({
  version: z.string(),
  /** The folder with the journals. */
  workspace: z.string(),
  platform: platformSchema,
  /** Base URL of the newest run that was not sent to the sandbox. */
  lastBaseUrl: z.string().nullable(),
  /** The window's first destination: the connection in use, else where the newest run went. */
  beginsAt: z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('sandbox') }),
    z.object({ kind: z.literal('stored'), name: connectionNameSchema }),
    z.object({ kind: z.literal('service'), baseUrl: z.string() }),
  ]),
  /** What the newest run did, so that the next can begin with it. */
  lastOperation: operationSchema.nullable(),
  /** Current and earlier base URLs of this workspace's sandbox. */
  sandboxBaseUrls: z.array(z.string()),
})

/** What the machine knows. */
export type AppDescription = z.infer<typeof appSchema>

export const appContract = {
  describe: base.output(appSchema),
}
