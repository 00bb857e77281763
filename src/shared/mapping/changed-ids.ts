/** How a spreadsheet or a data frame changed an id, so that the original is lost or must be restored. */
export type LostId = 'rounded' | 'missing' | 'boolean' | 'date' | 'grouped' | 'wrapped' | 'shortened'

const FRACTION = /^(-?\d+)\.0+$/

/** Whether an id is a whole number followed by `.0`, which a data frame adds in columns with gaps. */
export function hasFraction(id: string): boolean {
  return beginsAsNumber(id) && FRACTION.test(id)
}

/** An id without the `.0` that {@link hasFraction} finds. */
export function dropFraction(id: string): string {
  return id.replace(FRACTION, '$1')
}

// Without a sign or fraction, `12e3` may be a hash.
const SCIENTIFIC = /^[+-]?(?:\d+[.,]\d+e[+-]?\d+|\d+e[+-]\d+)$/i
/** More zeros than ids end in by chance, after as many digits as a spreadsheet or a double keeps. */
const ROUNDED = /^[1-9]\d{10,}0{5,}$/
const MISSING = new Set([
  ...['nan', 'NaN', 'NAN', '-nan', '-NaN', 'NA', '<NA>', 'N/A', 'n/a', 'NaT', 'None', 'nil', 'undefined'],
  ...['null', 'NULL', 'Null', '(null)', '(NULL)', '<null>', '\\N'],
  // Those of spreadsheets in other languages, without a sign at the end.
  ...['#N/A', '#NA', '#NV', '#N/D', '#I/T', 'Loading...'],
])
/** Placeholders for a missing id, which a person may also have meant. */
const PLACEHOLDERS = new Set([
  ...[
    '-',
    '--',
    '---',
    '?',
    '(blank)',
    '(empty)',
    '(none)',
    '(leer)',
    '(vide)',
    'unknown',
    'Unknown',
    'UNKNOWN',
  ],
  ...[
    '[deleted]',
    '[removed]',
    '[object Object]',
    '-1.#IND',
    '1.#QNAN',
    '#DIV/0',
    '—',
    '(not set)',
    'Infinity',
  ],
])
/** What a spreadsheet shows if a column is too narrow. */
const TOO_NARROW = /^#{2,}$/
const LONGEST_MISSING = 15
/** An error of a spreadsheet in any language, such as `#REF!`, `#WERT!` or `#¿NOMBRE?`. */
const ERROR = /^#[¡¿]?\p{Lu}[\p{Lu}/0]*[!?]$/u
const TRUTH = new Set([
  ...['TRUE', 'FALSE', 'True', 'False', 'true', 'false'],
  // In spreadsheets of other languages.
  ...[
    'WAHR',
    'FALSCH',
    'VRAI',
    'FAUX',
    'VERO',
    'FALSO',
    'VERDADERO',
    'VERDADEIRO',
    'WAAR',
    'ONWAAR',
    'PRAWDA',
  ],
  ...['ИСТИНА', 'ЛОЖЬ'],
])

/** What spreadsheets and exports for them write to keep an id as text: `="001"`, `'001`. */
const WRAPPED = /^(?:=".*"|'[+\d].*)$/s

/**
 * Quick check for an id that certainly was not changed, as most are: a letter, then ASCII characters, then a
 * digit. Other ids may be unchanged too.
 */
export function isOrdinaryId(id: string): boolean {
  const last = id.length - 1
  if (!isLetter(id.charCodeAt(0)) || !isDigit(id.charCodeAt(last))) return false
  for (let at = 1; at < last; at += 1) {
    const code = id.charCodeAt(at)
    if (code < 0x21 || code > 0x7e) return false
  }
  return true
}

/** What changed an id, judged on its own, or null if it looks unchanged. */
export function findLostId(id: string): LostId | null {
  const first = id.charCodeAt(0)
  if ((first === 0x27 || first === 0x3d) && WRAPPED.test(id)) return 'wrapped'
  // Most ids end in a digit, and of the changed ones only numbers do.
  if (isDigit(id.charCodeAt(id.length - 1))) {
    return beginsAsNumber(id) && (SCIENTIFIC.test(id) || ROUNDED.test(id)) ? 'rounded' : null
  }
  if (isMissingValue(id) || PLACEHOLDERS.has(id)) return 'missing'
  return TRUTH.has(id) ? 'boolean' : null
}

/** Whether a text is a program's placeholder for a missing value, or an error of a spreadsheet. */
export function isMissingValue(text: string): boolean {
  return text.length <= LONGEST_MISSING && (MISSING.has(text) || ERROR.test(text) || TOO_NARROW.test(text))
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39
}

function isLetter(code: number): boolean {
  return isCapital(code & ~0x20)
}

function isCapital(code: number): boolean {
  return code >= 0x41 && code <= 0x5a
}

function beginsAsNumber(id: string): boolean {
  const first = id.charCodeAt(0)
  return isDigit(first) || first === 0x2b || first === 0x2d
}

/** More digits than every double holds: the further ones may be rounded. */
const LONG = /^[1-9]\d{15,}$/
const NUMBER = /^\d+$/
const DATE =
  /^(?:\d{4}-\d\d-\d\d(?:[T ].*)?|\d{1,2}([./-])\d{1,2}\1\d{2,4}|\d{1,2}-[A-Z][a-z]{2}(?:-\d{2,4})?|[A-Z][a-z]{2}-\d{1,4})$/

/** As in `Mar-2024`; dates that begin with a digit may be longer. */
const LONGEST_NAMED_DATE = 8
/**
 * Forms that are seldom meant as an id: days without a year, which spreadsheets make of `3-1` and the like,
 * and whole days. Moments may be meant as ids.
 */
const DAY = new RegExp(
  [
    String.raw`^(?:\d{1,2}-[A-Z][a-z]{2}(?:-\d{2,4})?|[A-Z][a-z]{2}-\d{2,4}`,
    String.raw`|(?:(?:19|20)\d\d([-/.])[01]?\d\1[0-3]?\d|[0-3]?\d([-/.])[0-3]?\d\2(?:19|20)\d\d|[0-3]?\d\/[0-3]?\d\/\d\d)`,
    String.raw`(?:[T ]00?:00(?::00)?(?:\.0+)?Z?)?)$`,
  ].join(''),
)
const TIME = /^\d{1,2}:[0-5]\d(?::[0-5]\d)?(?: ?[AaPp][Mm])?$/
const DAY_WITHOUT_YEAR = /^(?:\d{1,2}-[A-Z][a-z]{2}|[A-Z][a-z]{2}-\d{2})$/
const SHORT = /^\d{1,3}$/
/** A number as shown by a spreadsheet, with thousands separators and perhaps zero decimals. */
const GROUPED = /^[1-9]\d{0,2}(?:([,.'’\u00a0\u202f ])\d{3})(?:\1\d{3})*(?:(?!\1)[.,]0+)?$/
/** An amount of money or a share as shown by a spreadsheet: `$1,234`, `5 €`, `12%`. */
const AMOUNT = /^(?:[$€£¥₹] ?\d[\d.,]*|\d[\d.,]*[ \u00a0]?[%€])$/

/** Digits of a number that programs keep: a spreadsheet, C's printed doubles, and JavaScript or Python. */
const KEPT_DIGITS = [15, 16, 17] as const
/**
 * Highest share of ids that end in one zero: ids made from the time and a counter (snowflakes) are often
 * multiples of a power of two, and end in 0 if 5 divides them.
 */
const ZERO_SHARE = 1 / 5
/** Highest probability of reporting a column as rounded whose ids end in zeros by chance. */
const CHANCE_MAX = 0.01
/** Least share of long ids that are rounded, if any are: with less, many ids end in zeros by chance. */
const ROUNDED_SHARE = 0.1
const ZEROS = /0*$/

/**
 * Finds what shows only in a whole column of ids: long ids that end in zeros too often for chance, dates
 * among other ids, nothing but days or times, and numbers with thousands separators, a currency or `%`.
 */
export class IdColumn {
  #filled = 0
  /** Whole numbers of up to three digits, and longer ones. */
  #short = 0
  #plain = 0
  readonly #long = KEPT_DIGITS.map((digits) => new LongIds(digits))
  readonly #dates = new FoundIds()
  readonly #mayNameDays: boolean
  #days = 0
  readonly #times = new FoundIds()
  readonly #grouped = new FoundIds()
  #hasDots = false

  /** `mayNameDays`: whether ids may be days with a year, as for a field that groups a day's posts. */
  constructor(mayNameDays = false) {
    this.#mayNameDays = mayNameDays
  }

  /** Adds a row's id. The id of an unsent row shows what the column is like, but is not counted. */
  note(id: string, row = 1, isSent = true): void {
    if (id === '') return
    this.#filled += 1
    const first = id.charCodeAt(0)
    if (!isDigit(first)) {
      if (isCapital(first) && id.length <= LONGEST_NAMED_DATE && DATE.test(id)) {
        this.#noteDate(id, row, isSent)
      } else if (AMOUNT.test(id)) this.#grouped.note(id, row, isSent)
    } else if (NUMBER.test(id)) {
      if (SHORT.test(id)) this.#short += 1
      else this.#plain += 1
      if (!LONG.test(id)) return
      // Ids that are reported row by row only count for the share.
      const isTold = isSent && findLostId(id) === null
      for (const long of this.#long) long.note(id, row, isTold)
    } else if (DATE.test(id) || DAY.test(id)) this.#noteDate(id, row, isSent)
    else if (TIME.test(id)) this.#times.note(id, row, isSent)
    else if (GROUPED.test(id)) {
      this.#grouped.note(id, row, isSent)
      this.#hasDots ||= /^\d+\./.test(id)
    } else if (AMOUNT.test(id)) this.#grouped.note(id, row, isSent)
  }

  #noteDate(id: string, row: number, isSent: boolean): void {
    this.#dates.note(id, row, isSent)
    if ((this.#mayNameDays ? DAY_WITHOUT_YEAR : DAY).test(id)) this.#days += 1
  }

  /** What was found, each with the number of rows to report and the first of them. */
  list(): ToldIds[] {
    const rounded = this.#long.flatMap((long) => (long.areRounded() ? long.rounded.tell('rounded') : []))
    const most = rounded.toSorted((a, b) => b.rows - a.rows)[0]
    const { all } = this.#dates
    const areDates = all > 0 && (all < this.#filled / 2 || this.#days * 2 >= all)
    // If there is 1234, then 1.234 may be another id.
    const numbers = this.#short + (this.#hasDots ? 0 : this.#plain)
    const areGrouped = this.#grouped.all > 0 && this.#grouped.all + numbers === this.#filled
    return [
      ...(most === undefined ? [] : [most]),
      ...(areDates ? this.#dates.tell('date') : []),
      ...(this.#times.all === this.#filled ? this.#times.tell('date') : []),
      ...(areGrouped ? this.#grouped.tell('grouped') : []),
    ]
  }
}

/** What ids of a column are reported as, on how many rows, and the first of these. */
interface ToldIds {
  as: LostId
  rows: number
  first: { row: number; id: string }
}

/** Ids of one form in a column: all of them, and those to report. */
class FoundIds {
  all = 0
  #told = 0
  #first = { row: 0, id: '' }

  note(id: string, row: number, isTold: boolean): void {
    this.all += 1
    if (!isTold) return
    if (this.#told === 0) this.#first = { row, id }
    this.#told += 1
  }

  tell(as: LostId): ToldIds[] {
    return this.#told === 0 ? [] : [{ as, rows: this.#told, first: this.#first }]
  }
}

/** Ids with more digits than a program keeps, and those that it may have rounded to trailing zeros. */
class LongIds {
  readonly rounded = new FoundIds()
  readonly #kept: number
  #all = 0
  /** Expected number of ids that end in zeros by chance. */
  #expected = 0

  constructor(kept: number) {
    this.#kept = kept
  }

  note(id: string, row: number, isTold: boolean): void {
    const behind = id.length - this.#kept
    if (behind <= 0) return
    this.#all += 1
    this.#expected += ZERO_SHARE ** behind
    if ((ZEROS.exec(id)?.[0].length ?? 0) >= behind) this.rounded.note(id, row, isTold)
  }

  /** Whether chance rarely makes so many of them end in zeros, by the Chernoff–Hoeffding bound. */
  areRounded(): boolean {
    const share = this.rounded.all / this.#all
    const chance = this.#expected / this.#all
    if (!(share > chance) || share < ROUNDED_SHARE) return false
    const others = share === 1 ? 0 : (1 - share) * Math.log((1 - share) / (1 - chance))
    return Math.exp(-this.#all * (share * Math.log(share / chance) + others)) <= CHANCE_MAX
  }
}
