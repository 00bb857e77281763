import type { DatabaseSync } from '../workspace/sqlite-types.ts'
import { openJournalReader } from './open-journal.ts'

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
