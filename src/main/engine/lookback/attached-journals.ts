import { DatabaseSync } from 'node:sqlite'
import type { RunView } from '../journal/run-family.ts'
import { attachReader } from '../workspace/open-reader.ts'

/** Page cache of the database, KiB; what does not fit is in a temporary file without a name. */
const CACHE_KIB = 64 * 1024

/** Works with a database of its own, in memory as far as there is room: it can read journals next to each other. */
export function withDatabase<Result>(work: (db: DatabaseSync) => Result): Result {
  const db = new DatabaseSync('')
  try {
    db.exec(`PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA temp_store = FILE;
      PRAGMA cache_size = -${CACHE_KIB}`)
    return work(db)
  } finally {
    db.close()
  }
}

/** Attaches a journal for reading alone. */
export function attachJournal(db: DatabaseSync, name: string, { file }: RunView): void {
  attachReader(db, file, name, 'run')
}
