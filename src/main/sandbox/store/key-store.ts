import { hash, randomBytes } from 'node:crypto'
import type { DatabaseSync } from 'node:sqlite'
import type { GroupCommit } from './open-database.ts'

/** An API key as it may be shown, without the key itself. */
interface KeyRecord {
  key_id: number
  label: string
  created_at: string
}

/** Opens the keys. Those of `seedKeys` that the store never had are added; removed ones stay removed. */
export function createKeyStore(database: DatabaseSync, group: GroupCommit, seedKeys: string[]) {
  const selectActive = database.prepare(
    'SELECT id AS key_id, label, created_at FROM api_key WHERE active = 1 ORDER BY id',
  )
  const selectHashes = database.prepare('SELECT key_hash FROM api_key WHERE active = 1')
  const insert = database.prepare(
    'INSERT INTO api_key (key_hash, label, created_at, active) VALUES (?, ?, ?, 1) ON CONFLICT DO NOTHING',
  )
  const selectLabel = database.prepare('SELECT label FROM api_key WHERE id = ? AND active = 1')
  const deactivate = database.prepare('UPDATE api_key SET active = 0 WHERE id = ? AND active = 1')

  let activeHashes = new Set<string>()
  const reload = (): void => {
    group.flush()
    activeHashes = new Set(selectHashes.all().map((row) => String(row['key_hash'])))
  }

  const add = (
    label: string,
    key = `sandbox-${randomBytes(18).toString('base64url')}`,
  ): { keyId: number; key: string } | null => {
    const result = group.write(() => insert.run(toKeyHash(key), label, new Date().toISOString()))
    reload()
    return result.changes === 0 ? null : { keyId: Number(result.lastInsertRowid), key }
  }

  for (const [index, key] of seedKeys.entries()) add(`key ${index + 1}`, key)

  return {
    isValid: (key: string): boolean => activeHashes.has(toKeyHash(key)),
    list: (): KeyRecord[] => selectActive.all() as unknown as KeyRecord[],
    /** Adds a key (default: a new random one); null if that key exists or once existed. */
    add,
    /** Replaces a key by a new random one at once; null if there is no such key. */
    refresh: (keyId: number): { keyId: number; key: string } | null => {
      const label = selectLabel.get(keyId)?.['label']
      if (label === undefined) return null
      group.write(() => deactivate.run(keyId))
      return add(String(label))
    },
    /** Invalidates a key at once; false if there is no such key. */
    remove: (keyId: number): boolean => {
      const { changes } = group.write(() => deactivate.run(keyId))
      reload()
      return changes !== 0
    },
  }
}

/** The interchangeable API keys of the sandbox's project (docs/interface.md §5). Only hashes are kept. */
export interface KeyStore extends ReturnType<typeof createKeyStore> {}

function toKeyHash(key: string): string {
  return hash('sha256', key)
}
