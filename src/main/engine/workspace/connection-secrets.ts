import { createHash, randomUUID } from 'node:crypto'
import { readFileSync, unwatchFile, watchFile } from 'node:fs'
import { SluiceError } from '../../../shared/messages/errors.ts'
import type { PlanConnection } from '../../../shared/plan/connection.ts'
import { listHeaderReferences } from '../../../shared/plan/request-headers.ts'
import {
  type ConnectionKey,
  type Connections,
  findActiveKey,
  type StoredConnection,
  type TypedKey,
} from '../../../shared/plan/stored-connection.ts'
import {
  ApiKey,
  type ProxyCredentials,
  readApiKey,
  readProxyCredentials,
  toOrigins,
} from '../secrets/bound-secret.ts'
import { type HeaderValues, readHeaderValues } from '../secrets/header-values.ts'
import type { KeptKey, KeyName, KeyStorage, KeyStore } from '../secrets/key-store.ts'
import { changeConnections, followsActiveKey, readConnections, toConnectionsFile } from './connections.ts'

/** The variable with the key of runs that name no variable. */
const DEFAULT_VARIABLE = 'SLUICE_API_KEY'

/**
 * Reads the default key and all keys, proxy credentials and header values that a workspace's connections
 * name, so that they can be removed from stored text. Those that are unset or unreadable are left out.
 */
export function readStoredSecrets(
  workspace: string,
  env: NodeJS.ProcessEnv,
): (ApiKey | ProxyCredentials | HeaderValues)[] {
  const connections = orUndefined(() => readConnections(workspace).connections) ?? []
  const found = connections.flatMap((stored) => [
    ...stored.keys.map(({ env: variable }) =>
      variable === undefined ? null : orUndefined(() => readApiKey(env, variable, stored)),
    ),
    orUndefined(() => readProxyCredentials(env, stored)),
    orUndefined(() => readHeaderValues(env, stored)),
  ])
  // It is only redacted, never sent, so it belongs to no address.
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
 * Whether a plan sends a stored connection's secrets only where that connection sends them: to its addresses,
 * directly or through its own proxy, trusting the same certificates.
 */
export function staysWithin(
  stored: StoredConnection,
  {
    baseUrl,
    taskBaseUrl,
    proxy,
    tls,
    resolve,
    unixSocket,
  }: Pick<PlanConnection, 'baseUrl' | 'taskBaseUrl' | 'proxy' | 'tls' | 'resolve' | 'unixSocket'>,
): boolean {
  const known = toOrigins(stored)
  if (!toOrigins({ baseUrl, taskBaseUrl }).every((origin) => known.includes(origin))) return false
  if (unixSocket !== undefined && unixSocket !== stored.unixSocket) return false
  if (resolve?.some((one) => !stored.resolve?.includes(one))) return false
  if (tls?.caFile !== undefined && tls.caFile !== stored.tls?.caFile) return false
  if (stored.tls?.systemAuthorities === false && tls?.systemAuthorities !== false) return false
  if (proxy === undefined) return true
  const isSameProxy =
    stored.proxy !== undefined && new URL(stored.proxy.url).origin === new URL(proxy.url).origin
  return (
    isSameProxy && (proxy.credentialsEnv ?? stored.proxy?.credentialsEnv) === stored.proxy?.credentialsEnv
  )
}

/** Whether a plan takes header values only from where the stored connection takes them. */
export function hasHeadersOf(
  stored: StoredConnection,
  { headers }: Pick<PlanConnection, 'headers'>,
): boolean {
  return listHeaderReferences(headers).every(([name, written]) => stored.headers?.[name] === written)
}

/**
 * Refuses a stored connection's headers with values from variables or files if the addresses are not its own.
 * Throws `BAD_PLAN`.
 */
export function refuseMovedHeaders(
  stored: StoredConnection,
  connection: Pick<PlanConnection, 'baseUrl' | 'taskBaseUrl' | 'headers'>,
): void {
  const own = listHeaderReferences(connection.headers).filter(
    ([name, written]) => stored.headers?.[name] === written,
  )
  const origins = toOrigins(stored)
  const found = toOrigins(connection).find((origin) => !origins.includes(origin))
  if (own.length > 0 && found !== undefined) throw new SluiceError({ id: 'headers_of_other', origins, found })
}

/** Where this process looks for the keys of a workspace's connections. */
export interface KeySources {
  workspace: string
  env: NodeJS.ProcessEnv
  keyStore: KeyStore
}

export interface FoundKey {
  apiKey: ApiKey
  /** Different for any two keys that may be sent one after the other. */
  revision: string
}

/**
 * Finds one of a connection's keys: in the variable it names, else among the typed keys. Null if it is
 * missing, or was typed for another address or route. Throws `NO_API_KEY` if the variable holds what no
 * header can carry, or if the key store refuses access.
 */
export async function findConnectionKey(
  { workspace, env, keyStore }: KeySources,
  owner: StoredConnection,
  { label, env: variable, typed }: ConnectionKey,
): Promise<FoundKey | null> {
  if (variable !== undefined && (env[variable] ?? '') !== '') {
    return { apiKey: readApiKey(env, variable, owner), revision: `variable ${variable}` }
  }
  if (typed === undefined) return null
  const kept = await keyStore.get({ workspace, connection: owner.name, label }, typed)
  if (kept === null || kept.route !== toRoute(owner)) return null
  return { apiKey: ApiKey.create(kept.text, owner, 'that was typed in'), revision: kept.revision }
}

/** What is needed to keep typed keys and to remove them. */
type TypedKeySources = Pick<KeySources, 'workspace' | 'keyStore'>

/**
 * Stores the connection with the place where its keys are kept; `storage` is the place of the last key.
 * Called once without `storage` before any key is kept, to check that the change can be made.
 */
type StoreConnection = (known: Connections, changed: StoredConnection, storage?: KeyStorage) => Connections

/** A typed key with the way to the service that it was typed for. */
export interface RememberedKey extends Pick<KeptKey, 'text' | 'route'> {
  label: string
}

/**
 * Keeps a typed key for a connection and its present route to the service, then stores the connection.
 * Rejects with `NO_API_KEY` if the text holds what no header can carry, with `BAD_PLAN` if a file of
 * authorities cannot be read, and as {@link restoreTypedKeys} does.
 */
export async function keepTypedKey(
  sources: TypedKeySources,
  owner: StoredConnection,
  { label, text }: { label: string; text: string },
  store: StoreConnection,
): Promise<Connections> {
  ApiKey.checkText(text, 'that was typed in')
  const route = toRoute(owner)
  if (route === null) {
    const path = owner.tls?.caFile ?? ''
    throw new SluiceError({ id: 'tls_file_unreadable', what: 'authorities', path, system: 'ENOENT' })
  }
  const isKnown = owner.keys.some((key) => key.label === label)
  const labelled = isKnown ? owner : { ...owner, keys: [...owner.keys, { label }] }
  return restoreTypedKeys(sources, labelled, [{ label, text, route }], store)
}

/**
 * Keeps keys, each for the route it was typed for, stores the connection, then removes the keys that these
 * replace. Each key is noted first, so that it can be found if this process dies. If the connection cannot be
 * stored, no key is kept or replaced. Rejects with what `store` throws, and with `WORKSPACE_UNUSABLE`.
 */
export async function restoreTypedKeys(
  sources: TypedKeySources,
  owner: StoredConnection,
  remembered: readonly RememberedKey[],
  store: StoreConnection,
): Promise<Connections> {
  const { workspace, keyStore } = sources
  store(readConnections(workspace), owner)
  let changed = owner
  let last: KeyStorage | undefined
  const kept: { name: KeyName; typed: TypedKey }[] = []
  for (const { label, ...key } of remembered) {
    const name = { workspace, connection: owner.name, label }
    const revision = randomUUID()
    noteKeyToKeep(name, { place: keyStore.place, revision })
    last = await keyStore.set(name, { ...key, revision })
    const typed = { place: last.place, revision }
    kept.push({ name, typed })
    changed = {
      ...changed,
      keys: changed.keys.map((one) => (one.label === label ? { ...one, typed } : one)),
    }
  }
  try {
    changeConnections(workspace, (known) => store(known, changed, last))
  } catch (error) {
    const gone = new Set<string>()
    for (const { name, typed } of kept) {
      if (await keyStore.remove(name, typed)) gone.add(typed.revision)
    }
    dropNotes(workspace, gone)
    throw error
  }
  return removeUnusedKeys(sources)
}

/** Before a key is kept, notes it for removal until its connection is stored. Throws `WORKSPACE_UNUSABLE`. */
function noteKeyToKeep({ workspace, connection, label }: KeyName, typed: TypedKey): void {
  // Keys in the memory of this process end with it.
  if (typed.place === 'session') return
  const note = { ...typed, connection, label, begunAtMs: Date.now() }
  changeConnections(workspace, (known) => ({ ...known, keysToRemove: [...known.keysToRemove, note] }))
}

/**
 * Reads a connection's typed keys before they are removed. Throws `BAD_USAGE` if a store refuses, since it
 * would refuse to remove them, too.
 */
export async function readKeysToRemove(
  { workspace, keyStore }: TypedKeySources,
  { name: connection, keys }: Pick<StoredConnection, 'name' | 'keys'>,
): Promise<RememberedKey[]> {
  const found: RememberedKey[] = []
  for (const { label, typed } of keys) {
    if (typed === undefined) continue
    const kept = await keyStore.getToRemove({ workspace, connection, label }, typed)
    if (kept !== null) found.push({ label, text: kept.text, route: kept.route })
  }
  return found
}

/** How long storing a key may take, including the wait for a person to unlock the store, milliseconds. */
const KEEPING_MS = 600_000

/** Lists noted keys that no connection has and no process is about to store. `now`: Unix milliseconds. */
export function listUnusedKeys({ keysToRemove }: Connections, now = Date.now()): Connections['keysToRemove'] {
  return keysToRemove.filter(({ begunAtMs = 0 }) => now - begunAtMs > KEEPING_MS)
}

/**
 * Removes typed keys that no connection has from their stores. Those that this process cannot remove stay
 * noted for the next time, or for the program that can. `now` is in Unix milliseconds.
 */
export async function removeUnusedKeys(
  { workspace, keyStore }: TypedKeySources,
  now = Date.now(),
): Promise<Connections> {
  const connections = readConnections(workspace)
  const removed = new Set<string>()
  // All at once, so that a locked keyring is waited for only once.
  await Promise.all(
    listUnusedKeys(connections, now).map(async (key) => {
      if (await keyStore.remove({ workspace, ...key }, key)) removed.add(key.revision)
    }),
  )
  return dropNotes(workspace, removed) ?? connections
}

/** Drops the notes on keys that have been removed from their stores; null if nothing changes. */
function dropNotes(workspace: string, gone: ReadonlySet<string>): Connections | null {
  if (gone.size === 0) return null
  try {
    return changeConnections(workspace, (known) => ({
      ...known,
      keysToRemove: known.keysToRemove.filter(({ revision }) => !gone.has(revision)),
    }))
  } catch (error) {
    // Removing them again does no harm.
    if (error instanceof SluiceError) return readConnections(workspace)
    throw error
  }
}

/**
 * A hash of all that decides where a connection's key goes and who could read it on the way; null if that
 * cannot be found out. Includes the content of files of authorities, not only their paths. Of the system's
 * authorities, only whether they are trusted counts: the system updates its store at will, and only its
 * administrator adds to it.
 */
function toRoute({ baseUrl, taskBaseUrl, proxy, tls, resolve, unixSocket }: StoredConnection): string | null {
  const hash = createHash('sha256')
  const origins = toOrigins({ baseUrl, ...(taskBaseUrl === undefined ? {} : { taskBaseUrl }) })
  // Keys from before this setting existed stay usable: nothing is added for the default.
  const narrowed = tls?.systemAuthorities === false ? ['without the authorities of the system'] : []
  const rerouted = [...(resolve ?? []), ...(unixSocket === undefined ? [] : [unixSocket])]
  hash.update(JSON.stringify([origins, proxy?.url ?? null, ...narrowed, ...rerouted]))
  try {
    if (tls?.caFile !== undefined) hash.update(readFileSync(tls.caFile))
  } catch {
    return null
  }
  return hash.digest('base64url')
}

/** How often the file is checked, milliseconds. */
const LOOK_EVERY_MS = 500

/**
 * Calls `onChange` whenever the file may have changed, and returns a function that stops watching. The
 * promise of `onChange` settles once the change is handled.
 */
type WatchFile = (file: string, onChange: () => Promise<void>) => () => void

/** What a run needs to follow its stored connection's active key. */
interface ActiveKeyOptions {
  workspace: string
  /** The plan's connection. Without a name, or with a variable of its own, nothing is followed. */
  connection: PlanConnection
  /** Finds a key of the stored connection as it is now; null if missing. May reject with a `SluiceError`. */
  findKey(owner: StoredConnection, key: ConnectionKey): Promise<FoundKey | null>
  /** Uses this key from now on. A `SluiceError` that it throws is reported, and the previous key stays. */
  setApiKey(apiKey: ApiKey): void
  /** Whether the run began with a key of its own, which it keeps until another key becomes active. */
  hasOwnKey?: boolean
  /** Receives what happened, as a sentence without secrets. */
  say(text: string): void
  /** How to watch the file (default: {@link pollFile}). */
  watch?: WatchFile
}

/** Checks a file's times and size twice a second. Works on every file system, also if it is replaced. */
export const pollFile: WatchFile = (file, onChange) => {
  watchFile(file, { interval: LOOK_EVERY_MS, persistent: false }, onChange)
  // The watch reads its first state a little later and would miss a change before that.
  const once = setTimeout(onChange, LOOK_EVERY_MS).unref()
  return () => {
    clearTimeout(once)
    unwatchFile(file, onChange)
  }
}

/**
 * Follows the active key of a run's stored connection: once another process switches it, the run sends with
 * the new key. If that key is not available here, this is reported and the previous key stays. Returns a
 * function that stops following.
 */
export function watchActiveKey(options: ActiveKeyOptions): () => void {
  const { workspace, connection, say, watch = pollFile } = options
  const { name } = connection
  if (name === undefined) return () => {}
  const stored = findReadable(workspace, name)
  if (stored === null || !followsActiveKey(stored, connection)) return () => {}

  const { apiKeyEnv, keyFrom } = connection
  const active = findActiveKey(stored)
  const first =
    options.hasOwnKey || keyFrom === 'window' || active?.env === apiKeyEnv
      ? active
      : { label: '', env: apiKeyEnv }
  let revision: string | null = null
  let isStopped = false
  let lastTrouble = ''
  const report = (trouble: string) => {
    if (trouble === lastTrouble) return
    lastTrouble = trouble
    say(`${trouble}; continuing with the previous key.`)
  }
  const look = async () => {
    try {
      const now = findStored(workspace, name)
      const key = now === null ? null : findActiveKey(now)
      if (now === null || key === null) return report(`Connection ${name} was removed`)
      const found = await options.findKey(now, key)
      if (isStopped) return
      if (found === null) {
        // The key in use may be gone from its store by now.
        if (toExpectedRevision(key) === revision) return
        return report(
          `Connection ${name} was switched to the key ${key.label}, but ${sayMissing(key)} in this process`,
        )
      }
      if (found.revision === revision) {
        lastTrouble = ''
        return
      }
      // The connection's address may have changed, and this run does not send to the new one.
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
  const begin = async () => {
    revision = first === null ? null : await findFirstRevision(first, () => options.findKey(stored, first))
    await look()
  }
  // One after the other, since each compares with the result of the previous one.
  let looked = begin()
  const stop = watch(toConnectionsFile(workspace), () => {
    looked = looked.then(look)
    return looked
  })
  return () => {
    isStopped = true
    stop()
  }
}

/** The revision of the key that a run begins with, even if that key is missing or the run has its own. */
async function findFirstRevision(key: ConnectionKey, find: () => Promise<FoundKey | null>): Promise<string> {
  try {
    return (await find())?.revision ?? toExpectedRevision(key)
  } catch (error) {
    if (error instanceof SluiceError) return toExpectedRevision(key)
    throw error
  }
}

/** The revision that a key has if it can be found. */
function toExpectedRevision({ label, env, typed }: ConnectionKey): string {
  return env === undefined ? (typed?.revision ?? `typed ${label}`) : `variable ${env}`
}

function sayMissing({ env }: ConnectionKey): string {
  return env === undefined ? 'that key is not available' : `${env} is not set`
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
