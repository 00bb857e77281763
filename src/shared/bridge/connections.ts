import { z } from 'zod'
import { bareUrlSchema, connectionSchema, timeoutMsSchema } from '../plan/connection.ts'
import { connectionKeySchema, connectionNameSchema, keyLabelSchema } from '../plan/stored-connection.ts'
import { connectionCheckSchema } from '../service/connection-check.ts'
import { base } from './procedure.ts'

const keySchema = connectionKeySchema.extend({
  /** Whether it is at hand in this process; the key itself is never given. */
  isSet: z.boolean(),
})

/** One of a connection's keys, without the key itself. */
export type ConnectionKeyEntry = z.infer<typeof keySchema>

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

/** What can be set in a window. Certificates and proxies are not among it: see docs/security.md. */
const settingsSchema = z.strictObject({
  baseUrl: bareUrlSchema,
  /** The second host for v2 tasks; null where it is the same. */
  taskBaseUrl: bareUrlSchema.nullable(),
  /** Null for the default. */
  timeoutMs: timeoutMsSchema.nullable(),
  isProduction: z.boolean(),
})

/** See {@link settingsSchema}. */
export type ConnectionSettings = z.infer<typeof settingsSchema>

const named = z.strictObject({ name: connectionNameSchema })
const namedKey = z.strictObject({ name: connectionNameSchema, label: keyLabelSchema })
const typedKeySchema = z.string().trim().min(1, { error: 'must not be empty' }).max(8_192)

const entriesSchema = z.array(entrySchema)

/** The deployments that the workspace remembers. Each change gives the list as it is then. */
export const connectionsContract = {
  list: base.output(entriesSchema),
  /** Puts one in use and, with `key`, makes that key the active one, also for its runs that are going on. */
  use: base
    .input(z.strictObject({ name: connectionNameSchema, key: keyLabelSchema.exactOptional() }))
    .output(entriesSchema),
  /** Stores a connection with one key, which is typed now or later. */
  add: base
    .input(
      z.strictObject({
        name: connectionNameSchema,
        settings: settingsSchema,
        label: keyLabelSchema,
        apiKey: typedKeySchema.exactOptional(),
      }),
    )
    .output(entriesSchema),
  /** Changes a connection. A person is asked, out of reach of the page, before a production mark goes. */
  change: base
    .input(z.strictObject({ name: connectionNameSchema, settings: settingsSchema }))
    .output(entriesSchema),
  /** Removes a connection and its typed keys; its runs stay. A person is asked first where it is production. */
  remove: base.input(named).output(entriesSchema),
  /** Keeps a typed key: a new one, or another text for one that names no variable. */
  setKey: base.input(namedKey.extend({ apiKey: typedKeySchema })).output(entriesSchema),
  /** Removes one of several keys. */
  removeKey: base.input(namedKey).output(entriesSchema),
  /** Asks the service whether address and key are right; no content is sent. */
  test: base.input(named).output(connectionCheckSchema),
}
