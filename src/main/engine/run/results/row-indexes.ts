import { setImmediate } from 'node:timers/promises'
import type { RowFilter } from '../../../../shared/run/results.ts'
import type { RunFamily } from '../../journal/run-family.ts'
import { RowIndex } from './row-index.ts'

/** Indexes kept, the one used longest ago goes first; of 1,000,000 rows each has 8 MB. */
const INDEXES_MAX = 4

/** How long a question waits for an index, milliseconds; then it is answered with what was found so far. */
const PATIENCE_MS = 250

/** How often the index of an active run is rebuilt at most, milliseconds, and at most a fifth of the time. */
const REFRESH_MS = 1_000
const REFRESH_SHARE = 5

interface Entry {
  file: string
  index: RowIndex
  /** The index that takes its place where the journal has changed. */
  next: RowIndex | null
  spentMs: number
  builtAtMs: number
}

/**
 * The indexes behind searches and combined filters. They grow only while somebody asks, so a search that was given up
 * costs nothing, and a few milliseconds at a time, so that other questions are answered in between.
 */
export class RowIndexes {
  readonly #entries = new Map<string, Entry>()
  readonly #nowMs: () => number

  /** `nowMs` counts milliseconds from anywhere. */
  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs
  }

  /**
   * The index of a run's rows that contain the filter's search, once it is complete, holds `rows` rows that match, or
   * {@link PATIENCE_MS} have passed. `isCounted` is false while its counts may still change.
   */
  async ask(
    file: string,
    filter: RowFilter,
    options: { rows: number; openView: () => RunFamily },
  ): Promise<{ index: RowIndex; isCounted: boolean }> {
    const { rows, openView } = options
    const entry = this.#get(file, filter.search ?? '')
    const askedAtMs = this.#nowMs()
    for (;;) {
      const startedAtMs = this.#nowMs()
      const view = openView()
      const growing = this.#toGrowing(entry, view, filter.search ?? '', startedAtMs)
      if (growing === null) return { index: entry.index, isCounted: true }
      growing.step(view)
      const endedAtMs = this.#nowMs()
      entry.spentMs += endedAtMs - startedAtMs
      if (growing.isComplete) Object.assign(entry, { index: growing, next: null, builtAtMs: endedAtMs })
      else if (entry.next === null && growing.count(filter) >= rows) {
        return { index: growing, isCounted: false }
      } else if (endedAtMs - askedAtMs > PATIENCE_MS) return { index: entry.index, isCounted: false }
      await setImmediate()
    }
  }

  /** Forgets the indexes of a journal that is about to be deleted. */
  forget(file: string): void {
    for (const [key, entry] of this.#entries) if (entry.file === file) this.#entries.delete(key)
  }

  /** The index that has to grow before a question can be answered; null where none has. */
  #toGrowing(entry: Entry, view: RunFamily, search: string, nowMs: number): RowIndex | null {
    if (!entry.index.isComplete) return entry.index
    if (entry.next !== null) return entry.next
    if (!entry.index.isOutdated(view)) return null
    const restMs = Math.max(REFRESH_MS, entry.spentMs * REFRESH_SHARE)
    if (view.members.some(({ isHeld }) => isHeld) && nowMs - entry.builtAtMs < restMs) return null
    entry.spentMs = 0
    entry.next = new RowIndex(search)
    return entry.next
  }

  #get(file: string, search: string): Entry {
    const key = JSON.stringify([file, search])
    const entry = this.#entries.get(key) ?? {
      file,
      index: new RowIndex(search),
      next: null,
      spentMs: 0,
      builtAtMs: 0,
    }
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    for (const [oldest] of this.#entries) {
      if (this.#entries.size <= INDEXES_MAX) break
      this.#entries.delete(oldest)
    }
    return entry
  }
}
