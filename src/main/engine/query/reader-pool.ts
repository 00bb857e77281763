import { openJournalReader } from '../journal/open-journal.ts'
import type { DatabaseSync } from '../journal/sqlite-types.ts'

/** Journals kept open for reading at most; an open reader without a statement under way holds nothing up. */
const READERS_MAX = 8

/** Readers of journals, the most recently used kept open. */
export class ReaderPool {
  readonly #readers = new Map<string, DatabaseSync>()

  /** The reader of a journal. Throws `WORKSPACE_UNUSABLE` where it cannot be opened. */
  get(file: string): DatabaseSync {
    const reader = this.#readers.get(file) ?? openJournalReader(file)
    this.#readers.delete(file)
    this.#readers.set(file, reader)
    for (const [oldest] of this.#readers) {
      if (this.#readers.size <= READERS_MAX) break
      this.forget(oldest)
    }
    return reader
  }

  /** Closes the reader of a journal, if there is one. */
  forget(file: string): void {
    this.#readers.get(file)?.close()
    this.#readers.delete(file)
  }
}
