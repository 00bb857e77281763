const LINE_BREAK = /\r\n|[\r\n]/

/**
 * The line of a cell in quotes that looks like a row of its own: with a quote that is text at the beginning of one cell,
 * and another at the end of a later one, all rows between them become one cell. Null if no line does. Of `count` cells,
 * those beside the one that goes over several lines have to look alike.
 */
export function findTakenInRow(cells: readonly string[], count: number, delimiter: string): string | null {
  if (delimiter === '' || cells.length !== count) return null
  for (const [at, cell] of cells.entries()) {
    if (!LINE_BREAK.test(cell)) continue
    const [, ...lines] = cell.split(LINE_BREAK)
    const found = lines.find((line, index) => {
      const inner = line.split(delimiter)
      // The cell ends in the last line, behind which its row goes on.
      const isWhole = inner.length === (index === lines.length - 1 ? at + 1 : count)
      return isWhole && looksAlike(inner, cells, at)
    })
    if (found !== undefined) return found
  }
  return null
}

/** Whether the cells of two rows are of one form, except in one column; an empty one may be in any. */
export function looksAlike(one: readonly string[], other: readonly string[], except: number): boolean {
  let alike = 0
  for (const [index, cell] of one.entries()) {
    const beside = other[index] ?? ''
    if (index === except || cell === '' || beside === '') continue
    if (toForm(cell) !== toForm(beside)) return false
    alike += 1
  }
  return alike > 0
}

/** A text with one letter for each of its words, and one digit for each of its numbers. */
function toForm(text: string): string {
  return text.replaceAll(/[\p{L}\p{M}]+/gu, 'a').replaceAll(/\d+/g, '0')
}
