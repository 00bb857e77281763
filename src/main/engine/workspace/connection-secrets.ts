import { unwatchFile, watchFile } from 'node:fs'
import { SluiceError } from '../../../shared/messages/errors.ts'
import type { PlanConnection } from '../../../shared/plan/connection.ts'
import type { StoredConnection } from '../../../shared/plan/stored-connection.ts'
import {
  ApiKey,
  type ProxyCredentials,
  readApiKey,
  readProxyCredentials,
  toOrigins,
} from '../secrets/bound-secret.ts'
import { followsActiveKey, readConnections, toConnectionsFile } from './connections.ts'

/** The variable that holds the key of a run that names none. */
const DEFAULT_VARIABLE = 'SLUICE_API_KEY'

/**
 * Every key and proxy credential that a workspace's connections name and that is set in this environment, and the
 * default key, so that they can be removed from what is stored. What is not set or cannot be read is left out.
 */
export function readStoredSecrets(workspace: string, env: NodeJS.ProcessEnv): (ApiKey | ProxyCredentials)[] {
  const connections = orUndefined(() => readConnections(workspace).connections) ?? []
  const found = connections.flatMap((stored) => [
    ...stored.keys.map((key) => orUndefined(() => readApiKey(env, key.env, stored))),
    orUndefined(() => readProxyCredentials(env, stored)),
  ])
  // A key that belongs to no address goes nowhere.
  const value = env[DEFAULT_VARIABLE] ?? ''
  return [
    ApiKey.unseal({ kind: 'api-key', value, origins: [], source: 'of a stored connection' }),
    ...found.filter((one) => one !== null),
  ]
}

function orUndefined<Value>(read: () => Value): Value | null {
  try {
    return read()
  } catch (error) {
    if (error instanceof SluiceError) return null
    throw error
  }
}

/**
 * Whether a plan sends a stored connection's secrets only where that connection sends them: to its addresses, directly
 * or by its own proxy, with the certificates that it trusts.
 */
export function staysWithin(
  stored: StoredConnection,
  { baseUrl, taskBaseUrl, proxy, tls }: Pick<PlanConnection, 'baseUrl' | 'taskBaseUrl' | 'proxy' | 'tls'>,
): boolean {
  const known = toOrigins(stored)
  if (!toOrigins({ baseUrl, taskBaseUrl }).every((origin) => known.includes(origin))) return false
  if (tls?.caFile !== undefined && tls.caFile !== stored.tls?.caFile) return false
  if (proxy === undefined) return true
  const isSameProxy =
    stored.proxy !== undefined && new URL(stored.proxy.url).origin === new URL(proxy.url).origin
  return (
    isSameProxy && (proxy.credentialsEnv ?? stored.proxy?.credentialsEnv) === stored.proxy?.credentialsEnv
  )
}

/** How often the file is checked, milliseconds. */
const LOOK_EVERY_MS = 500

/** Calls back whenever a file may have changed; returns the way to stop. */
type WatchFile = (file: string, onChange: () => void) => () => void

/** What a run needs to follow its stored connection's active key. */
interface ActiveKeyOptions {
  workspace: string
  /** The plan's connection; one without a name, or with a variable of its own, follows nothing. */
  connection: PlanConnection
  /** The value of an environment variable. */
  readVariable(name: string): string | undefined
  /** Sends with this key from now on. If it throws a `SluiceError`, that is reported and the previous key stays. */
  setApiKey(apiKey: ApiKey): void
  /** The run began with a key of its own, which it keeps until another key becomes the active one. */
  hasOwnKey?: boolean
  /** Receives what happened, as a sentence without secrets. */
  say(text: string): void
  /** How the file is watched (default: {@link pollFile}). */
  watch?: WatchFile
}

/** Checks a file's times and size twice a second: works on every file system, and for a file that is replaced. */
export const pollFile: WatchFile = (file, onChange) => {
  watchFile(file, { interval: LOOK_EVERY_MS, persistent: false }, onChange)
  return () => unwatchFile(file, onChange)
}

/**
 * Follows the active key of the stored connection that a run was started with: when another process switches it, the
 * run sends with the new one from then on. Where the new key's variable is not set here, that is reported and the
 * previous key stays. Returns the way to stop.
 */
export function watchActiveKey(options: ActiveKeyOptions): () => void {
  const { workspace, connection, say, watch = pollFile } = options
  const { name } = connection
  if (name === undefined) return () => {}
  const stored = findReadable(workspace, name)
  if (stored === null || !followsActiveKey(stored, connection)) return () => {}

  const active = stored.keys.find(({ label }) => label === stored.activeKey)
  let variable = options.hasOwnKey ? active?.env : connection.apiKeyEnv
  let lastTrouble = ''
  const report = (trouble: string) => {
    if (trouble === lastTrouble) return
    lastTrouble = trouble
    say(`${trouble}; continuing with the previous key.`)
  }
  const look = () => {
    try {
      const now = findStored(workspace, name)
      const key = now?.keys.find(({ label }) => label === now.activeKey)
      if (now === null || key === undefined) return report(`Connection ${name} was removed`)
      if (key.env === variable) {
        lastTrouble = ''
        return
      }
      const value = options.readVariable(key.env)
      if (value === undefined || value === '') {
        return report(
          `Connection ${name} was switched to the key ${key.label}, but ${key.env} is ${value === '' ? 'empty' : 'not set'} in this process`,
        )
      }
      const apiKey = ApiKey.create(value, now, `in the environment variable ${key.env}`)
      // The connection may have another address by now, which this run does not send to.
      apiKey.check(connection)
      options.setApiKey(apiKey)
      variable = key.env
      lastTrouble = ''
      say(`Sending with the key ${key.label} of connection ${name} from now on.`)
    } catch (error) {
      if (!(error instanceof SluiceError)) throw error
      report(error.message)
    }
  }
  const stop = watch(toConnectionsFile(workspace), look)
  look()
  return stop
}

function findStored(workspace: string, name: string): StoredConnection | null {
  return readConnections(workspace).connections.find((one) => one.name === name) ?? null
}

function findReadable(workspace: string, name: string): StoredConnection | null {
  try {
    return findStored(workspace, name)
  } catch (error) {
    if (error instanceof SluiceError) return null
    throw error
  }
}
