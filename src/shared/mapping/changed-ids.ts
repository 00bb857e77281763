/** How a spreadsheet or a data frame changed an id so that the original is lost, or has to be restored. */
export type LostId = 'rounded' | 'missing' | 'boolean' | 'date' | 'grouped'

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
  ...['nan', 'NaN', 'NAN', '-nan', '-NaN', 'NA', '<NA>', 'N/A', 'n/a', 'NaT', 'None', 'nil', 'undefined'],
  ...['null', 'NULL', 'Null', '(null)', '(NULL)', '<null>', '\\N'],
  // Those of spreadsheets in other languages without a mark at their end.
  ...['#N/A', '#NA', '#NV', '#N/D', '#I/T'],
])
const LONGEST_MISSING = 10
/** An error of a spreadsheet in any language, such as `#REF!`, `#WERT!` or `#¿NOMBRE?`. */
const ERROR = /^#[¡¿]?\p{Lu}[\p{Lu}/0]*[!?]$/u
const TRUTH = new Set(['TRUE', 'FALSE', 'True', 'False', 'true', 'false'])

/** What an id that stands alone was changed by, or null if it looks like one. */
export function findLostId(id: string): LostId | null {
  if (id.length <= LONGEST_MISSING) {
    if (MISSING.has(id) || ERROR.test(id)) return 'missing'
    if (TRUTH.has(id)) return 'boolean'
  }
  return SCIENTIFIC.test(id) || ROUNDED.test(id) ? 'rounded' : null
}

/** Digits that every double holds; what stands behind them may be rounded. */
const LONG = /^[1-9]\d{15,}$/
const NUMBER = /^\d+$/
const DATE =
  /^(?:\d{4}-\d\d-\d\d(?:[T ].*)?|\d{1,2}([./-])\d{1,2}\1\d{2,4}|\d{1,2}-[A-Z][a-z]{2}(?:-\d{2,4})?|[A-Z][a-z]{2}-\d{1,4})$/

const SHORT = /^\d{1,3}$/
/** A number as a spreadsheet shows it with separators of thousands. */
const GROUPED = /^[1-9]\d{0,2}(?:([,.'’\u00a0\u202f ])\d{3})(?:\1\d{3})*$/

/** Rounded long ids below which nothing is said of a column. */
const FEWEST_ROUNDED = 4
const ROUNDED_SHARE = 0.9

/**
 * Finds what only the ids of a whole column show: that all long ones end in 0, dates among ids of another kind, and
 * that all numbers of more than three digits have separators.
 */
export class IdColumn {
  #filled = 0
  #short = 0
  #long = 0
  #zeros = { rows: 0, first: '' }
  #dates = { rows: 0, first: '' }
  #grouped = { rows: 0, first: '' }

  /** Takes in the id of a row. */
  note(id: string): void {
    if (id === '') return
    this.#filled += 1
    if (NUMBER.test(id)) {
      if (SHORT.test(id)) this.#short += 1
      if (!LONG.test(id)) return
      this.#long += 1
      // Those that are told row by row count for the share alone.
      if (id.endsWith('0')) note(this.#zeros, id)
    } else if (DATE.test(id)) note(this.#dates, id)
    else if (GROUPED.test(id)) note(this.#grouped, id)
  }

  /** What was found, each with the number of rows and the first id. */
  list(): { as: LostId; rows: number; first: string }[] {
    const areRounded =
      this.#zeros.rows >= FEWEST_ROUNDED &&
      this.#zeros.rows >= this.#long * ROUNDED_SHARE &&
      !ROUNDED.test(this.#zeros.first)
    const areDates = this.#dates.rows > 0 && this.#dates.rows < this.#filled / 2
    const areGrouped = this.#grouped.rows > 0 && this.#grouped.rows + this.#short === this.#filled
    return [
      ...(areRounded ? [{ as: 'rounded' as const, ...this.#zeros }] : []),
      ...(areDates ? [{ as: 'date' as const, ...this.#dates }] : []),
      ...(areGrouped ? [{ as: 'grouped' as const, ...this.#grouped }] : []),
    ]
  }
}

function note(found: { rows: number; first: string }, id: string): void {
  found.rows += 1
  if (found.first === '') found.first = id
}
