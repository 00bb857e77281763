import { SluiceError } from '../../shared/messages/errors.ts'
import type { ConnectionKey, Connections, StoredConnection } from '../../shared/plan/stored-connection.ts'
import {
  type KeySources,
  type RememberedKey,
  readKeysToRemove,
  removeUnusedKeys,
  restoreTypedKeys,
} from '../engine/workspace/connection-secrets.ts'
import {
  addConnection,
  changeConnections,
  findConnection,
  findKey,
  readConnections,
  removeUnlessChanged,
  replaceUnlessChanged,
} from '../engine/workspace/connections.ts'
import type { Clock } from './event-stream.ts'

/** How long a removed connection's typed keys are remembered, milliseconds. */
const KEYS_KEPT_MS = 600_000

interface RemovedConnection {
  stored: StoredConnection
  /** Its position in the list. */
  at: number
  wasInUse: boolean
  /** Its typed keys; empty once forgotten. */
  keys: readonly RememberedKey[]
}

interface RemovedKey {
  key: ConnectionKey
  /** Its position among the keys. */
  at: number
  wasActive: boolean
  /** Its typed text; empty once forgotten. */
  typed: readonly RememberedKey[]
}

/** Remembers removed connections for the life of the process, and their keys for ten minutes. */
export function createRemovedConnections(clock: Clock) {
  const removed = new Map<string, RemovedConnection>()
  const removedKeys = new Map<string, RemovedKey>()
  const closing = new AbortController()
  return {
    /**
     * Removes a connection, and its typed keys from their stores. Throws what either throws, and `BAD_USAGE`
     * if the connection has changed meanwhile.
     */
    async remove(sources: KeySources, stored: StoredConnection): Promise<Connections> {
      const { name } = stored
      const keys = await readKeysToRemove(sources, stored)
      const entry: RemovedConnection = { stored, at: 0, wasInUse: false, keys }
      changeConnections(sources.workspace, (known) => {
        entry.at = known.connections.findIndex((one) => one.name === name)
        entry.wasInUse = known.inUse === name
        // A person may have taken long to unlock the keyring.
        return removeUnlessChanged(known, stored)
      })
      removed.set(name, entry)
      void clock.wait(KEYS_KEPT_MS, closing.signal).then(() => {
        entry.keys = []
      })
      return removeUnusedKeys(sources)
    },
    /** Restores a removed connection. Throws `CONNECTION_NOT_FOUND`, and `BAD_USAGE` if its name is taken. */
    async restore(sources: KeySources, name: string): Promise<Connections> {
      const entry = removed.get(name)
      if (entry === undefined) throw new SluiceError({ id: 'connection_not_restorable', name })
      const restored = await restoreTypedKeys(sources, entry.stored, entry.keys, (known, stored) => ({
        ...addConnection(known, stored),
        inUse: known.inUse ?? (entry.wasInUse ? name : null),
        connections: known.connections.toSpliced(entry.at, 0, stored),
      }))
      removed.delete(name)
      entry.keys = []
      return restored
    },
    /**
     * Removes one of several keys, and its typed text. Throws `BAD_USAGE` for the last key, and what either
     * removal throws.
     */
    async removeKey(sources: KeySources, stored: StoredConnection, label: string): Promise<Connections> {
      const key = findKey(stored, label)
      const at = stored.keys.indexOf(key)
      const keys = stored.keys.toSpliced(at, 1)
      const [first] = keys
      if (first === undefined) throw new SluiceError({ id: 'last_key', label, connection: stored.name })
      const wasActive = stored.activeKey === label
      const activeKey = wasActive ? first.label : stored.activeKey
      const typed = await readKeysToRemove(sources, { ...stored, keys: [key] })
      const entry: RemovedKey = { key, at, wasActive, typed }
      changeConnections(sources.workspace, (known) =>
        replaceUnlessChanged(known, stored, { ...stored, keys, activeKey }),
      )
      removedKeys.set(toKeyId(stored.name, label), entry)
      void clock.wait(KEYS_KEPT_MS, closing.signal).then(() => {
        entry.typed = []
      })
      return removeUnusedKeys(sources)
    },
    /** Restores a removed key. Throws `CONNECTION_NOT_FOUND`, and `BAD_USAGE` if the connection has it. */
    async restoreKey(sources: KeySources, name: string, label: string): Promise<Connections> {
      const entry = removedKeys.get(toKeyId(name, label))
      if (entry === undefined) throw new SluiceError({ id: 'key_not_restorable', label, connection: name })
      const stored = findConnection(readConnections(sources.workspace), name)
      if (stored.keys.some((key) => key.label === label)) {
        throw new SluiceError({ id: 'connection_changed_meanwhile', connection: name })
      }
      const keys = stored.keys.toSpliced(entry.at, 0, entry.key)
      const activeKey = entry.wasActive ? label : stored.activeKey
      const withKey = { ...stored, keys, activeKey }
      const restored = await restoreTypedKeys(sources, withKey, entry.typed, (known, changed) =>
        replaceUnlessChanged(known, stored, changed),
      )
      removedKeys.delete(toKeyId(name, label))
      return restored
    },
    /** Forgets them all. */
    close(): void {
      closing.abort()
      removed.clear()
      removedKeys.clear()
    },
  }
}

/** Connections and keys that windows have removed, kept in memory so that they can be restored. */
export interface RemovedConnections extends ReturnType<typeof createRemovedConnections> {}

function toKeyId(connection: string, label: string): string {
  return JSON.stringify([connection, label])
}
