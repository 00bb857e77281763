import { existsSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import type { NewVerdict, Verdict } from '../../../shared/lookback/verdict.ts'
import { SluiceError } from '../../../shared/messages/errors.ts'
import { toThrownText } from '../../../shared/messages/thrown.ts'
import type { RunFamily } from '../journal/run-family.ts'
import { pickRows } from '../run/results/family-counts.ts'
import { closeDatabaseFile } from '../workspace/file-permissions.ts'
import { takeLease } from '../workspace/lease.ts'
import { toVerdictsFile } from '../workspace/workspace-files.ts'

/** As in the journal's `migrations.ts`: a step that has shipped is never edited. */
const MIGRATIONS: readonly string[] = [
  `
  -- What persons said of rows. Rules are '' where a verdict is of none; times are Unix milliseconds.
  CREATE TABLE verdict (
    row INTEGER NOT NULL,
    verdict TEXT NOT NULL,
    rule TEXT NOT NULL,
    note TEXT,
    given_at INTEGER NOT NULL,
    stratum TEXT,
    stratum_rows INTEGER,
    PRIMARY KEY (row, rule)
  ) STRICT, WITHOUT ROWID;
  `,
]

/** How long a statement waits for another process's short lock before it fails, milliseconds. */
const BUSY_TIMEOUT_MS = 5_000

/**
 * Where the verdicts of a run are: next to the journal of the first run of its whole, whose rows all retries share, and
 * never in a journal, which is evidence.
 */
function toFile({ whole, workspace, record }: RunFamily): string {
  return toVerdictsFile(workspace, whole[0]?.record.runId ?? record.runId)
}

/** Reads the verdicts of a run and its retries, by row. Throws `WORKSPACE_UNUSABLE`. */
export function readVerdicts(family: RunFamily): Verdict[] {
  const file = toFile(family)
  if (!existsSync(file)) return []
  return withDatabase(file, (db) =>
    db
      .prepare('SELECT * FROM verdict ORDER BY row, rule')
      .all()
      .map((found) => ({
        row: Number(found['row']),
        verdict: found['verdict'] as Verdict['verdict'],
        rule: found['rule'] === '' ? null : String(found['rule']),
        note: found['note'] === null ? null : String(found['note']),
        given_at: new Date(Number(found['given_at'])).toISOString(),
        stratum: found['stratum'] === null ? null : String(found['stratum']),
        stratum_rows: found['stratum_rows'] === null ? null : Number(found['stratum_rows']),
      })),
  )
}

/**
 * Stores verdicts, all or none. One that speaks of a rule stands next to those of other rules of its row; any other
 * takes the place of all that was said of the row. Throws `BAD_USAGE` where the run has no such row, and
 * `WORKSPACE_UNUSABLE`.
 */
export function storeVerdicts(family: RunFamily, verdicts: readonly NewVerdict[], nowMs = Date.now()): void {
  refuseMissingRows(
    family,
    verdicts.map(({ row }) => row),
  )
  writeVerdicts(family, (db) => {
    const removeAll = db.prepare('DELETE FROM verdict WHERE row = ?')
    const removeWhole = db.prepare("DELETE FROM verdict WHERE row = ? AND rule = ''")
    const insert = db.prepare('INSERT OR REPLACE INTO verdict VALUES (?, ?, ?, ?, ?, ?, ?)')
    for (const { row, verdict, rule, note, stratum, stratum_rows } of verdicts) {
      if (rule === null) removeAll.run(row)
      else removeWhole.run(row)
      insert.run(row, verdict, rule ?? '', note, nowMs, stratum, stratum_rows)
    }
  })
}

/** Removes all that was said of a row. */
export function removeVerdicts(family: RunFamily, row: number): void {
  refuseMissingRows(family, [row])
  writeVerdicts(family, (db) => db.prepare('DELETE FROM verdict WHERE row = ?').run(row))
}

function refuseMissingRows(family: RunFamily, rows: readonly number[]): void {
  const missing = new Set(rows)
  for (const member of family.members) for (const row of pickRows(member, [...missing])) missing.delete(row)
  const [row] = missing
  if (row !== undefined) throw new SluiceError({ id: 'verdict_row_missing', runId: family.record.runId, row })
}

function writeVerdicts(family: RunFamily, write: (db: DatabaseSync) => void): void {
  const file = toFile(family)
  const lease = takeLease(file, `the verdicts of run ${family.record.runId}`)
  try {
    withDatabase(file, (db) => {
      db.exec('BEGIN IMMEDIATE')
      write(db)
      db.exec('COMMIT')
    })
  } finally {
    lease.release()
  }
}

/** Opens the file for one piece of work. A rollback journal keeps it one file, which is rarely written. */
function withDatabase<Result>(file: string, work: (db: DatabaseSync) => Result): Result {
  let db: DatabaseSync | null = null
  try {
    db = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS })
    closeDatabaseFile(file)
    db.exec('PRAGMA synchronous = FULL')
    const version = Number(db.prepare('PRAGMA user_version').get()?.['user_version'])
    if (version > MIGRATIONS.length) throw new Error(`it is from a newer version (${version})`)
    for (const [index, sql] of MIGRATIONS.entries()) {
      if (index >= version) db.exec(`BEGIN IMMEDIATE; ${sql}; PRAGMA user_version = ${index + 1}; COMMIT`)
    }
    return work(db)
  } catch (error) {
    if (error instanceof SluiceError) throw error
    throw new SluiceError({ id: 'verdicts_unusable', file, reason: toThrownText(error) }, { cause: error })
  } finally {
    db?.close()
  }
}
