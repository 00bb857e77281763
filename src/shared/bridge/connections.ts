import { z } from 'zod'
import { bareUrlSchema, connectionSchema, timeoutMsSchema } from '../plan/connection.ts'
import {
  baseUrlSchema,
  connectionKeySchema,
  connectionNameSchema,
  keyLabelSchema,
  keyPlaceSchema,
} from '../plan/stored-connection.ts'
import { systemRouteSchema } from '../plan/system-route.ts'
import { connectionCheckSchema } from '../service/connection-check.ts'
import { base } from './procedure.ts'

const keyStateSchema = z.enum(['ready', 'asking', 'locked', 'missing'])

/**
 * Whether a key can be sent: `ready`; `asking` while its store is still asked for it, such as a keyring that waits for a
 * person to unlock it; `locked` where the store does not give it out; `missing` where this process has none.
 */
export type KeyState = z.infer<typeof keyStateSchema>

const keySchema = connectionKeySchema.omit({ typed: true }).extend({
  /** Where it is kept, for a key that was typed and that no variable replaces. */
  place: keyPlaceSchema.exactOptional(),
  /** See {@link KeyState}; the key itself is never given. */
  state: keyStateSchema,
})

/** One of a connection's keys, without the key itself. */
export type ConnectionKeyEntry = z.infer<typeof keySchema>

const entrySchema = z.object({
  name: z.string(),
  /** Whether a person is asked once more before anything is sent there. */
  isProduction: z.boolean(),
  /** Whether it is the one that is taken if none is named. */
  isInUse: z.boolean(),
  keys: z.array(keySchema),
  /** Label of the key that is sent. */
  activeKey: z.string(),
  /** What a plan says of it. */
  connection: connectionSchema,
})

/** A connection that the workspace remembers. */
export type ConnectionEntry = z.infer<typeof entrySchema>

const connectionFileSchema = z.enum(['authorities', 'client'])

/** Files of a connection that a person chooses: its authorities, or the client's certificate and then its key. */
export type ConnectionFile = z.infer<typeof connectionFileSchema>

const proxyChoiceSchema = z.discriminatedUnion('kind', [
  /** That of the system, for https. */
  z.strictObject({ kind: z.literal('system') }),
  z.strictObject({ kind: z.literal('none') }),
  /** Its credentials stay where the address does; a page names none. */
  z.strictObject({ kind: z.literal('named'), url: bareUrlSchema }),
])

/** Which proxy requests go through. */
export type ProxyChoice = z.infer<typeof proxyChoiceSchema>

/** What can be set in a window. Files are not among it: see docs/security.md. */
const settingsSchema = z.strictObject({
  baseUrl: baseUrlSchema,
  /** The second host for v2 tasks; null if it is the same. */
  taskBaseUrl: baseUrlSchema.nullable(),
  /** Null for the default. */
  timeoutMs: timeoutMsSchema.nullable(),
  isProduction: z.boolean(),
  /** Error codes that mean that the service has a post already (default: those that are stored). */
  deliveredCodes: z.array(z.string().trim().min(1).max(100)).max(100).exactOptional(),
  /** Whether ids of answers are not compared (default: as it is stored). */
  rewritesIds: z.boolean().exactOptional(),
  /** Which proxy requests go through (default: the one that is stored). */
  proxy: proxyChoiceSchema.exactOptional(),
})

export type ConnectionSettings = z.infer<typeof settingsSchema>

const named = z.strictObject({ name: connectionNameSchema })
const namedKey = z.strictObject({ name: connectionNameSchema, label: keyLabelSchema })
const namedFile = z.strictObject({ name: connectionNameSchema, file: connectionFileSchema })
const typedKeySchema = z.string().trim().min(1, { error: 'must not be empty' }).max(8_192)

const entriesSchema = z.array(entrySchema)

const storageSchema = z.object({
  place: keyPlaceSchema,
  /** Why keys only last for the session; null if they last. */
  reason: z.string().nullable(),
})

const keysLeftSchema = z.array(
  z.object({ connection: connectionNameSchema, label: keyLabelSchema, place: keyPlaceSchema }),
)

/** Where the next typed key is kept. */
export type KeyStorageEntry = z.infer<typeof storageSchema>

/** The deployments that the workspace remembers. Each change gives the list as it is then. */
export const connectionsContract = {
  list: base.output(entriesSchema),
  readStorage: base.output(storageSchema),
  /** Keys that no connection has any more, and that are still in a store that does not answer. */
  listKeysLeft: base.output(keysLeftSchema),
  /** How many certificate authorities this system trusts in addition to those built in. */
  countSystemAuthorities: base.output(z.int().nonnegative()),
  /** By which proxy of the system requests to its base URL go. Fails with `BAD_PLAN` if that cannot be used. */
  findSystemRoute: base.input(named).output(systemRouteSchema),
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
  /**
   * Removes a connection, and its typed keys from where they are stored; its runs stay. A person is asked first where it
   * is production.
   */
  remove: base.input(named).output(entriesSchema),
  /** Stores a removed connection again, within ten minutes with its typed keys. */
  restore: base.input(named).output(entriesSchema),
  /** Keeps a typed key: a new one, or another text for one whose variable is not set. */
  setKey: base.input(namedKey.extend({ apiKey: typedKeySchema })).output(entriesSchema),
  removeKey: base.input(namedKey).output(entriesSchema),
  /** Stores a removed key again, within ten minutes with what was typed for it. */
  restoreKey: base.input(namedKey).output(entriesSchema),
  /**
   * Has a person choose files in a dialog of the system, which names the connection; only on the desktop. Nothing
   * changes where they cancel. The page learns the paths that are stored, and names none.
   */
  chooseFile: base.input(namedFile).output(entriesSchema),
  /** Leaves files away that the connection names; they stay on disk. */
  removeFile: base.input(namedFile).output(entriesSchema),
  /** Asks the service whether address and key are right; no content is sent. */
  test: base.input(named).output(connectionCheckSchema),
  /**
   * The same before these settings are saved, with a key that was typed. With the `name` of a stored connection whose
   * addresses and proxy stay as they are, its active key is sent.
   */
  testSettings: base
    .input(
      z.strictObject({
        name: connectionNameSchema.nullable(),
        settings: settingsSchema,
        apiKey: typedKeySchema.exactOptional(),
      }),
    )
    .output(connectionCheckSchema),
}
