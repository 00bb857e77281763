import { setImmediate } from 'node:timers/promises'
import type { RunFamily } from '../../journal/run-family.ts'

/** An index of all rows of a run, built a step at a time. */
interface GrowingIndex {
  /** Whether every row was read. */
  readonly isComplete: boolean
  /** Whether the journal has changed since the index was begun. */
  isOutdated(family: RunFamily): boolean
  /** Reads the next few thousand rows. */
  step(family: RunFamily): void
}

/** Least time between index builds of an active run, milliseconds; they take at most a fifth of the time. */
const REFRESH_MS = 1_000
const REFRESH_SHARE = 5

type Create<Index> = (before: Index | null) => Index

interface Question<Index> {
  create: Create<Index>
  isEnough: (index: Index) => boolean
  /** How long the question waits, milliseconds, if not as usual. */
  patienceMs?: number
  openView: () => RunFamily
}

interface Entry<Index> {
  file: string
  index: Index
  /** The index that will replace it, since the journal has changed. */
  next: Index | null
  spentMs: number
  builtAtMs: number
}

/**
 * Indexes of runs. They grow only while somebody asks, so an abandoned question costs nothing, and a few
 * milliseconds at a time, so that other questions are answered in between.
 */
export class KeptIndexes<Index extends GrowingIndex> {
  readonly #entries = new Map<string, Entry<Index>>()
  readonly #limits: { kept: number; patienceMs: number; nowMs: () => number }

  /**
   * Keeps `kept` indexes, dropping the least recently used first; twice as many may be growing at a time. A
   * question waits for `patienceMs`, then gets what was found so far. `nowMs` is a clock in milliseconds,
   * with any origin.
   */
  constructor(limits: { kept: number; patienceMs: number; nowMs?: () => number }) {
    this.#limits = { nowMs: () => performance.now(), ...limits }
  }

  /**
   * The index of a run under a name, once it is complete, has enough for the question, or the patience is
   * over. `isCounted` is false while it may still change. `create` makes a missing one; `before` is the one
   * that it replaces.
   */
  async ask(
    file: string,
    name: string,
    { create, isEnough, openView, patienceMs = this.#limits.patienceMs }: Question<Index>,
  ): Promise<{ index: Index; isCounted: boolean }> {
    const entry = this.#get(file, name, create)
    const { nowMs } = this.#limits
    const askedAtMs = nowMs()
    for (;;) {
      const startedAtMs = nowMs()
      const view = openView()
      const growing = this.#toGrowing(entry, view, create, startedAtMs)
      if (growing === null) return { index: entry.index, isCounted: true }
      growing.step(view)
      const endedAtMs = nowMs()
      entry.spentMs += endedAtMs - startedAtMs
      if (growing.isComplete) Object.assign(entry, { index: growing, next: null, builtAtMs: endedAtMs })
      else if (entry.next === null && isEnough(growing)) return { index: growing, isCounted: false }
      else if (endedAtMs - askedAtMs > patienceMs) return { index: entry.index, isCounted: false }
      await setImmediate()
    }
  }

  /** The index of a run if it is complete and up to date, or what `load` finds; null if neither exists. */
  find(file: string, name: string, view: RunFamily, load: () => Index | null): Index | null {
    const known = this.#entries.get(toKey(file, name))?.index
    if (known?.isComplete === true && !known.isOutdated(view)) return known
    const index = load()
    if (index === null) return null
    Object.assign(
      this.#get(file, name, () => index),
      { index, next: null, builtAtMs: this.#limits.nowMs() },
    )
    return index
  }

  /** Forgets the indexes of a journal that is about to be deleted. */
  forget(file: string): void {
    for (const [key, entry] of this.#entries) if (entry.file === file) this.#entries.delete(key)
  }

  /** The index that must grow before a question can be answered; null if none has to. */
  #toGrowing(entry: Entry<Index>, view: RunFamily, create: Create<Index>, nowMs: number): Index | null {
    if (!entry.index.isComplete) return entry.index
    if (entry.next !== null) return entry.next
    if (!entry.index.isOutdated(view)) return null
    const restMs = Math.max(REFRESH_MS, entry.spentMs * REFRESH_SHARE)
    if (view.members.some(({ isHeld }) => isHeld) && nowMs - entry.builtAtMs < restMs) return null
    entry.spentMs = 0
    entry.next = create(entry.index)
    return entry.next
  }

  /**
   * Drops complete indexes first: several that grow in turn would never be complete if they replaced each
   * other. Abandoned ones go once there are twice as many as are kept.
   */
  #makeRoom(asked: string): void {
    for (const [key, { index }] of this.#entries) {
      if (this.#entries.size <= this.#limits.kept) return
      const isTooMany = this.#entries.size > this.#limits.kept * 2
      if (key !== asked && (index.isComplete || isTooMany)) this.#entries.delete(key)
    }
  }

  #get(file: string, name: string, create: Create<Index>): Entry<Index> {
    const key = toKey(file, name)
    const entry = this.#entries.get(key) ?? {
      file,
      index: create(null),
      next: null,
      spentMs: 0,
      builtAtMs: 0,
    }
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    this.#makeRoom(key)
    return entry
  }
}

function toKey(file: string, name: string): string {
  return JSON.stringify([file, name])
}
