// What a spreadsheet runs as a formula, also behind white space, invisible characters and in full width. Apostrophes
// in front are the guard itself, so that guarding twice can be undone twice.
const FORMULA = /^'*[\s\p{Cf}\p{Cc}]*[=+\-@\t\r＝＋－＠]/u

/**
 * Puts an apostrophe in front of a cell that a spreadsheet would run as a formula: one that begins, also behind
 * white space, with `=`, `+`, `-`, `@` (full-width ones too), a tab or a carriage return. A cell that already
 * begins with apostrophes before those gets one more, which makes {@link removeFormulaGuard} its exact inverse.
 */
export function addFormulaGuard(cell: string): string {
  return isPlain(cell) || !FORMULA.test(cell) ? cell : `'${cell}`
}

/** Takes one apostrophe off a cell that {@link addFormulaGuard} guarded; any other cell stays as it is. */
export function removeFormulaGuard(cell: string): string {
  return cell.charCodeAt(0) === APOSTROPHE && FORMULA.test(cell) ? cell.slice(1) : cell
}

const APOSTROPHE = 0x27

/** Most cells begin with an ASCII letter or digit, or are empty: no need to ask the pattern. */
function isPlain(cell: string): boolean {
  const first = cell.charCodeAt(0) | 0x20
  return cell === '' || (first >= 0x61 && first <= 0x7a) || (first >= 0x30 && first <= 0x39)
}
