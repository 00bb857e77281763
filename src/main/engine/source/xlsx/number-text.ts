import { format, isDateFormat, isValidFormat } from 'numfmt'

/** Turns a stored number into the text that a person sees. */
export type ToNumberText = (literal: string) => string

/** Dates out of a spreadsheet's calendar are shown as their number. */
const OPTIONS = { locale: 'en-US', dateSpanLarge: false }

/** Days from 1 January 1900 to 1 January 1904, where some workbooks begin to count. */
const DAYS_TO_1904 = 1462

const ELAPSED = /\[(?:h+|m+|s+)\]/i
const PLAIN_INTEGER = /^-?(?:0|[1-9]\d*)$/
const ONLY_ZEROS = /^0+$/

/**
 * How numbers are shown in a format. Without one (General) a number is shown whole, with up to 15 digits as the
 * formula bar does, and not as the width of a column cuts it. Digits of a whole number are never lost, also where
 * a spreadsheet would show zeros in their place.
 */
export function createNumberText(code: string, is1904: boolean): ToNumberText {
  if (isGeneral(code) || !isValidFormat(code)) return toGeneralText
  const offset = is1904 && isDateFormat(code) && !ELAPSED.test(code) ? DAYS_TO_1904 : 0
  const zeros = ONLY_ZEROS.test(code) ? code.length : 0
  return (literal) => {
    if (zeros > 0 && PLAIN_INTEGER.test(literal)) return padZeros(literal, zeros)
    const number = Number(literal)
    if (literal === '' || !Number.isFinite(number)) return literal
    // Room for brackets, and what fills a cell up, is not part of the text.
    return format(code, number + offset, OPTIONS).trim()
  }
}

/** Whether more digits stand before the point than a spreadsheet's numbers have. */
export function isBeyondPrecision(literal: string): boolean {
  return literal.length > 15 && Math.abs(Number(literal)) >= 1e15
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
