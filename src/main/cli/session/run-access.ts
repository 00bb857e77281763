import { SluiceError } from '../../../shared/messages/errors.ts'
import { type OperationKind, sendsKey } from '../../../shared/operations/operations.ts'
import type { PlanConnection } from '../../../shared/plan/connection.ts'
import { findProduction } from '../../../shared/plan/production-service.ts'
import {
  type ConnectionKey,
  findActiveKey,
  type StoredConnection,
} from '../../../shared/plan/stored-connection.ts'
import type { RunHandle, StartOptions } from '../../engine/engine-interface.ts'
import { type ApiKey, readApiKey, readProxyCredentials } from '../../engine/secrets/bound-secret.ts'
import { readHeaderValues } from '../../engine/secrets/header-values.ts'
import {
  type FoundKey,
  findConnectionKey,
  type KeySources,
  refuseMovedHeaders,
  staysWithin,
  watchActiveKey,
} from '../../engine/workspace/connection-secrets.ts'
import { followsActiveKey, readConnections } from '../../engine/workspace/connections.ts'
import type { CliContext } from '../context.ts'
import { type KeyFlags, toGivenKey } from '../options/key-options.ts'
import { readGivenKey, readKeyFile } from './given-key.ts'

export type RunSecrets = Pick<StartOptions, 'apiKey' | 'proxyCredentials' | 'headerValues'>

export interface AccessOptions {
  workspace: string
  connection: PlanConnection
  operation: OperationKind
  /** Where the key of this command is, as options say. */
  key?: KeyFlags | undefined
}

/** Determines how a run reaches its service: with the key of its stored connection or of its variable. */
export function createRunAccess(context: CliContext, options: AccessOptions) {
  const { workspace, operation } = options
  const { keyFrom: _planned, ...rest } = options.connection
  const given = toGivenKey(options.key ?? {})
  // A key given for this command wins over a typed one.
  const connection: PlanConnection = given === null ? options.connection : { ...rest, ...given }
  const { name, keyFrom } = connection
  const { connections } = readConnections(workspace)
  const stored = connections.find((one) => one.name === name) ?? null
  const followed = stored !== null && followsActiveKey(stored, connection) ? stored : null
  const active = followed === null ? null : findActiveKey(followed)
  const sources = { workspace, env: context.env, keyStore: context.keyStore }
  // An appeal is read without a key (docs/interface.md §5.6).
  const isAnonymous = !sendsKey({ kind: operation })
  const notes =
    name === undefined
      ? []
      : stored === null
        ? [`Connection ${name} is not stored in this workspace. Using the address and key of the plan.`]
        : stored.baseUrl === connection.baseUrl
          ? []
          : [
              `Connection ${name} is stored with ${stored.baseUrl}, but this run sends to ${connection.baseUrl}.`,
            ]
  const readDryRunSecrets = () => {
    const proxyCredentials = readProxyCredentials(context.env, connection)
    if (stored !== null) refuseMovedHeaders(stored, connection)
    const headerValues = readHeaderValues(context.env, connection)
    return {
      ...(proxyCredentials === null ? {} : { proxyCredentials }),
      ...(headerValues === null ? {} : { headerValues }),
    }
  }
  let givenKey: Promise<ApiKey | null> | null = null
  /** The command runs once, however often its key is needed. */
  const readGiven = () => (givenKey ??= readGivenKey(context, options.key ?? {}, connection))
  return {
    /** Whether options give a key that plans never store. */
    hasGivenKey: keyFrom === 'file' || keyFrom === 'command',
    /** Whether the key is the active one of a stored connection, whose keys all belong to one project. */
    isKeyOfConnection: given === null && active !== null,
    /** The stored connection that the run was started with, if the workspace has it. */
    stored,
    /** The stored production connection that the run reaches, under any name or address. */
    production: findProduction(connections, connection),
    /** What a person should know before the run continues, a sentence each. */
    notes,
    /**
     * The key to start or resume with, none for operations without one, and the credentials of the proxy.
     * Throws `NO_API_KEY`, also if a stored connection's key would go to another address than the
     * connection's.
     */
    readSecrets: async (): Promise<RunSecrets> => {
      if (isAnonymous) return readDryRunSecrets()
      const own = await readGiven()
      if (own !== null) return { apiKey: own, ...readDryRunSecrets() }
      if (followed === null || active === null) {
        // No variable was ever named for a typed or given key, so the engine says what to do.
        if (keyFrom !== undefined) return readDryRunSecrets()
        return { apiKey: readApiKey(context.env, connection.apiKeyEnv, connection), ...readDryRunSecrets() }
      }
      // A stored connection's key belongs to its addresses, any other key to those given with it.
      const apiKey = await readActiveKey(sources, followed, active, connection)
      apiKey?.check(connection)
      return { ...(apiKey !== null && { apiKey }), ...readDryRunSecrets() }
    },
    /** The same for a run that sends nothing. */
    readDryRunSecrets,
    /** The key of a variable or file, if available, for a run that only looks up what was sent with it. */
    readComparedKey: (): Pick<RunSecrets, 'apiKey'> => {
      if (isAnonymous || stored !== null) return {}
      const { apiKeyFile } = options.key ?? {}
      const isSet = keyFrom === undefined && (context.env[connection.apiKeyEnv] ?? '') !== ''
      if (!isSet && apiKeyFile === undefined) return {}
      try {
        if (apiKeyFile !== undefined) return { apiKey: readKeyFile(apiKeyFile, connection, context.env) }
        return { apiKey: readApiKey(context.env, connection.apiKeyEnv, connection) }
      } catch (error) {
        if (error instanceof SluiceError) return {}
        throw error
      }
    },
    /** Follows the stored connection's active key during the run; returns the way to stop. */
    followKey: (handle: RunHandle, say: (text: string) => void): (() => void) =>
      isAnonymous
        ? () => {}
        : watchActiveKey({
            workspace,
            connection: { ...connection, apiKeyEnv: active?.env ?? connection.apiKeyEnv },
            findKey: (owner, key) => findKeyFor(sources, owner, key, connection),
            setApiKey: handle.setApiKey,
            say,
          }),
  }
}

/** What a run is allowed to reach, and with which key. */
export interface RunAccess extends ReturnType<typeof createRunAccess> {}

/**
 * The active key of a stored connection; null if it was never typed, in which case the engine says what to
 * do. Throws `NO_API_KEY` if it is kept elsewhere.
 */
async function readActiveKey(
  sources: KeySources,
  owner: StoredConnection,
  key: ConnectionKey,
  connection: PlanConnection,
): Promise<ApiKey | null> {
  const found = await findKeyFor(sources, owner, key, connection)
  if (found !== null) return found.apiKey
  const { label, env: variable, typed } = key
  if (typed !== undefined) {
    throw new SluiceError({ id: 'key_elsewhere', label, connection: owner.name, place: typed.place })
  }
  return variable === undefined ? null : readApiKey(sources.env, variable, owner)
}

/** A key that may go where a run sends; null if there is none, or it was typed for another route. */
async function findKeyFor(
  sources: KeySources,
  owner: StoredConnection,
  key: ConnectionKey,
  connection: PlanConnection,
): Promise<FoundKey | null> {
  const found = await findConnectionKey(sources, owner, key)
  return found?.revision === key.typed?.revision && !staysWithin(owner, connection) ? null : found
}
