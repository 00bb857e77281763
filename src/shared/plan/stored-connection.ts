import { z } from 'zod'
import { toBaseUrl } from '../service/base-url.ts'
import {
  bareUrlSchema,
  environmentNameSchema,
  type PlanConnectionInput,
  proxySchema,
  timeoutMsSchema,
  tlsSchema,
  userAgentSchema,
} from './connection.ts'
import { headersSchema } from './request-headers.ts'
import { resolvedHostSchema } from './resolved-host.ts'

const NAME_MAX = 64

/** Characters allowed in a name besides letters, their marks and digits. */
const NAME_SIGNS = ` ._-()&+'’/#@:`

const NAME_CHARACTER = /[\p{L}\p{M}\p{N} ._()&+'’/#@:-]/u

/** What a connection's or key's name must be instead; null if it is valid. */
export function findNameFault(name: string): string | null {
  if (name === '') return 'must not be empty'
  if ([...name].length > NAME_MAX) return `must have at most ${NAME_MAX} characters`
  if (!/^[\p{L}\p{N}]/u.test(name)) return 'must begin with a letter or digit'
  if (/ $| {2}/.test(name)) return 'must have no space at its end, and no two in a row'
  if (/\p{M}{4}/u.test(name)) return 'must have at most 3 marks on a letter'
  const other = [...name].find((character) => !NAME_CHARACTER.test(character))
  return other === undefined
    ? null
    : `must have letters, digits, spaces and ${[...NAME_SIGNS.trim()].join(' ')} alone`
}

// Names that shells, files and screens show on one line: no control, direction or invisible characters, in
// one normal form.
const nameSchema = z
  .string()
  .normalize('NFC')
  .superRefine((name, context) => {
    const message = findNameFault(name)
    if (message !== null) context.addIssue({ code: 'custom', message })
  })

export const connectionNameSchema = nameSchema

/** The name of a stored connection's key, such as `primary`. */
export const keyLabelSchema = nameSchema

export const keyPlaceSchema = z.enum(['keyring', 'profile', 'session'])

/**
 * Where a typed key is kept: in the system's `keyring`, encrypted in the person's `profile` (the desktop
 * app), or in the memory of one process, for its `session`.
 */
export type KeyPlace = z.infer<typeof keyPlaceSchema>

const typedKeySchema = z.object({
  place: keyPlaceSchema,
  /** Changes with each typed text, so that every process notices. */
  revision: z.uuid(),
})

/** Records that a key was typed and where it is kept; never the key. */
export type TypedKey = z.infer<typeof typedKeySchema>

/** One of a deployment's keys, which are interchangeable (docs/interface.md §5.2). */
export const connectionKeySchema = z.object({
  label: keyLabelSchema,
  /** Name of the key's environment variable, which wins if it is set; absent for a key that is only typed. */
  env: environmentNameSchema.exactOptional(),
  /** Missing until the key is typed. */
  typed: typedKeySchema.exactOptional(),
})

export type ConnectionKey = z.infer<typeof connectionKeySchema>

export const DEFAULT_KEY_LABEL = 'default'

/** A service's address, without an endpoint path that was given with it. */
export const baseUrlSchema = bareUrlSchema.overwrite(toBaseUrl)

/** A deployment that a workspace stores. It holds no secrets: keys are named by their variables. */
export const storedConnectionSchema = z
  .object({
    name: connectionNameSchema,
    baseUrl: baseUrlSchema,
    taskBaseUrl: baseUrlSchema.optional(),
    keys: z.array(connectionKeySchema).min(1),
    /** Label of the key that is sent. */
    activeKey: keyLabelSchema,
    timeoutMs: timeoutMsSchema.optional(),
    deliveredCodes: z.array(z.string().min(1)).default([]),
    /** Set when a person confirms it for a run that asks. */
    rewritesIds: z.boolean().optional(),
    headers: headersSchema.optional(),
    userAgent: userAgentSchema.optional(),
    keepAlive: z.boolean().optional(),
    traceparent: z.boolean().optional(),
    resolve: z.array(resolvedHostSchema).optional(),
    unixSocket: z.string().min(1).optional(),
    tls: tlsSchema.optional(),
    proxy: proxySchema.optional(),
    systemProxy: z.boolean().optional(),
    /** Whether a person must confirm before anything is sent there. */
    isProduction: z.boolean().default(false),
  })
  .superRefine(({ keys, activeKey }, context) => {
    const labels = keys.map(({ label }) => label)
    if (!labels.includes(activeKey)) {
      context.addIssue({
        code: 'custom',
        path: ['activeKey'],
        message: 'must be the label of one of the keys',
      })
    }
    refuseRepeated(context, labels, (index) => ['keys', index, 'label'], 'is the label of another key')
  })

export type StoredConnection = z.infer<typeof storedConnectionSchema>

/** Everything that a workspace stores about connections. */
export const connectionsSchema = z
  .object({
    version: z.literal(1),
    /** The default connection; null if there is none. */
    inUse: connectionNameSchema.nullable(),
    connections: z.array(storedConnectionSchema),
    /** Typed keys that no connection has any more, and that must still be removed from their store. */
    keysToRemove: z
      .array(
        typedKeySchema.extend({
          connection: connectionNameSchema,
          label: keyLabelSchema,
          /** When a process began to store it, Unix milliseconds; only until the connection refers to it. */
          begunAtMs: z.int().exactOptional(),
        }),
      )
      .default([]),
  })
  .superRefine(({ inUse, connections }, context) => {
    const names = connections.map(({ name }) => name)
    if (inUse !== null && !names.includes(inUse)) {
      context.addIssue({ code: 'custom', path: ['inUse'], message: 'must name one of the connections' })
    }
    const toPath = (index: number) => ['connections', index, 'name']
    refuseRepeated(context, names, toPath, 'is the name of another connection')
  })

function refuseRepeated(
  context: z.RefinementCtx,
  names: readonly string[],
  toPath: (index: number) => PropertyKey[],
  message: string,
): void {
  for (const [index, name] of names.entries()) {
    if (names.indexOf(name) !== index) context.addIssue({ code: 'custom', path: toPath(index), message })
  }
}

export type Connections = z.infer<typeof connectionsSchema>

/** The key to send, from a stored connection or from what a window knows of it. */
export function findActiveKey<Key extends { label: string }>({
  keys,
  activeKey,
}: {
  keys: readonly Key[]
  activeKey: string
}): Key | null {
  return keys.find(({ label }) => label === activeKey) ?? null
}

/** The variable that holds the active key of a connection; null if that key is only typed. */
function toActiveVariable(stored: StoredConnection): string | null {
  return findActiveKey(stored)?.env ?? null
}

/** A stored connection for a plan: everything except its other keys and its production mark. */
export function toPlanConnection(stored: StoredConnection): PlanConnectionInput {
  const { name, baseUrl, taskBaseUrl, timeoutMs, deliveredCodes, rewritesIds, tls, proxy, systemProxy } =
    stored
  const { headers, userAgent, keepAlive, traceparent, resolve, unixSocket } = stored
  const apiKeyEnv = toActiveVariable(stored)
  return {
    name,
    baseUrl,
    deliveredCodes,
    ...(apiKeyEnv === null ? { keyFrom: 'window' as const } : { apiKeyEnv }),
    ...(taskBaseUrl === undefined ? {} : { taskBaseUrl }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(rewritesIds ? { rewritesIds } : {}),
    ...(headers === undefined ? {} : { headers }),
    ...(userAgent === undefined ? {} : { userAgent }),
    ...(keepAlive === undefined ? {} : { keepAlive }),
    ...(traceparent === undefined ? {} : { traceparent }),
    ...(resolve === undefined ? {} : { resolve }),
    ...(unixSocket === undefined ? {} : { unixSocket }),
    ...(tls === undefined ? {} : { tls }),
    ...(proxy === undefined ? {} : { proxy }),
    ...(systemProxy === undefined ? {} : { systemProxy }),
  }
}
