import { z } from 'zod'
import { connectionSchema } from '../plan/connection.ts'
import { connectionKeySchema, connectionNameSchema, keyLabelSchema } from '../plan/stored-connection.ts'
import { base } from './base.ts'

const keySchema = connectionKeySchema.extend({
  /** Whether its variable holds a key in this process; the key itself is never given. */
  isSet: z.boolean(),
})

const entrySchema = z.object({
  name: z.string(),
  /** Whether a person is asked once more before anything is sent there. */
  isProduction: z.boolean(),
  /** Whether it is the one that is taken where none is named. */
  isInUse: z.boolean(),
  keys: z.array(keySchema),
  /** Label of the key that is sent. */
  activeKey: z.string(),
  /** What a plan says of it. */
  connection: connectionSchema,
})

/** A connection that the workspace remembers. */
export type ConnectionEntry = z.infer<typeof entrySchema>

/** The deployments that the workspace remembers. */
export const connectionsContract = {
  list: base.output(z.array(entrySchema)),
  /** Puts one in use and, with `key`, makes that key the active one, also for its runs that are going on. */
  use: base
    .input(z.strictObject({ name: connectionNameSchema, key: keyLabelSchema.exactOptional() }))
    .output(z.array(entrySchema)),
}
