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
 * Whether a key can be sent: `ready`; `asking` while its store has not answered, such as a keyring that waits
 * for a person to unlock it; `locked` if the store refuses it; `missing` if this process has none.
 */
export type KeyState = z.infer<typeof keyStateSchema>

const keySchema = connectionKeySchema.omit({ typed: true }).extend({
  /** Where a typed key is kept, unless a variable replaces it. */
  place: keyPlaceSchema.exactOptional(),
  /** See {@link KeyState}; the key itself is never given. */
  state: keyStateSchema,
})

/** One of a connection's keys, without the key itself. */
export type ConnectionKeyEntry = z.infer<typeof keySchema>

const entrySchema = z.object({
  name: z.string(),
  /** Whether a person must confirm before anything is sent there. */
  isProduction: z.boolean(),
  /** Whether it is the default connection. */
  isInUse: z.boolean(),
  keys: z.array(keySchema),
  /** Label of the key that is sent. */
  activeKey: z.string(),
  /** How a plan describes it. */
  connection: connectionSchema,
})

export type ConnectionEntry = z.infer<typeof entrySchema>

const connectionFileSchema = z.enum(['authorities', 'client'])

/** Files chosen for a connection: certificate authorities, or the client's certificate and key. */
export type ConnectionFile = z.infer<typeof connectionFileSchema>

const proxyChoiceSchema = z.discriminatedUnion('kind', [
  /** The system's proxy for https. */
  z.strictObject({ kind: z.literal('system') }),
  z.strictObject({ kind: z.literal('none') }),
  /** The credentials stay while the address does; a page cannot name any. */
  z.strictObject({ kind: z.literal('named'), url: bareUrlSchema }),
])

export type ProxyChoice = z.infer<typeof proxyChoiceSchema>

/** What can be set in a window, which excludes files: see docs/security.md. */
const settingsSchema = z.strictObject({
  baseUrl: baseUrlSchema,
  /** The second host for v2 tasks; null if it is the same. */
  taskBaseUrl: baseUrlSchema.nullable(),
  /** Null for the default. */
  timeoutMs: timeoutMsSchema.nullable(),
  isProduction: z.boolean(),
  /** Error codes that say that the service already has the post (default: the stored codes). */
  deliveredCodes: z.array(z.string().trim().min(1).max(100)).max(100).exactOptional(),
  /** Whether ids of answers are not compared (default: as stored). */
  rewritesIds: z.boolean().exactOptional(),
  /** Which proxy requests go through (default: the stored one). */
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

/** Where the next typed key will be kept. */
export type KeyStorageEntry = z.infer<typeof storageSchema>

/** The stored connections. Each change returns the new list. */
export const connectionsContract = {
  list: base.output(entriesSchema),
  readStorage: base.output(storageSchema),
  /** Keys that no connection uses any more but that could not be removed, as their store does not respond. */
  listKeysLeft: base.output(keysLeftSchema),
  /** How many certificate authorities this system trusts in addition to those built in. */
  countSystemAuthorities: base.output(z.int().nonnegative()),
  /** Which system proxy requests to its base URL go through. Fails with `BAD_PLAN` if that cannot be used. */
  findSystemRoute: base.input(named).output(systemRouteSchema),
  /** Makes a connection the default and, with `key`, makes that key active, also for runs in progress. */
  use: base
    .input(z.strictObject({ name: connectionNameSchema, key: keyLabelSchema.exactOptional() }))
    .output(entriesSchema),
  /** Stores a connection with one key, which can be typed later. */
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
  /** Changes a connection. To remove its production mark, a person is asked out of reach of the page. */
  change: base
    .input(z.strictObject({ name: connectionNameSchema, settings: settingsSchema }))
    .output(entriesSchema),
  /** Removes a connection and its typed keys; its runs stay. A person is asked first if it is production. */
  remove: base.input(named).output(entriesSchema),
  /** Stores a removed connection again; within ten minutes, also its typed keys. */
  restore: base.input(named).output(entriesSchema),
  /** Keeps a typed key: a new one, or a replacement for one whose variable is not set. */
  setKey: base.input(namedKey.extend({ apiKey: typedKeySchema })).output(entriesSchema),
  removeKey: base.input(namedKey).output(entriesSchema),
  /** Stores a removed key again; within ten minutes, also its typed text. */
  restoreKey: base.input(namedKey).output(entriesSchema),
  /**
   * Asks a person to choose files in a system dialog that names the connection; only on the desktop.
   * Cancelling changes nothing. The page learns the stored paths, and cannot name any.
   */
  chooseFile: base.input(namedFile).output(entriesSchema),
  /** Removes files from the connection; they stay on disk. */
  removeFile: base.input(namedFile).output(entriesSchema),
  /** Asks the service whether address and key are right, without sending content. */
  test: base.input(named).output(connectionCheckSchema),
  /**
   * The same for unsaved settings, with a typed key. With the `name` of a stored connection whose addresses
   * and proxy are unchanged, its active key is sent.
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
