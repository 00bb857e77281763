import { SluiceError } from '../../../shared/messages/errors.ts'
import type { DatabaseSync } from './sqlite.ts'

/**
 * Refuses a SQLite file that holds anything but tables and indexes, before anything in it is queried: a view can have
 * rows without end, a trigger changes what is written, and Sluice makes neither. Also refuses a file that has tables but
 * no version, which another program made. Throws `WORKSPACE_UNUSABLE`, and what SQLite throws for a damaged file.
 */
export function refuseForeignSchema(db: DatabaseSync, file: string): void {
  const foreign = findForeign(db)
  if (foreign !== null) throw new SluiceError({ id: 'foreign_schema', file, foreign })
}

/** What a SQLite file holds that Sluice did not make, such as `the view run`; null where there is nothing. */
export function findForeign(db: DatabaseSync): string | null {
  // Expressions that a file brings along must not call anything.
  db.exec('PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON')
  const found = db
    .prepare(
      `SELECT iif(type = 'table' AND rootpage = 0, 'virtual table', type) AS kind, name FROM sqlite_schema
       WHERE type NOT IN ('table', 'index') OR rootpage = 0 OR (SELECT user_version FROM pragma_user_version) = 0
       LIMIT 1`,
    )
    .get()
  return found === undefined ? null : `the ${found['kind']} ${found['name']}`
}
