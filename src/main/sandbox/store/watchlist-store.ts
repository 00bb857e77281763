import type { DatabaseSync } from 'node:sqlite'
import { type GroupCommit, seedOnce } from './open-database.ts'

/** A stored term, in lower case (docs/interface.md §2.5). */
export interface StoredTerm {
  term: string
  notes: string | null
}

/** Opens the watchlists of the project. A store that never had any starts with `seedLists`. */
export function createWatchlistStore(
  database: DatabaseSync,
  group: GroupCommit,
  seedLists: Record<string, StoredTerm[]>,
) {
  const selectNames = database.prepare('SELECT name FROM watchlist ORDER BY name')
  const selectName = database.prepare('SELECT name FROM watchlist WHERE name = ?')
  const selectTerms = database.prepare(
    'SELECT term, notes FROM watchlist_term WHERE watchlist = ? ORDER BY term',
  )
  const selectTerm = database.prepare(
    'SELECT term, notes FROM watchlist_term WHERE watchlist = ? AND term = ?',
  )
  const insertList = database.prepare('INSERT INTO watchlist (name) VALUES (?) ON CONFLICT DO NOTHING')
  const removeList = database.prepare('DELETE FROM watchlist WHERE name = ?')
  const removeTerms = database.prepare('DELETE FROM watchlist_term WHERE watchlist = ?')
  const upsertTerm = database.prepare(
    'INSERT INTO watchlist_term (watchlist, term, notes) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET notes = excluded.notes',
  )

  const store = {
    names: (): string[] => selectNames.all().map((row) => String(row['name'])),
    /** Null if there is no such watchlist. */
    terms: (name: string): StoredTerm[] | null => {
      if (selectName.get(name) === undefined) return null
      return selectTerms.all(name) as unknown as StoredTerm[]
    },
    /** Creates the watchlist, or replaces its terms. */
    put: (name: string, terms: StoredTerm[]): void => {
      group.writeNow(() => {
        insertList.run(name)
        removeTerms.run(name)
        for (const { term, notes } of terms) upsertTerm.run(name, term.toLowerCase(), notes)
      })
    },
    /** False if there is no such watchlist. */
    remove: (name: string): boolean => group.writeNow(() => removeList.run(name)).changes !== 0,
    has: (name: string): boolean => selectName.get(name) !== undefined,
    /** The list's entry for a lower-cased term; null if there is none. */
    find: (name: string, term: string): StoredTerm | null =>
      (selectTerm.get(name, term) ?? null) as StoredTerm | null,
    /** Adds a lower-cased term or overwrites its notes, in the request's transaction. */
    setTerm: (name: string, { term, notes }: StoredTerm): void => {
      group.write(() => upsertTerm.run(name, term, notes))
    },
  }
  seedOnce(database, group, 'watchlists', () => {
    for (const [name, terms] of Object.entries(seedLists)) store.put(name, terms)
  })
  return store
}
