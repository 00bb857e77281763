import type { DatabaseSync } from '../workspace/sqlite.ts'
import { toWorkspace } from '../workspace/workspace-files.ts'
import { hasSchema, openJournalReader } from './journal.ts'
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

/** Journals usually kept open for reading at most; an open reader without a statement under way holds nothing up. */
const READERS_MAX = 8

/** Readers of journals, the most recently used kept open. */
export class ReaderPool {
  readonly #readers = new Map<string, DatabaseSync>()
  #max = READERS_MAX

  /** Keeps that many open from now on where that is more than usual: a run and its retries are read together. */
  makeRoomFor(readers: number): void {
    this.#max = Math.max(READERS_MAX, readers)
  }

  /** The reader of a journal. Throws `WORKSPACE_UNUSABLE` where it cannot be opened. */
  get(file: string): DatabaseSync {
    const reader = this.#readers.get(file) ?? openJournalReader(file)
    this.#readers.delete(file)
    this.#readers.set(file, reader)
    for (const [oldest] of this.#readers) {
      if (this.#readers.size <= this.#max) break
      this.forget(oldest)
    }
    return reader
  }

  /** Closes the reader of a journal, if there is one. */
  forget(file: string): void {
    this.#readers.get(file)?.close()
    this.#readers.delete(file)
  }

  /** Closes every reader. */
  close(): void {
    for (const file of [...this.#readers.keys()]) this.forget(file)
  }
}
