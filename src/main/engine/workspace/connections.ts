import { join } from 'node:path'
import { SluiceError } from '../../../shared/messages/errors.ts'
import { findNearest } from '../../../shared/messages/find-nearest.ts'
import { toSystemCode, toThrownText } from '../../../shared/messages/thrown.ts'
import type { PlanConnection } from '../../../shared/plan/connection.ts'
import {
  type ConnectionKey,
  type Connections,
  connectionsSchema,
  type StoredConnection,
} from '../../../shared/plan/stored-connection.ts'
import { type Lease, takeLease } from './lease.ts'
import { readTextFile } from './regular-file.ts'
import { replaceFileSync } from './replace-file.ts'
import { createWorkspaceFolders } from './workspace-files.ts'

const NO_CONNECTIONS: Connections = { version: 1, inUse: null, connections: [], keysToRemove: [] }

export function toConnectionsFile(workspace: string): string {
  return join(workspace, 'connections.json')
}

/** The connections of a workspace; none before the first is stored. Throws `WORKSPACE_UNUSABLE`. */
export function readConnections(workspace: string): Connections {
  const file = toConnectionsFile(workspace)
  const text = readText(file)
  if (text === null) return NO_CONNECTIONS
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw damaged(file, toThrownText(error))
  }
  const parsed = connectionsSchema.safeParse(value)
  if (parsed.success) return parsed.data
  // Only paths and expectations: the value itself may be a secret that somebody wrote there by hand.
  const issues = parsed.error.issues.map(
    ({ path, message }) => `${path.join('.') || 'the whole'}: ${message}`,
  )
  throw damaged(file, issues.join('; '))
}

/**
 * Reads, changes and writes the connections, one process at a time; readers see either the old or the new
 * file. Typed keys that no connection has any more are noted in the same step for removal from their stores.
 * If `change` throws, nothing changes. Throws `WORKSPACE_UNUSABLE`.
 */
export function changeConnections(
  workspace: string,
  change: (connections: Connections) => Connections,
): Connections {
  createWorkspaceFolders(workspace)
  const file = toConnectionsFile(workspace)
  const lease = lockConnections(file)
  try {
    const known = readConnections(workspace)
    const changed = connectionsSchema.parse(noteKeysToRemove(known, change(known)))
    try {
      replaceFileSync(file, `${JSON.stringify(changed, null, 2)}\n`, { isPrivate: true })
    } catch (error) {
      throw SluiceError.because(error, { id: 'connections_unwritable', file })
    }
    return changed
  } finally {
    lease.release()
  }
}

/** Notes typed keys that a change leaves without a connection, and drops notes on those it brings back. */
function noteKeysToRemove(before: Connections, after: Connections): Connections {
  const stay = new Set(listTypedKeys(after).map(({ revision }) => revision))
  const gone = new Map(
    [...after.keysToRemove, ...listTypedKeys(before)].map((key) => [key.revision, key] as const),
  )
  return { ...after, keysToRemove: [...gone.values()].filter(({ revision }) => !stay.has(revision)) }
}

function listTypedKeys({ connections }: Connections): Connections['keysToRemove'] {
  return connections.flatMap(({ name: connection, keys }) =>
    keys.flatMap(({ label, typed }) => (typed === undefined ? [] : [{ ...typed, connection, label }])),
  )
}

/** Longest wait for another process, milliseconds: it writes a small file, and this one's window freezes. */
const LOCK_WITHIN_MS = 250

function lockConnections(file: string): Lease {
  try {
    return takeLease(file, file, LOCK_WITHIN_MS)
  } catch (error) {
    if (!(error instanceof SluiceError) || error.code !== 'RUN_BUSY') throw error
    throw new SluiceError({ id: 'connections_busy', file })
  }
}

function readText(file: string): string | null {
  try {
    return readTextFile(file).replace(/^\uFEFF/, '')
  } catch (error) {
    if (toSystemCode(error) === 'ENOENT') return null
    throw SluiceError.because(error, { id: 'connections_unreadable', file })
  }
}

function damaged(file: string, what: string): SluiceError {
  return new SluiceError({ id: 'connections_damaged', file, reason: what })
}

/** The connection with that name. Throws `CONNECTION_NOT_FOUND` with the known names. */
export function findConnection({ connections }: Connections, name: string): StoredConnection {
  const found = connections.find((connection) => connection.name === name.normalize('NFC'))
  if (found !== undefined) return found
  const known = connections.map((connection) => connection.name)
  throw new SluiceError({ id: 'connection_not_found', name, known, nearest: findNearest(name, known) })
}

/** The connection to use if none is named; null if there is none. */
export function findConnectionInUse(connections: Connections): StoredConnection | null {
  return connections.inUse === null ? null : findConnection(connections, connections.inUse)
}

/** The key with that label. Throws `CONNECTION_NOT_FOUND` with the known labels. */
export function findKey({ name, keys }: StoredConnection, label: string): ConnectionKey {
  const found = keys.find((key) => key.label === label.normalize('NFC'))
  if (found !== undefined) return found
  const known = keys.map((key) => key.label)
  throw new SluiceError({
    id: 'key_not_found',
    connection: name,
    label,
    known,
    nearest: findNearest(label, known),
  })
}

/**
 * Whether a run of this connection sends with its active key, even after a switch. A variable that is not one
 * of the connection's was chosen for that run alone.
 */
export function followsActiveKey(
  { name, keys }: StoredConnection,
  connection: Pick<PlanConnection, 'name' | 'apiKeyEnv' | 'keyFrom'>,
): boolean {
  if (connection.name !== name) return false
  const { keyFrom } = connection
  if (keyFrom !== undefined) return keyFrom === 'window'
  return keys.some(({ env }) => env === connection.apiKeyEnv)
}

/** Adds a connection; the very first is put in use. Throws `BAD_USAGE` if the name is taken. */
export function addConnection(connections: Connections, added: StoredConnection): Connections {
  if (connections.connections.some(({ name }) => name === added.name)) {
    throw new SluiceError({ id: 'connection_exists', name: added.name })
  }
  return {
    ...connections,
    inUse: connections.connections.length === 0 ? added.name : connections.inUse,
    connections: [...connections.connections, added],
  }
}

/** Replaces the connection of the same name. Throws `CONNECTION_NOT_FOUND`. */
export function replaceConnection(connections: Connections, changed: StoredConnection): Connections {
  findConnection(connections, changed.name)
  return {
    ...connections,
    connections: connections.connections.map((one) => (one.name === changed.name ? changed : one)),
  }
}

/** Replaces the connection `was` if it is unchanged. Throws `CONNECTION_NOT_FOUND`, `BAD_USAGE`. */
export function replaceUnlessChanged(
  known: Connections,
  was: StoredConnection,
  changed: StoredConnection,
): Connections {
  refuseChanged(known, was)
  return replaceConnection(known, changed)
}

/**
 * Removes a connection, unless it has changed meanwhile; if it was in use, none is afterwards. Throws
 * `CONNECTION_NOT_FOUND`, `BAD_USAGE`.
 */
export function removeUnlessChanged(known: Connections, was: StoredConnection): Connections {
  refuseChanged(known, was)
  return {
    ...known,
    inUse: known.inUse === was.name ? null : known.inUse,
    connections: known.connections.filter(({ name }) => name !== was.name),
  }
}

function refuseChanged(known: Connections, was: StoredConnection): void {
  const now = findConnection(known, was.name)
  if (JSON.stringify(now) !== JSON.stringify(was)) {
    throw new SluiceError({ id: 'connection_changed_meanwhile', connection: was.name })
  }
}

/** Puts a connection in use; a label also makes that key its active one. Throws `CONNECTION_NOT_FOUND`. */
export function applyConnection(connections: Connections, name: string, label?: string): Connections {
  const found = findConnection(connections, name)
  const activeKey = label === undefined ? found.activeKey : findKey(found, label).label
  return { ...replaceConnection(connections, { ...found, activeKey }), inUse: name }
}

/**
 * Notes on a stored connection that its service rewrites ids. A failure to write is ignored: this run knows
 * it already, and the next one asks again.
 */
export function rememberRewriting(workspace: string, { name, baseUrl }: PlanConnection): void {
  if (name === undefined) return
  try {
    changeConnections(workspace, (known) => {
      const stored = findConnection(known, name)
      return stored.baseUrl === baseUrl ? replaceConnection(known, { ...stored, rewritesIds: true }) : known
    })
  } catch (error) {
    if (!(error instanceof SluiceError)) throw error
  }
}
