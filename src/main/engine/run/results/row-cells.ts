/** Most different cells of a column that are kept apart, and most UTF-16 code units that they have together. */
const TEXTS_MAX = 60_000
const LENGTH_MAX = 1_000_000

/** So many rows have the same cell on average in a column that is worth keeping, unless it has few cells anyway. */
const ROWS_PER_TEXT = 10
const FEW_TEXTS = 1_000

/** The cell of each row in a column of the source: 2 bytes a row, since few different ones occur. */
export class RowCells {
  /** The number of each row's cell. */
  readonly of: Uint16Array
  /** Each cell that occurs, behind the empty one. */
  readonly texts: string[]
  #numberOf: Map<string, number> | null = null
  #length = 0

  /** Of rows below a length, or with the number of each row's cell among `texts`. */
  constructor(rows: number | Uint16Array, texts: string[] = ['']) {
    this.of = typeof rows === 'number' ? new Uint16Array(rows) : rows
    this.texts = texts
  }

  /** Whether every cell that was set could be kept; others are not to be relied on. */
  get isWhole(): boolean {
    return this.texts.length < TEXTS_MAX && this.#length < LENGTH_MAX
  }

  /** Whether few different cells occur in so many rows. */
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
