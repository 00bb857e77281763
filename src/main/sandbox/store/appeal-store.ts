import type { DatabaseSync, SQLOutputValue } from 'node:sqlite'
import { type Appeal, appealSchema } from '../../../shared/sandbox/content.ts'
import { type GroupCommit, seedOnce } from './open-database.ts'

export interface StoredAppeal {
  appeal: Appeal
  createdOn: Date
  /** How often the service's endpoint has answered with it. */
  reads: number
}

/** Opens the project's appeals. A store that never had any starts with `seedAppeals`, created at `now`. */
export function createAppealStore(
  database: DatabaseSync,
  group: GroupCommit,
  seedAppeals: readonly Appeal[],
  now: Date,
) {
  const selectOne = database.prepare('SELECT * FROM appeal WHERE appeal_id = ?')
  const countRead = database.prepare('UPDATE appeal SET reads = reads + 1 WHERE appeal_id = ?')
  const replace = database.prepare(
    'INSERT OR REPLACE INTO appeal (appeal_id, document, created_ms) VALUES (?, ?, ?)',
  )
  const removeOne = database.prepare('DELETE FROM appeal WHERE appeal_id = ?')
  const removeAll = database.prepare('DELETE FROM appeal')
  const selectCount = database.prepare('SELECT count(*) AS n FROM appeal')
  const selectPage = database.prepare('SELECT * FROM appeal ORDER BY id LIMIT ? OFFSET ?')

  const store = {
    find: (appealId: string): StoredAppeal | null => {
      const row = selectOne.get(appealId)
      return row === undefined ? null : toStoredAppeal(row)
    },
    noteRead: (appealId: string): void => {
      group.write(() => countRead.run(appealId))
    },
    /** Adds appeals; those with known ids are replaced by new ones. */
    put: (appeals: readonly Appeal[], createdOn: Date): void => {
      group.writeNow(() => {
        for (const appeal of appeals) {
          replace.run(appeal.appeal_id, JSON.stringify(appeal), createdOn.getTime())
        }
      })
    },
    /** False if there is no such appeal. */
    remove: (appealId: string): boolean => group.writeNow(() => removeOne.run(appealId)).changes !== 0,
    clear: (): void => {
      group.writeNow(() => removeAll.run())
    },
    count: (): number => Number(selectCount.get()?.['n']),
    /** Appeals from that offset on, in the order they were added. */
    page: (offset: number, limit: number): StoredAppeal[] =>
      selectPage.all(limit, offset).map(toStoredAppeal),
  }
  seedOnce(database, group, 'appeals', () => store.put(seedAppeals, now))
  return store
}

function toStoredAppeal(row: Record<string, SQLOutputValue>): StoredAppeal {
  return {
    appeal: appealSchema.parse(JSON.parse(String(row['document']))),
    createdOn: new Date(Number(row['created_ms'])),
    reads: Number(row['reads']),
  }
}
