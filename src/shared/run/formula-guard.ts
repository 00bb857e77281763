import { formatCounted } from '../messages/figure-text.ts'

// Texts that spreadsheets take for the beginning of a formula, by OWASP's list
// (https://owasp.org/www-community/attacks/CSV_Injection): `=`, `+`, `-`, `@`, a tab and a carriage return,
// also in full width, which some locales treat alike, and after white space and invisible characters, which
// some programs skip. Apostrophes in front are the guard itself, or look like it.
const FORMULA = /^'*[\s\p{Cf}\p{Cc}]*[=+\-@\t\r＝＋－＠]/u

// A number with its sign, such as `-5`, `+49 170 1234567` or `-1.5e3`, and a sign alone: neither is executed.
const NUMBER = /^'*[+-](?:\d+(?:[.,' \u00a0\u202f]\d+)*|[.,]\d+)(?:e[+-]?\d+)?\s?%?$|^'*[=+\-@]$/i

/** Which guard cells of an exported file have: that of {@link addFormulaGuard}, or that of version 0.2. */
export type FormulaGuard = 'current' | 'earlier'

/**
 * Puts an apostrophe before a cell that a spreadsheet would run as a formula. A cell with apostrophes there
 * gets one more, so that {@link removeFormulaGuard} is the exact inverse. The rest of the cell is unchanged,
 * so files must be opened with their actual delimiter.
 */
export function addFormulaGuard(cell: string): string {
  return isFormula(cell) ? `'${cell}` : cell
}

/** Removes a guard from a cell; any other cell is unchanged. */
export function removeFormulaGuard(cell: string, guard: FormulaGuard): string {
  if (guard === 'earlier') return removeEarlierGuard(cell)
  return seemsGuarded(cell) ? cell.slice(1) : cell
}

/** Whether {@link addFormulaGuard} seems to have put an apostrophe before a cell. */
export function seemsGuarded(cell: string): boolean {
  return cell.charCodeAt(0) === APOSTROPHE && isFormula(cell)
}

/** Says how many cells were guarded; `unchanged` says how to avoid it, e.g. `--lossless writes …`. */
export function sayGuarded(cells: number, unchanged: string): string {
  const them = cells === 1 ? 'it as a formula' : 'them as formulas'
  return `${formatCounted(cells, 'cell')} ${cells === 1 ? 'has' : 'have'} an apostrophe in front, since a spreadsheet would run ${them}; ${unchanged}`
}

/** How to get unchanged cells from a file without a lossless form. */
export const UNGUARDED_FORMATS = 'a .xlsx or .jsonl file holds them unchanged'

export function isExportDelimiter(delimiter: string): boolean {
  return [',', ';', '|', '\t'].includes(delimiter)
}

const APOSTROPHE = 0x27

function isFormula(cell: string): boolean {
  return !isPlain(cell) && FORMULA.test(cell) && !NUMBER.test(cell)
}

/** Most cells begin with an ASCII letter or digit, or are empty, so the pattern is not needed. */
function isPlain(cell: string): boolean {
  const first = cell.charCodeAt(0)
  const letter = first | 0x20
  return cell === '' || (letter >= 0x61 && letter <= 0x7a) || (first >= 0x30 && first <= 0x39)
}

// Version 0.2 also guarded numbers, and whatever follows a delimiter within a cell.
const EARLIER_DELIMITERS = /[,;|\t\r\n]/
const EARLIER_PIECES = /(?<=[,;|\t\r\n])'(?='*(?:["\p{Zs}\p{Cf}]|(?![\t\r\n])\p{Cc})*[=+\-@＝＋－＠])/gu

function removeEarlierGuard(cell: string): string {
  const guarded = cell.charCodeAt(0) === APOSTROPHE && FORMULA.test(cell) ? cell.slice(1) : cell
  return EARLIER_DELIMITERS.test(guarded) ? guarded.replace(EARLIER_PIECES, '') : guarded
}
