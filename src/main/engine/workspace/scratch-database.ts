import { DatabaseSync } from 'node:sqlite'

/**
 * Opens a database that only this process sees and that is gone once it is closed. What does not fit into its page cache
 * is in a temporary file without a name.
 */
export function openScratchDatabase({ cacheKib }: { cacheKib: number }): DatabaseSync {
  const db = new DatabaseSync('')
  try {
    db.exec(`PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA temp_store = FILE;
      PRAGMA cache_size = -${cacheKib}`)
    return db
  } catch (error) {
    db.close()
    throw error
  }
}
