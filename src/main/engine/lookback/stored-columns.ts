import { hasFurtherClasses, readScoreClasses } from '../journal/found-reader.ts'
import type { RunView } from '../journal/run-family.ts'
import { readFindings } from '../run/results/findings-file.ts'
import { type FoundColumns, MARKS, readFingerprint } from '../run/results/journal-findings.ts'
import type { RowCells } from '../run/results/row-cells.ts'
import type { RowScores } from '../run/results/row-values.ts'
import { JournalColumns } from './journal-columns.ts'
import type { StretchColumns } from './stretch-columns.ts'

/** Columns stored next to a journal, limited to the requested ones. */
interface StoredPart extends Pick<FoundColumns, 'marks' | 'kinds'> {
  /** Columns and classes that are not stored have no entry. */
  cells: ReadonlyMap<number, RowCells>
  scores: ReadonlyMap<string, RowScores>
  /** Frees its columns, which are then empty. */
  release: () => void
}

/** What to read of each row: the cells of columns, and the scores of certain classes or of all. */
export interface WantedColumns {
  columns: readonly number[]
  classes: readonly string[] | 'all'
}

/** Reads what is stored next to a journal; null if nothing is, or not of all rows. */
export function loadColumns(view: RunView, { columns, classes }: WantedColumns): StoredPart | null {
  return readFindings(view, readFingerprint(view), (findings) => {
    const kinds = findings.readKinds()
    if (!kinds.isWhole) return null
    const cells = columns.map((column) => [column, findings.readCells(column)] as const)
    const wanted = classes === 'all' ? findings.classes : classes
    const scores = wanted.map((className) => [className, findings.readScores(className)] as const)
    return {
      marks: findings.readMarks(),
      kinds,
      release: () => findings.release(),
      cells: new Map(cells.flatMap(([column, own]) => (own === null ? [] : [[column, own]]))),
      scores: new Map(scores.flatMap(([className, own]) => (own === null ? [] : [[className, own]]))),
    }
  })
}

/** A stretch of rows, read from what is stored next to the journal, and else from the journal. */
export class StoredColumns implements StretchColumns {
  readonly has: Uint8Array
  readonly answered: Uint8Array
  readonly sets: Uint16Array
  readonly #view: RunView
  readonly #stored: StoredPart
  readonly #above: number
  readonly #width: number
  #journal: JournalColumns | null = null

  /** Of `width` rows after the number `above`. */
  constructor(view: RunView, found: StoredPart, above: number, width: number) {
    this.#view = view
    this.#stored = found
    this.#above = above
    this.#width = width
    this.has = this.#readMark(MARKS.row)
    this.answered = this.#readMark(MARKS.answered)
    this.sets = found.kinds.of.subarray(above + 1, above + 1 + width)
  }

  get outcomeStated(): Uint8Array {
    const { kinds } = this.#found.kinds
    return Uint8Array.from(this.sets, (kind) => (kinds[kind - 1]?.answer == null ? 0 : 1))
  }

  get cached(): Uint8Array {
    return this.#readMark(MARKS.cached)
  }

  ruleIdsOf(set: number): readonly string[] {
    return this.#found.kinds.kinds[set - 1]?.rules ?? []
  }

  names(kind: 'language' | 'model'): readonly string[] {
    return this.#readJournal().names(kind)
  }

  scores(classes: readonly string[]): readonly Float64Array[] {
    const stored = classes.map((className) => this.#found.scores.get(className))
    if (stored.includes(undefined)) return this.#readJournal().scores(classes)
    return stored.map((scores) => this.#toNumbers((row) => scores?.at(row) ?? Number.NaN))
  }

  get highestScores(): Float64Array {
    const all = [...this.#found.scores.values()]
    const isEach = !hasFurtherClasses(this.#view.db) && readScoreClasses(this.#view.db).length === all.length
    if (!isEach) return this.#readJournal().highestScores
    return this.#toNumbers((row) => {
      let highest = Number.NaN
      for (const scores of all) {
        const score = scores.at(row)
        if (score > highest || Number.isNaN(highest)) highest = score
      }
      return highest
    })
  }

  cells(columns: readonly number[]): readonly (readonly string[])[] {
    const others = columns.filter((column) => !this.#found.cells.has(column))
    const read = others.length === 0 ? [] : this.#readJournal().cells(others)
    return columns.map((column) => {
      const stored = this.#found.cells.get(column)
      if (stored === undefined) return read[others.indexOf(column)] ?? []
      return Array.from({ length: this.#width }, (_, place) => stored.at(this.#above + place + 1))
    })
  }

  /** Throws after release, so that no row is taken for one without scores, answers or cells. */
  get #found(): StoredPart {
    if (this.#stored.marks.length === 0) throw new Error('these columns were released')
    return this.#stored
  }

  #readJournal(): JournalColumns {
    this.#journal ??= new JournalColumns(this.#view, this.#above, this.#width)
    return this.#journal
  }

  #readMark(mark: number): Uint8Array {
    const { marks } = this.#found
    const marked = new Uint8Array(this.#width)
    for (let place = 0; place < marked.length; place += 1) {
      marked[place] = ((marks[this.#above + place + 1] ?? 0) & mark) === 0 ? 0 : 1
    }
    return marked
  }

  #toNumbers(read: (row: number) => number): Float64Array {
    const numbers = new Float64Array(this.#width)
    for (let place = 0; place < numbers.length; place += 1) numbers[place] = read(this.#above + place + 1)
    return numbers
  }
}
