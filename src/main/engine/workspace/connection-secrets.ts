import { randomUUID } from 'node:crypto'
import { unwatchFile, watchFile } from 'node:fs'
import { SluiceError } from '../../../shared/messages/errors.ts'
import type { PlanConnection } from '../../../shared/plan/connection.ts'
import {
  type ConnectionKey,
  findActiveKey,
  type StoredConnection,
} from '../../../shared/plan/stored-connection.ts'
import {
  ApiKey,
  type ProxyCredentials,
  readApiKey,
  readProxyCredentials,
  toOrigins,
} from '../secrets/bound-secret.ts'
import type { KeyStore } from '../secrets/key-store.ts'
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
    ...stored.keys.map(({ env: variable }) =>
      variable === undefined ? null : orUndefined(() => readApiKey(env, variable, stored)),
    ),
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

/** Where this process finds the keys of a workspace's connections. */
export interface KeySources {
  workspace: string
  env: NodeJS.ProcessEnv
  /** Keys that were typed into the window; null where there is none. */
  keyStore: KeyStore | null
}

/** A key that can be sent now. */
interface FoundKey {
  apiKey: ApiKey
  /** Differs between any two keys that may be sent in turn. */
  revision: string
}

/**
 * Finds one of a connection's keys: in the variable that it names, or else among those that were typed. Null where it
 * is not there, also where it was typed for another address or way to it. Throws `NO_API_KEY` for a variable that holds
 * what no header can carry.
 */
export function findConnectionKey(
  { workspace, env, keyStore }: KeySources,
  owner: StoredConnection,
  { label, env: variable }: ConnectionKey,
): FoundKey | null {
  if (variable !== undefined) {
    if ((env[variable] ?? '') === '') return null
    return { apiKey: readApiKey(env, variable, owner), revision: `variable ${variable}` }
  }
  const kept = keyStore?.read({ workspace, connection: owner.name, label }) ?? null
  if (kept === null || kept.route !== toRoute(owner)) return null
  return { apiKey: ApiKey.create(kept.text, owner, 'that was typed in'), revision: kept.revision }
}

/**
 * Keeps the text of a key for a connection, on its present way to the service. Throws `NO_API_KEY` where it holds what
 * no header can carry.
 */
export function keepTypedKey(
  { workspace, keyStore }: { workspace: string; keyStore: KeyStore },
  owner: StoredConnection,
  label: string,
  text: string,
): void {
  ApiKey.checkText(text, 'that was typed in')
  keyStore.write(
    { workspace, connection: owner.name, label },
    { text, route: toRoute(owner), revision: randomUUID() },
  )
}

/** All that decides where a connection's key goes and who could read it on its way. */
function toRoute({ baseUrl, taskBaseUrl, proxy, tls }: StoredConnection): string {
  return JSON.stringify([
    toOrigins({ baseUrl, ...(taskBaseUrl === undefined ? {} : { taskBaseUrl }) }),
    proxy?.url ?? null,
    tls?.caFile ?? null,
  ])
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
  /** Finds a key of the stored connection as it is now; null where it is not at hand. May throw a `SluiceError`. */
  findKey(owner: StoredConnection, key: ConnectionKey): FoundKey | null
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
  // What the watch compares with is read a little later: a change until then would never be noticed.
  const once = setTimeout(onChange, LOOK_EVERY_MS).unref()
  return () => {
    clearTimeout(once)
    unwatchFile(file, onChange)
  }
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

  const { apiKeyEnv, keyFrom } = connection
  const first =
    options.hasOwnKey || keyFrom === 'window' ? findActiveKey(stored) : { label: '', env: apiKeyEnv }
  let revision = first === null ? null : toFirstRevision(first, () => options.findKey(stored, first))
  let lastTrouble = ''
  const report = (trouble: string) => {
    if (trouble === lastTrouble) return
    lastTrouble = trouble
    say(`${trouble}; continuing with the previous key.`)
  }
  const look = () => {
    try {
      const now = findStored(workspace, name)
      const key = now === null ? null : findActiveKey(now)
      if (now === null || key === null) return report(`Connection ${name} was removed`)
      const found = options.findKey(now, key)
      if (found === null) {
        // The key that is sent already may have left its place.
        if (toFirstRevision(key, () => null) === revision) return
        return report(
          `Connection ${name} was switched to the key ${key.label}, but ${sayMissing(key)} in this process`,
        )
      }
      if (found.revision === revision) {
        lastTrouble = ''
        return
      }
      // The connection may have another address by now, which this run does not send to.
      found.apiKey.check(connection)
      options.setApiKey(found.apiKey)
      revision = found.revision
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

/** The revision of the key that a run begins with, whether it is at hand or the run has one of its own. */
function toFirstRevision({ label, env }: ConnectionKey, find: () => FoundKey | null): string {
  if (env !== undefined) return `variable ${env}`
  return orUndefined(find)?.revision ?? `typed ${label}`
}

/** Says that a key is not at hand. */
function sayMissing({ env }: ConnectionKey): string {
  return env === undefined ? 'that key was not typed' : `${env} is not set`
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
