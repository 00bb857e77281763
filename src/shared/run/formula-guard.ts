import { formatCounted } from '../messages/figure-text.ts'

// What spreadsheets take for the beginning of a formula, by OWASP's list
// (https://owasp.org/www-community/attacks/CSV_Injection): `=`, `+`, `-`, `@`, a tab and a carriage return, and in full
// width, which some locales read alike; also behind white space and invisible characters, which some programs pass over.
// Apostrophes in front are the guard itself, or look like it.
const FORMULA = /^'*[\s\p{Cf}\p{Cc}]*[=+\-@\t\r＝＋－＠]/u

// A number with its sign, such as `-5`, `+49 170 1234567` or `-1.5e3`, and a sign alone: neither runs anything.
const NUMBER = /^'*[+-](?:\d+(?:[.,' \u00a0\u202f]\d+)*|[.,]\d+)(?:e[+-]?\d+)?\s?%?$|^'*[=+\-@]$/i

/** Which of the guards that exports had the cells of a file carry: that of {@link addFormulaGuard}, or that of version 0.2. */
export type FormulaGuard = 'current' | 'earlier'

/**
 * Puts an apostrophe in front of a cell that a spreadsheet would run as a formula. What already has apostrophes there gets
 * one more, which makes {@link removeFormulaGuard} the exact inverse. Nothing else of a cell is changed, so that a file has
 * to be opened with the delimiter that it has.
 */
export function addFormulaGuard(cell: string): string {
  return isFormula(cell) ? `'${cell}` : cell
}

/** Takes off what a guard put into a cell; any other cell stays as it is. */
export function removeFormulaGuard(cell: string, guard: FormulaGuard): string {
  if (guard === 'earlier') return removeEarlierGuard(cell)
  return seemsGuarded(cell) ? cell.slice(1) : cell
}

/** Whether a cell looks like one that {@link addFormulaGuard} has put an apostrophe in front of. */
export function seemsGuarded(cell: string): boolean {
  return cell.charCodeAt(0) === APOSTROPHE && isFormula(cell)
}

/** Says how many cells of a file were guarded; `unchanged` is how they can be had without, such as `--lossless writes …`. */
export function sayGuarded(cells: number, unchanged: string): string {
  const them = cells === 1 ? 'it as a formula' : 'them as formulas'
  return `${formatCounted(cells, 'cell')} ${cells === 1 ? 'has' : 'have'} an apostrophe in front, since a spreadsheet would run ${them}; ${unchanged}`
}

/** How the cells of a file that has no lossless form can be had unchanged. */
export const UNGUARDED_FORMATS = 'a .xlsx or .jsonl file holds them unchanged'

/** Whether a CSV export may have this between its cells. */
export function isExportDelimiter(delimiter: string): boolean {
  return [',', ';', '|', '\t'].includes(delimiter)
}

const APOSTROPHE = 0x27

function isFormula(cell: string): boolean {
  return !isPlain(cell) && FORMULA.test(cell) && !NUMBER.test(cell)
}

/** Most cells begin with an ASCII letter or digit, or are empty: no need to ask the pattern. */
function isPlain(cell: string): boolean {
  const first = cell.charCodeAt(0)
  const letter = first | 0x20
  return cell === '' || (letter >= 0x61 && letter <= 0x7a) || (first >= 0x30 && first <= 0x39)
}

// Up to version 0.2 numbers were guarded, too, and so was what follows a delimiter within a cell.
const EARLIER_DELIMITERS = /[,;|\t\r\n]/
const EARLIER_PIECES = /(?<=[,;|\t\r\n])'(?='*(?:["\p{Zs}\p{Cf}]|(?![\t\r\n])\p{Cc})*[=+\-@＝＋－＠])/gu

function removeEarlierGuard(cell: string): string {
  const guarded = cell.charCodeAt(0) === APOSTROPHE && FORMULA.test(cell) ? cell.slice(1) : cell
  return EARLIER_DELIMITERS.test(guarded) ? guarded.replace(EARLIER_PIECES, '') : guarded
}
