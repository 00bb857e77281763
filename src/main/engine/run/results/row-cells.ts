/** Most distinct cells of a column that are kept, and most UTF-16 code units of them together. */
const TEXTS_MAX = 60_000
const LENGTH_MAX = 1_000_000

/** Least average number of rows per cell in a column worth keeping, unless it has few distinct cells. */
const ROWS_PER_TEXT = 10
const FEW_TEXTS = 1_000

/** The cell of each row in a source column: 2 bytes a row, since there are few distinct ones. */
export class RowCells {
  /** The number of each row's cell. */
  readonly of: Uint16Array
  /** Each distinct cell, after the empty one. */
  readonly texts: string[]
  #numberOf: Map<string, number> | null = null
  #length = 0

  /** Takes a number of rows, or the number of each row's cell among `texts`. */
  constructor(rows: number | Uint16Array, texts: string[] = ['']) {
    this.of = typeof rows === 'number' ? new Uint16Array(rows) : rows
    this.texts = texts
  }

  /** Whether every cell could be kept; if not, do not rely on them. */
  get isWhole(): boolean {
    return this.texts.length < TEXTS_MAX && this.#length < LENGTH_MAX
  }

  /** Whether this many rows have few distinct cells. */
  isWorthKeeping(rows: number): boolean {
    return this.texts.length <= Math.max(FEW_TEXTS, rows / ROWS_PER_TEXT)
  }

  at(row: number): string {
    return this.texts[this.of[row] ?? 0] ?? ''
  }

  set(row: number, text: string): void {
    this.#numberOf ??= new Map(this.texts.map((known, number) => [known, number]))
    const known = this.#numberOf.get(text)
    if (known !== undefined) this.of[row] = known
    else if (this.isWhole) {
      this.#length += text.length
      this.of[row] = this.texts.push(text) - 1
      this.#numberOf.set(text, this.of[row])
    }
  }
}
