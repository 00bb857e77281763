import type { DatabaseSync } from 'node:sqlite'
import { type InboxCounts, REFUSALS, SELF_TEST_PREFIX } from './inbox.ts'

/**
 * Reads the inbox's counters: `last_id`, `received` and a `refused:KIND` each. They are written about once a second;
 * callbacks that came after are counted one by one, so that none is missed and no id given out again, whatever befell
 * the writer.
 */
export function readCounters(db: DatabaseSync): Map<string, number> {
  const counters = new Map<string, number>()
  for (const { name, n } of db.prepare('SELECT name, n FROM counter').all()) {
    counters.set(String(name), Number(n))
  }
  const since = db.prepare(
    `SELECT max(callback.id) AS last_id, count(*) FILTER (WHERE substr(token, 1, ?) <> ?) AS received
     FROM callback JOIN run ON run.id = run WHERE callback.id > ?`,
  )
  const lastId = counters.get('last_id') ?? 0
  const later = since.get(SELF_TEST_PREFIX.length, SELF_TEST_PREFIX, lastId)
  counters.set('last_id', Number(later?.['last_id'] ?? lastId))
  counters.set('received', (counters.get('received') ?? 0) + Number(later?.['received']))
  return counters
}

/** The counters as others see them. */
export function toInboxCounts(counters: ReadonlyMap<string, number>): InboxCounts {
  const refused: InboxCounts['refused'] = {}
  for (const refusal of REFUSALS) {
    const n = counters.get(`refused:${refusal}`)
    if (n !== undefined) refused[refusal] = n
  }
  return { received: counters.get('received') ?? 0, refused }
}
