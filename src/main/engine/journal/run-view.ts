import type { DatabaseSync } from '../workspace/sqlite-types.ts'
import { toWorkspace } from '../workspace/workspace-files.ts'
import { hasSchema } from './open-journal.ts'
import type { ReaderPool } from './reader-pool.ts'
import { type RunRecord, readRunRecord } from './run-record.ts'

/** A run's journal as a reader sees it. */
export interface RunView {
  /** The reader; not to be kept, since the pool closes those that were used longest ago. */
  readonly db: DatabaseSync
  file: string
  record: RunRecord
  /** The folder the run is kept in. */
  workspace: string
  /** Some process, this one included, holds the run. */
  isHeld: boolean
  /** It was sending when its process died; what it had marked and not settled is unknown. */
  isCutOff: boolean
}

/** Reads the run's own row; null where its journal holds no run yet. */
export function readRunView(pool: ReaderPool, file: string, isHeld: boolean): RunView | null {
  const db = pool.get(file)
  const record = hasSchema(db) ? readRunRecord(db) : null
  if (record === null) return null
  return {
    get db() {
      return pool.get(file)
    },
    file,
    record,
    workspace: toWorkspace(file),
    isHeld,
    isCutOff: record.state === 'running' && !isHeld,
  }
}
