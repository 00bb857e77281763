import type { RunView } from '../journal/run-family.ts'
import { attachReader } from '../workspace/open-reader.ts'
import { openScratchDatabase } from '../workspace/scratch-database.ts'
import type { DatabaseSync } from '../workspace/sqlite.ts'

/** Page cache of the database, KiB. */
const CACHE_KIB = 64 * 1024

/** Runs `work` with a database of its own, in memory if it fits, to which journals can be attached. */
export function withDatabase<Result>(work: (db: DatabaseSync) => Result): Result {
  const db = openScratchDatabase({ cacheKib: CACHE_KIB })
  try {
    return work(db)
  } finally {
    db.close()
  }
}

/** Attaches a journal read-only. */
export function attachJournal(db: DatabaseSync, name: string, { file }: RunView): void {
  attachReader(db, file, name, 'run')
}
