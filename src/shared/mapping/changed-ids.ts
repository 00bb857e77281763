/** How a spreadsheet or a data frame changed an id so that the original is lost. */
export type LostId = 'rounded' | 'missing' | 'boolean' | 'date'

const FRACTION = /^(-?\d+)\.0+$/

/** Whether an id is a whole number with `.0` behind it, which a data frame adds to columns with gaps. */
export function hasFraction(id: string): boolean {
  return FRACTION.test(id)
}

/** An id without the `.0` that {@link hasFraction} finds. */
export function dropFraction(id: string): string {
  return id.replace(FRACTION, '$1')
}

// Without a sign or fraction, `12e3` may be a hash.
const SCIENTIFIC = /^[+-]?(?:\d+[.,]\d+e[+-]?\d+|\d+e[+-]\d+)$/i
/** More zeros than ids end in by chance, behind as many digits as a spreadsheet or a double keeps. */
const ROUNDED = /^[1-9]\d{10,}0{5,}$/
const MISSING = new Set([
  ...['nan', 'NaN', 'NAN', 'NA', '<NA>', 'N/A', 'NaT', 'None', 'null', 'NULL', 'Null', 'nil', 'undefined'],
  ...['#N/A', '#NA', '#REF!', '#VALUE!', '#NAME?', '#DIV/0!', '#NUM!', '#NULL!', '#SPILL!', '#CALC!'],
])
const LONGEST_MISSING = 9

/** What an id that stands alone was changed by, or null if it looks like one. */
export function findLostId(id: string): LostId | null {
  if (id.length <= LONGEST_MISSING) {
    if (MISSING.has(id)) return 'missing'
    if (id === 'TRUE' || id === 'FALSE') return 'boolean'
  }
  return SCIENTIFIC.test(id) || ROUNDED.test(id) ? 'rounded' : null
}

/** Digits that every double holds; what stands behind them may be rounded. */
const LONG = /^[1-9]\d{15,}$/
const NUMBER = /^\d+$/
const DATE =
  /^(?:\d{4}-\d\d-\d\d(?:[T ].*)?|\d{1,2}([./-])\d{1,2}\1\d{2,4}|\d{1,2}-[A-Z][a-z]{2}(?:-\d{2,4})?|[A-Z][a-z]{2}-\d{2,4})$/

/** Rounded long ids below which nothing is said of a column. */
const FEWEST_ROUNDED = 4
const ROUNDED_SHARE = 0.9

/** Finds what only the ids of a whole column show: that all long ones end in 0, and dates among numbers. */
export class IdColumn {
  #filled = 0
  #numbers = 0
  #long = 0
  #zeros = { rows: 0, first: '' }
  #dates = { rows: 0, first: '' }

  /** Takes in the id of a row. */
  note(id: string): void {
    if (id === '') return
    this.#filled += 1
    if (NUMBER.test(id)) {
      this.#numbers += 1
      if (!LONG.test(id)) return
      this.#long += 1
      // Those that are told row by row count for the share alone.
      if (id.endsWith('0')) note(this.#zeros, id)
    } else if (DATE.test(id)) note(this.#dates, id)
  }

  /** What was found, each with the number of rows and the first id. */
  list(): { as: LostId; rows: number; first: string }[] {
    const areRounded =
      this.#zeros.rows >= FEWEST_ROUNDED &&
      this.#zeros.rows >= this.#long * ROUNDED_SHARE &&
      !ROUNDED.test(this.#zeros.first)
    const areDates = this.#dates.rows > 0 && this.#numbers > this.#filled / 2
    return [
      ...(areRounded ? [{ as: 'rounded' as const, ...this.#zeros }] : []),
      ...(areDates ? [{ as: 'date' as const, ...this.#dates }] : []),
    ]
  }
}

function note(found: { rows: number; first: string }, id: string): void {
  found.rows += 1
  if (found.first === '') found.first = id
}
