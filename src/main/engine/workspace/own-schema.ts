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

/** How many steps of its schema a file has taken. */
export function readSchemaVersion(db: DatabaseSync): number {
  return Number(db.prepare('PRAGMA user_version').get()?.['user_version'] ?? 0)
}

/** Takes the steps of a schema that a file has not taken yet. Throws what `toTooNew` makes of a file that has taken more. */
export function takeSchemaSteps(
  db: DatabaseSync,
  steps: readonly string[],
  toTooNew: (version: number) => Error,
): void {
  const version = readSchemaVersion(db)
  if (version > steps.length) throw toTooNew(version)
  for (const [index, sql] of steps.entries()) {
    if (index >= version) db.exec(`BEGIN IMMEDIATE; ${sql}; PRAGMA user_version = ${index + 1}; COMMIT`)
  }
}
