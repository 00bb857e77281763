import type { SourceRow } from '../source-reader.ts'

/** The columns of several tables, each name once, in the order in which the tables have them. */
export class ColumnUnion {
  readonly #indexes = new Map<string, number>()
  readonly #names: string[] = []
  readonly #header: string[] = []
  #hasHeader = false

  /** A name for each column. */
  get names(): readonly string[] {
    return this.#names
  }

  /** Names as the tables have them; null if none names any. */
  get header(): readonly string[] | null {
    return this.#hasHeader ? this.#header : null
  }

  /** Adds the columns of a table that no other had. */
  add(columns: readonly string[], header: readonly string[] | null): void {
    if (header !== null) this.#hasHeader = true
    for (const [index, name] of columns.entries()) {
      if (this.#indexes.has(name)) continue
      this.#indexes.set(name, this.#names.length)
      this.#names.push(name)
      this.#header.push(header?.[index] ?? name)
    }
  }

  /** A function that puts the cells of a table's row below the columns of all; those that it lacks are empty. */
  createMove(columns: readonly string[], header: readonly string[] | null): (row: SourceRow) => SourceRow {
    this.add(columns, header)
    const places = columns.map((name) => this.#indexes.get(name) ?? 0)
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
      return { ...row, cells: moved, ...(kinds !== undefined && { kinds: movedKinds.join('') }) }
    }
  }
}
