/** Font size of a cell, rem; some cells have a smaller one, never a larger one. */
const LETTER_REM = 0.8125

/** Width of a cell's edges in its column, rem; for the first cell, also its distance to the table's edge. */
const EDGES_REM = 1
const FIRST_EDGES_REM = 1.5

/** Whether content `em` wide fits into a column, and need not be clipped, which costs more than drawing. */
export function fitsColumn(em: number, rem: number, isFirst: boolean): boolean {
  return em * LETTER_REM + (isFirst ? FIRST_EDGES_REM : EDGES_REM) <= rem
}

/** Upper bound of the width of Sluice's own word or figure, em: small letters, digits, widest common font. */
export function toWordEm(word: string): number {
  return word.length * 0.62
}

/** Upper bound of the width of a text by others, em; infinite unless it is ASCII. */
export function toTextEm(text: string): number {
  return /^[ -~]*$/.test(text) ? text.length : Number.POSITIVE_INFINITY
}
