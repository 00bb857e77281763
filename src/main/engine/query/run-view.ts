import { type RunRecord, readRunRecord } from '../journal/run-record.ts'
import type { DatabaseSync } from '../journal/sqlite-types.ts'

/** A run's journal as a reader sees it. */
export interface RunView {
  db: DatabaseSync
  record: RunRecord
  /** The folder the run is kept in. */
  workspace: string
  /** Some process, this one included, holds the run. */
  isHeld: boolean
  /** It was sending when its process died; what it had marked and not settled is unknown. */
  isCutOff: boolean
}

/** Reads the run's own row; null where its journal holds no run yet. */
export function readRunView(db: DatabaseSync, isHeld: boolean, workspace: string): RunView | null {
  const record = hasSchema(db) ? readRunRecord(db) : null
  if (record === null) return null
  return { db, record, workspace, isHeld, isCutOff: record.state === 'running' && !isHeld }
}

/** False where the run's thread is just making the file. */
function hasSchema(db: DatabaseSync): boolean {
  return Number(db.prepare('PRAGMA user_version').get()?.['user_version']) > 0
}
