import { trimId } from '../../../../shared/mapping/id-text.ts'
import type { FoundProblem } from '../../../../shared/messages/problem-messages.ts'
import type { SourceRow } from '../source-reader.ts'

/** The columns of several tables, each name once, in the tables' order. */
export class ColumnUnion {
  readonly #indexes = new Map<string, number>()
  /** Places of names in the form of {@link toAlike}; null for several. */
  readonly #alike = new Map<string, number | null>()
  readonly #names: string[] = []
  readonly #header: string[] = []
  #hasHeader = false

  get names(): readonly string[] {
    return this.#names
  }

  /** Names as in the tables; null if none names any. */
  get header(): readonly string[] | null {
    return this.#hasHeader ? this.#header : null
  }

  /** Adds the columns of a table that no other had; only the first `own` are not derived from others. */
  add(columns: readonly string[], header: readonly string[] | null, own = columns.length): void {
    if (header !== null) this.#hasHeader = true
    const known = this.#findPlaces(columns, own)
    for (const [index, name] of columns.entries()) {
      if (known[index] !== null) continue
      if (index < own) {
        const alike = toAlike(name)
        this.#alike.set(alike, this.#alike.has(alike) ? null : this.#names.length)
      }
      this.#indexes.set(name, this.#names.length)
      this.#names.push(name)
      this.#header.push(header?.[index] ?? name)
    }
  }

  hasAny(columns: readonly string[], own: number): boolean {
    return this.#findPlaces(columns, own).some((place) => place !== null)
  }

  /** The names of a table's columns here. */
  listNames(columns: readonly string[], own: number): string[] {
    return this.#findPlaces(columns, own).flatMap((place) => this.#names[place ?? -1] ?? [])
  }

  /**
   * The place of each column of a table, null for a new one: that of its name, or of the one name that
   * differs only in case and separators, if no other column of the table does.
   */
  #findPlaces(columns: readonly string[], own: number): (number | null)[] {
    const alike = columns.slice(0, own).map(toAlike)
    const exact = columns.map((name) => this.#indexes.get(name) ?? null)
    return exact.map((place, index) => {
      const name = alike[index]
      if (place !== null || name === undefined || name === '') return place
      const isOnly = alike.indexOf(name) === index && alike.lastIndexOf(name) === index
      const found = isOnly ? (this.#alike.get(name) ?? null) : null
      return found === null || exact.includes(found) ? null : found
    })
  }

  /** Creates a function that moves a row's cells to the common columns; missing ones are empty. */
  createMove(
    columns: readonly string[],
    header: readonly string[] | null,
    own: number,
  ): (row: SourceRow) => SourceRow {
    this.add(columns, header, own)
    const places = this.#findPlaces(columns, own).map((place) => place ?? 0)
    if (places.every((place, index) => place === index)) return (row) => row
    return (row) => {
      const { cells, kinds } = row
      const width = cells.reduce((most, _, index) => Math.max(most, (places[index] ?? 0) + 1), 0)
      const moved = Array<string>(width).fill('')
      const movedKinds = Array<string>(width).fill('-')
      for (const [index, cell] of cells.entries()) {
        const place = places[index] ?? 0
        moved[place] = cell
        movedKinds[place] = kinds?.[index] ?? '-'
      }
      const problems = row.problems.map((problem) => moveProblem(problem, places))
      return { ...row, cells: moved, problems, ...(kinds !== undefined && { kinds: movedKinds.join('') }) }
    }
  }
}

/** A problem that names cells of a row, with their new places. */
function moveProblem(problem: FoundProblem, places: readonly number[]): FoundProblem {
  if (problem.code !== 'surplus_cells' || problem.details === undefined) return problem
  return { ...problem, details: { places: problem.details.places.map((place) => places[place] ?? 0) } }
}

/** A name without case and invisible characters, with one separator. Dots stay: `v1.2` is not `v12`. */
function toAlike(name: string): string {
  return trimId(name)
    .normalize('NFC')
    .toLowerCase()
    .replace(/[\s_-]+/g, '_')
}
