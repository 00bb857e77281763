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

/** What a name may hold beside letters, their marks and digits. */
const NAME_SIGNS = ` ._-()&+'’/#@:`

const NAME_CHARACTER = /[\p{L}\p{M}\p{N} ._()&+'’/#@:-]/u

/** What is wrong with a name of a connection or a key, as what it must be; null if nothing is. */
export function findNameFault(name: string): string | null {
  if (name === '') return 'must not be empty'
  if ([...name].length > NAME_MAX) return `must have at most ${NAME_MAX} characters`
  if (!/^[\p{L}\p{N}]/u.test(name)) return 'must begin with a letter or digit'
  if (/ $| {2}/.test(name)) return 'must have no space at its end, and no two in a row'
  if (/\p{M}{4}/u.test(name)) return 'must have at most 3 marks on a letter'
  const other = [...name].find((character) => !NAME_CHARACTER.test(character))
  return other === undefined ? null : `must have letters, digits, spaces and ${toList(NAME_SIGNS)} alone`
}

function toList(signs: string): string {
  return [...signs.trim()].join(' ')
}

// What shells, files and screens show as one line: no control, no direction, nothing that hides. One spelling of é.
const nameSchema = z
  .string()
  .normalize('NFC')
  .superRefine((name, context) => {
    const message = findNameFault(name)
    if (message !== null) context.addIssue({ code: 'custom', message })
  })

export const connectionNameSchema = nameSchema

/** What one key of a stored connection is called, such as `primary`. */
export const keyLabelSchema = nameSchema

export const keyPlaceSchema = z.enum(['keyring', 'profile', 'session'])

/**
 * Where a typed key is kept: in the system's `keyring`, encrypted in the person's `profile` (the desktop app), or in
 * the memory of one process for its `session`.
 */
export type KeyPlace = z.infer<typeof keyPlaceSchema>

const typedKeySchema = z.object({
  place: keyPlaceSchema,
  /** Changes with each text that is typed, so that every process notices. */
  revision: z.uuid(),
})

/** That a key was typed, and where it is kept; never the key. */
export type TypedKey = z.infer<typeof typedKeySchema>

/** One of a deployment's keys: all of them are interchangeable (docs/interface.md §5.2). */
export const connectionKeySchema = z.object({
  label: keyLabelSchema,
  /** Name of the environment variable that holds the key and, if it is set, wins; none for a key that is only typed. */
  env: environmentNameSchema.exactOptional(),
  /** Missing until the key is typed. */
  typed: typedKeySchema.exactOptional(),
})

export type ConnectionKey = z.infer<typeof connectionKeySchema>

export const DEFAULT_KEY_LABEL = 'default'

/** The address of a service, without the path of an endpoint that it was given with. */
export const baseUrlSchema = bareUrlSchema.overwrite(toBaseUrl)

/** A deployment that a workspace remembers, its keys by the variables that hold them; it holds no secret. */
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
    /** Set when a person says so of a run that asks. */
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
    /** Whether a person is asked once more before anything is sent there. */
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

/** All that a workspace knows of connections. */
export const connectionsSchema = z
  .object({
    version: z.literal(1),
    /** The connection that is taken if none is named; null if there is none. */
    inUse: connectionNameSchema.nullable(),
    connections: z.array(storedConnectionSchema),
    /** Typed keys that no connection has and that still have to leave the store that keeps them. */
    keysToRemove: z
      .array(
        typedKeySchema.extend({
          connection: connectionNameSchema,
          label: keyLabelSchema,
          /** When a process began to keep it, Unix milliseconds; only until the connection says so. */
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

/** The key that is sent, of a stored connection or of what a window knows of one. */
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

/** What a plan says of a stored connection: all of it but its other keys and whether it is production. */
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
