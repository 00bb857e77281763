/** From so many cells on, values that repeat are labels. */
const LABELS_FROM = 4

/**
 * Whether the cells of a column look like what people write, however short: most of them have words, and the same few do
 * not repeat, as labels do. Ids, numbers, dates and addresses have no words or are one with digits or an @ in it.
 */
export function isWrittenColumn(cells: readonly string[]): boolean {
  const filled = cells.map((cell) => cell.trim()).filter((cell) => cell !== '')
  const distinct = new Set(filled)
  if (filled.length >= LABELS_FROM && distinct.size * 2 <= filled.length) return false
  const worded = [...distinct].filter(hasWords).length
  return worded > 0 && worded * 2 >= distinct.size
}

/** Letters or pictures. Of one word with digits, an @ or an address in it they are part of an id. */
function hasWords(cell: string): boolean {
  const words = cell.split(/\s+/u).filter((word) => /[\p{L}\p{Extended_Pictographic}]/u.test(word))
  if (words.length !== 1) return words.length > 1
  return !/[\p{N}@]|:\/\//u.test(cell)
}
