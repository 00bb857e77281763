import { format, isDateFormat, isValidFormat } from 'numfmt'

export interface NumberFormat {
  /** Turns a stored number into the text that a person sees. */
  toText(literal: string): string
  /** Whether numbers are dates and times, which are shown in other digits. */
  isDate: boolean
}

/** Dates outside a spreadsheet's calendar are shown as numbers. */
const OPTIONS = { locale: 'en-US', dateSpanLarge: false }

/** Days from 1 January 1900 to 1 January 1904, the first day of some workbooks. */
const DAYS_TO_1904 = 1462

const ELAPSED = /\[(?:h+|m+|s+)\]/i
/** The language of a currency: `[$€-413]`. Applies to the symbol; numbers keep the program's separators. */
const LANGUAGE = /(\[\$[^\]-]*)-[\dA-Fa-f]{1,4}\]/g
const PLAIN_INTEGER = /^-?(?:0|[1-9]\d*)$/
const ONLY_ZEROS = /^0+$/

/**
 * Parses a format code. Without one (General) a number is shown completely, with up to 15 digits like in the
 * formula bar, not cut to the width of a column. Digits of a whole number are never lost, even if a
 * spreadsheet would show zeros instead; nor is a number that its format shows as nothing.
 */
export function createNumberFormat(code: string, is1904: boolean): NumberFormat {
  if (isGeneral(code) || !isValidFormat(code)) return { toText: toGeneralText, isDate: false }
  const isDate = isDateFormat(code)
  const shown = isDate ? code : code.replaceAll(LANGUAGE, '$1]')
  const offset = is1904 && isDate && !ELAPSED.test(code) ? DAYS_TO_1904 : 0
  const zeros = ONLY_ZEROS.test(code) ? code.length : 0
  const toText = (literal: string) => {
    if (zeros > 0 && PLAIN_INTEGER.test(literal)) return padZeros(toGeneralText(literal), zeros)
    const number = Number(literal)
    if (literal === '' || !Number.isFinite(number)) return literal
    // Space for brackets, and padding, is not part of the text.
    const text = format(shown, number + offset, OPTIONS).trim()
    return text === '' ? toGeneralText(literal) : text
  }
  return { toText, isDate }
}

/** Whether some digits of a number are not shown, so that others may look the same. */
export function losesDigits(literal: string, shown: string): boolean {
  const digits = toDigits(toGeneralText(literal).replace(EXPONENT, ''))
  return !toDigits(shown).includes(digits)
}

/** Whether a number is shown with thousands separators, which formats write as in American English. */
export function hasThousands(shown: string): boolean {
  return /\d,\d{3}/.test(shown)
}

const EXPONENT = /E[+-]\d+$/

/** The digits of a number, without leading and trailing zeros. */
function toDigits(number: string): string {
  return number.replaceAll(/\D/g, '').replaceAll(/^0+|0+$/g, '')
}

/** Whether a number has more digits before the point than a spreadsheet keeps. */
export function isBeyondPrecision(literal: string): boolean {
  return Math.abs(Number(literal)) >= 1e15
}

function isGeneral(code: string): boolean {
  return code === '' || code === '@' || code.toLowerCase() === 'general'
}

function padZeros(literal: string, digits: number): string {
  return literal.startsWith('-')
    ? `-${literal.slice(1).padStart(digits, '0')}`
    : literal.padStart(digits, '0')
}

function toGeneralText(literal: string): string {
  if (PLAIN_INTEGER.test(literal)) return literal === '-0' ? '0' : literal
  const number = Number(literal)
  if (literal === '' || !Number.isFinite(number)) return literal
  const text = String(Number(number.toPrecision(15)))
  const [mantissa = '', exponent] = text.split('e')
  if (exponent === undefined) return text === '-0' ? '0' : text
  return `${mantissa}E${exponent.startsWith('-') ? '-' : '+'}${exponent.replace(/^[+-]/, '').padStart(2, '0')}`
}

/**
 * Formats with a number instead of a code in the file (ECMA-376 part 1, 18.8.30), as shown in American
 * English; in other languages the same file shows its dates differently.
 */
const BUILT_IN: Record<number, string> = {
  0: 'General',
  1: '0',
  2: '0.00',
  3: '#,##0',
  4: '#,##0.00',
  5: '$#,##0_);($#,##0)',
  6: '$#,##0_);[Red]($#,##0)',
  7: '$#,##0.00_);($#,##0.00)',
  8: '$#,##0.00_);[Red]($#,##0.00)',
  9: '0%',
  10: '0.00%',
  11: '0.00E+00',
  12: '# ?/?',
  13: '# ??/??',
  14: 'm/d/yyyy',
  15: 'd-mmm-yy',
  16: 'd-mmm',
  17: 'mmm-yy',
  18: 'h:mm AM/PM',
  19: 'h:mm:ss AM/PM',
  20: 'h:mm',
  21: 'h:mm:ss',
  22: 'm/d/yyyy h:mm',
  37: '#,##0_);(#,##0)',
  38: '#,##0_);[Red](#,##0)',
  39: '#,##0.00_);(#,##0.00)',
  40: '#,##0.00_);[Red](#,##0.00)',
  41: '_(* #,##0_);_(* (#,##0);_(* "-"_);_(@_)',
  42: '_($* #,##0_);_($* (#,##0);_($* "-"_);_(@_)',
  43: '_(* #,##0.00_);_(* (#,##0.00);_(* "-"??_);_(@_)',
  44: '_($* #,##0.00_);_($* (#,##0.00);_($* "-"??_);_(@_)',
  45: 'mm:ss',
  46: '[h]:mm:ss',
  47: 'mm:ss.0',
  48: '##0.0E+0',
  49: '@',
}

/** Dates and times of East Asian spreadsheets; elsewhere these are shown as short dates and times. */
const EAST_ASIAN_TIMES = new Set([32, 33, 34, 35, 55, 56])
const isEastAsian = (id: number) => (id >= 27 && id <= 36) || (id >= 50 && id <= 58)

/** The code of a format that the file only gives as a number; General for an undefined number. */
export function findBuiltInFormat(id: number): string {
  const code = BUILT_IN[id]
  if (code !== undefined) return code
  if (!isEastAsian(id)) return 'General'
  return EAST_ASIAN_TIMES.has(id) ? 'h:mm:ss' : 'm/d/yyyy'
}

const DAY_MS = 86_400_000
/** 1 January 1970 in days of a spreadsheet that counts from 1900. */
const UNIX_EPOCH_DAY = 25_569

const ISO_DATE = /^(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d(?::\d\d(?:\.\d+)?)?))?Z?$/
const ISO_TIME = /^T?(\d\d):(\d\d)(?::(\d\d(?:\.\d+)?))?Z?$/
const ISO_DURATION = /^(-?)P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/

/** The last day before 29 February 1900, which exists only in spreadsheets. */
const LAST_SHIFTED_DAY = 60

/**
 * The number of days by which a spreadsheet stores a moment or duration, for the few files that have ISO 8601
 * instead; anything else stays unchanged. `is1904`: the workbook counts days from 1904.
 */
export function toSerial(text: string, is1904: boolean): string {
  const time = ISO_TIME.exec(text)
  if (time !== null) return String(toDays(0, time[1], time[2], time[3]))
  const duration = ISO_DURATION.exec(text)
  if (duration !== null) {
    const [, sign, days, hours, minutes, seconds] = duration
    const length = toDays(Number(days ?? 0), hours, minutes, seconds)
    return String(sign === '-' ? -length : length)
  }
  const [, date, atTime] = ISO_DATE.exec(text) ?? []
  const ms = date === undefined ? Number.NaN : Date.parse(`${date}T${atTime ?? '00:00'}Z`)
  if (Number.isNaN(ms)) return text
  const day = ms / DAY_MS + UNIX_EPOCH_DAY
  if (is1904) return String(day - DAYS_TO_1904)
  return String(day >= 1 && day <= LAST_SHIFTED_DAY ? day - 1 : day)
}

function toDays(days: number, hours = '0', minutes = '0', seconds = '0'): number {
  return days + (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) / 86_400
}
