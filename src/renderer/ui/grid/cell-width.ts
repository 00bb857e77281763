/** Size of the letters of a cell, rem; a cell may have smaller ones, never larger ones. */
const LETTER_REM = 0.8125

/** What the edges of a cell take from its column, rem; of the first one, which stands apart from the edge of the table. */
const EDGES_REM = 1
const FIRST_EDGES_REM = 1.5

/** Whether something `em` wide shows whole in a column. The browser need not clip it then, which costs more than drawing it. */
export function fitsColumn(em: number, rem: number, isFirst: boolean): boolean {
  return em * LETTER_REM + (isFirst ? FIRST_EDGES_REM : EDGES_REM) <= rem
}

/** The most that a word or a figure of ours is wide, em: small letters and digits of the widest usual font. */
export function toWordEm(word: string): number {
  return word.length * 0.62
}

/** The most that a text that somebody else wrote is wide, em; infinite if it has more than ASCII. */
export function toTextEm(text: string): number {
  return /^[ -~]*$/.test(text) ? text.length : Number.POSITIVE_INFINITY
}
