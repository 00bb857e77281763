import { DatabaseSync } from 'node:sqlite'

/**
 * Opens a database of this process alone, which is gone once closed. What exceeds its page cache goes to an
 * unnamed temporary file.
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
