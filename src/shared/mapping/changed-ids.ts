/** How a spreadsheet or a data frame changed an id so that the original is lost, or has to be restored. */
export type LostId = 'rounded' | 'missing' | 'boolean' | 'date' | 'grouped' | 'wrapped' | 'shortened'

const FRACTION = /^(-?\d+)\.0+$/

/** Whether an id is a whole number with `.0` behind it, which a data frame adds to columns with gaps. */
export function hasFraction(id: string): boolean {
  return beginsAsNumber(id) && FRACTION.test(id)
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
  ...['#N/A', '#NA', '#NV', '#N/D', '#I/T', 'Loading...'],
])
/** What stands for no id, but may be what a person wrote. */
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
/** What a spreadsheet shows in a column that is too narrow. */
const TOO_NARROW = /^#{2,}$/
const LONGEST_MISSING = 15
/** An error of a spreadsheet in any language, such as `#REF!`, `#WERT!` or `#¿NOMBRE?`. */
const ERROR = /^#[¡¿]?\p{Lu}[\p{Lu}/0]*[!?]$/u
const TRUTH = new Set([
  ...['TRUE', 'FALSE', 'True', 'False', 'true', 'false'],
  // Those of spreadsheets in other languages.
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

/** What spreadsheets and exports for them write so that an id stays text: `="001"`, `'001`. */
const WRAPPED = /^(?:=".*"|'[+\d].*)$/s

/**
 * Whether an id surely is what it looks like and was changed by nothing, as most are: a letter, then signs of ASCII, then a
 * digit. Others may be, too.
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

/** What an id that stands alone was changed by, or null if it looks like one. */
export function findLostId(id: string): LostId | null {
  const first = id.charCodeAt(0)
  if ((first === 0x27 || first === 0x3d) && WRAPPED.test(id)) return 'wrapped'
  // Only numbers end in a digit, which most ids do.
  if (isDigit(id.charCodeAt(id.length - 1))) {
    return beginsAsNumber(id) && (SCIENTIFIC.test(id) || ROUNDED.test(id)) ? 'rounded' : null
  }
  if (isMissingValue(id) || PLACEHOLDERS.has(id)) return 'missing'
  return TRUTH.has(id) ? 'boolean' : null
}

/** Whether a text is what programs write in the place of a value that is missing, or an error of a spreadsheet. */
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

/** Digits that every double holds; what stands behind them may be rounded. */
const LONG = /^[1-9]\d{15,}$/
const NUMBER = /^\d+$/
const DATE =
  /^(?:\d{4}-\d\d-\d\d(?:[T ].*)?|\d{1,2}([./-])\d{1,2}\1\d{2,4}|\d{1,2}-[A-Z][a-z]{2}(?:-\d{2,4})?|[A-Z][a-z]{2}-\d{1,4})$/

/** Of `Mar-2024`; dates that begin with a digit may be longer. */
const LONGEST_NAMED_DATE = 8
/**
 * What is seldom meant as an id: days without a year, which spreadsheets make of `3-1` and the like, and whole days. Moments
 * may be meant.
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
/** A number as a spreadsheet shows it with separators of thousands, and perhaps with places that are 0. */
const GROUPED = /^[1-9]\d{0,2}(?:([,.'’\u00a0\u202f ])\d{3})(?:\1\d{3})*(?:(?!\1)[.,]0+)?$/
/** An amount of money or a share, as a spreadsheet shows it: `$1,234`, `5 €`, `12%`. */
const AMOUNT = /^(?:[$€£¥₹] ?\d[\d.,]*|\d[\d.,]*[ \u00a0]?[%€])$/

/** Digits that programs keep of a number: a spreadsheet, C as it prints a double, and JavaScript or Python. */
const KEPT_DIGITS = [15, 16, 17] as const
/**
 * The share of ids that end in one zero, at most: ids made of the time and a counter (snowflakes) are often a multiple of
 * a power of two, so that they end in 0 if 5 divides them.
 */
const ZERO_SHARE = 1 / 5
/** How often a column may be told as rounded whose ids end in zeros by chance. */
const CHANCE_MAX = 0.01
/** The share of long ids that are rounded, if any are: below it, chance decides in a column of many ids. */
const ROUNDED_SHARE = 0.1
const ZEROS = /0*$/

/**
 * Finds what only the ids of a whole column show: that long ones end in more zeros than by chance, dates among ids of
 * another kind, nothing but days or times, and that numbers have separators of thousands, a currency or `%`.
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

  /** `mayNameDays`: whether days with a year may be meant, as in what groups the posts of a day. */
  constructor(mayNameDays = false) {
    this.#mayNameDays = mayNameDays
  }

  /** Takes in the id of a row. One that is not sent shows what the column is like, and is not counted. */
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
      // Those that are told row by row count for the share alone.
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

  /** What was found, each with the number of rows to tell and the first of them. */
  list(): ToldIds[] {
    const rounded = this.#long.flatMap((long) => (long.areRounded() ? long.rounded.tell('rounded') : []))
    const most = rounded.toSorted((a, b) => b.rows - a.rows)[0]
    const { all } = this.#dates
    const areDates = all > 0 && (all < this.#filled / 2 || this.#days * 2 >= all)
    // Beside 1234, 1.234 may be another id.
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

/** What the ids of a column are told as: in how many rows, and the first of them. */
interface ToldIds {
  as: LostId
  rows: number
  first: { row: number; id: string }
}

/** Ids of one form in a column: all of them, and those that are told. */
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

/** Ids of more digits than a program keeps, and those of them that it may have rounded, which are zeros behind the kept ones. */
class LongIds {
  readonly rounded = new FoundIds()
  readonly #kept: number
  #all = 0
  /** How many are rounded if it is chance that they end in zeros. */
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

  /** Whether chance seldom makes that many of them end in zeros, by the bound of Chernoff and Hoeffding. */
  areRounded(): boolean {
    const share = this.rounded.all / this.#all
    const chance = this.#expected / this.#all
    if (!(share > chance) || share < ROUNDED_SHARE) return false
    const others = share === 1 ? 0 : (1 - share) * Math.log((1 - share) / (1 - chance))
    return Math.exp(-this.#all * (share * Math.log(share / chance) + others)) <= CHANCE_MAX
  }
}
