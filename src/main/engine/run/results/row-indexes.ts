import type { RowFilter } from '../../../../shared/run/row-filters.ts'
import type { RunFamily } from '../../journal/run-family.ts'
import { KeptIndexes } from './kept-indexes.ts'
import type { RowFindings } from './row-findings.ts'
import { RowIndex, readJudgedFor } from './row-search.ts'

/** Most indexes kept; for 1,000,000 rows each takes 8 MB. */
const INDEXES_MAX = 4

/** How long a question waits for an index, milliseconds. */
const PATIENCE_MS = 50

/** The indexes behind searches and combined filters. */
export class RowIndexes {
  readonly #kept: KeptIndexes<RowIndex>
  readonly #found = new WeakMap<RowFindings, { key: string; index: RowIndex }>()
  /** Lists of rows to which questions were limited, each with its own number. */
  readonly #lists = new WeakMap<Uint32Array, number>()
  #lastList = 0

  /** `nowMs` is a clock in milliseconds, with any origin. */
  constructor(nowMs: () => number = () => performance.now()) {
    this.#kept = new KeptIndexes({ kept: INDEXES_MAX, patienceMs: PATIENCE_MS, nowMs })
  }

  /**
   * The index of a run's rows that contain the filter's search, see {@link KeptIndexes.ask}; more than `rows`
   * matches are not needed. `among` are the rows of the filter's cell, ascending: the same array until they
   * change.
   */
  ask(
    file: string,
    filter: RowFilter,
    { rows, openView, among = null }: { rows: number; openView: () => RunFamily; among?: Uint32Array | null },
  ): Promise<{ index: RowIndex; isCounted: boolean }> {
    const { search = '' } = filter
    const judged = readJudgedFor(openView(), filter)
    return this.#kept.ask(file, JSON.stringify([search, this.#number(among)]), {
      create: () => new RowIndex(search, among),
      isEnough: (index) => index.count(filter, judged) >= rows,
      openView,
    })
  }

  /** The index of the rows that findings know, or of those `among` them: the same until something changes. */
  ofFindings(family: RunFamily, findings: RowFindings, among: Uint32Array | null): RowIndex {
    const key = JSON.stringify([this.#number(among), family.members.map(({ isCutOff }) => isCutOff)])
    const known = this.#found.get(findings)
    if (known?.key === key) return known.index
    const index = RowIndex.ofFindings(family, findings, among)
    if (findings.isComplete) this.#found.set(findings, { key, index })
    return index
  }

  /** Forgets the indexes of a journal that is about to be deleted. */
  forget(file: string): void {
    this.#kept.forget(file)
  }

  #number(list: Uint32Array | null): number {
    if (list === null) return 0
    const number = this.#lists.get(list) ?? this.#lastList + 1
    this.#lists.set(list, number)
    this.#lastList = Math.max(this.#lastList, number)
    return number
  }
}
