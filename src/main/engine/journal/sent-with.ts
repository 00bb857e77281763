import type { DatabaseSync } from 'node:sqlite'
import { isSameKey } from '../workspace/key-fingerprint.ts'
import type { CounterKind } from './counters.ts'

/** Whether the run of these journals was sent with the key or headers of a fingerprint; null if unknown. */
export function wasSentWith(
  dbs: readonly DatabaseSync[],
  kind: CounterKind & ('key' | 'header_values' | 'header_keys'),
  fingerprint: string | null,
): boolean | null {
  if (fingerprint === null) return null
  const noted = dbs.flatMap((db) => db.prepare('SELECT value FROM facet WHERE kind = ? AND n > 0').all(kind))
  const same = noted.map(({ value }) => isSameKey(String(value), fingerprint))
  if (same.includes(true)) return true
  return same.length === 0 || same.includes(null) ? null : false
}
