// What a spreadsheet runs as a formula, also behind white space, invisible characters and in full width. Apostrophes
// in front are the guard itself, so that guarding twice can be undone twice.
const FORMULA = /^'*[\s\p{Cf}\p{Cc}]*[=+\-@\t\r＝＋－＠]/u

// What a spreadsheet may split a file at where it does not understand the quotes around a cell.
const DELIMITERS = /[,;|\t\r\n]/

// The same for what follows a delimiter within a cell. Delimiters are not among what is passed over, so that each piece
// is guarded on its own, whatever was put into the others.
const PIECES = /(?<=[,;|\t\r\n])(?='*(?:["\p{Zs}\p{Cf}]|(?![\t\r\n])\p{Cc})*[=+\-@＝＋－＠])/gu
const GUARDED_PIECES = /(?<=[,;|\t\r\n])'(?='*(?:["\p{Zs}\p{Cf}]|(?![\t\r\n])\p{Cc})*[=+\-@＝＋－＠])/gu

/**
 * Puts an apostrophe in front of what a spreadsheet would run as a formula: a cell that begins, also behind white
 * space, with `=`, `+`, `-`, `@` (full-width ones too), a tab or a carriage return, and the same behind a comma, a
 * semicolon, a bar, a tab or a line break within a cell, where a file may be split. What already begins with
 * apostrophes before those gets one more, which makes {@link removeFormulaGuard} its exact inverse.
 */
export function addFormulaGuard(cell: string): string {
  const guarded = DELIMITERS.test(cell) ? cell.replace(PIECES, "'") : cell
  return isPlain(guarded) || !FORMULA.test(guarded) ? guarded : `'${guarded}`
}

/** Takes off every apostrophe that {@link addFormulaGuard} put into a cell; any other cell stays as it is. */
export function removeFormulaGuard(cell: string): string {
  const guarded = cell.charCodeAt(0) === APOSTROPHE && FORMULA.test(cell) ? cell.slice(1) : cell
  return DELIMITERS.test(guarded) ? guarded.replace(GUARDED_PIECES, '') : guarded
}

/** Whether a CSV export may have this between its cells: formulas are guarded behind these alone. */
export function isExportDelimiter(delimiter: string): boolean {
  return [',', ';', '|', '\t'].includes(delimiter)
}

const APOSTROPHE = 0x27

/** Most cells begin with an ASCII letter or digit, or are empty: no need to ask the pattern. */
function isPlain(cell: string): boolean {
  const first = cell.charCodeAt(0) | 0x20
  return cell === '' || (first >= 0x61 && first <= 0x7a) || (first >= 0x30 && first <= 0x39)
}
