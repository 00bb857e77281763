const LINE_BREAK = /\r\n|[\r\n]/

/**
 * The line of a quoted cell that looks like a row of its own: if a quote that is text begins one cell, and
 * another ends a later one, all rows between them become one cell. Null without such a line. Of `count`
 * cells, those other than the multi-line one must look alike.
 */
export function findTakenInRow(cells: readonly string[], count: number, delimiter: string): string | null {
  if (delimiter === '' || cells.length !== count) return null
  for (const [at, cell] of cells.entries()) {
    if (!LINE_BREAK.test(cell)) continue
    const [, ...lines] = cell.split(LINE_BREAK)
    const found = lines.find((line, index) => {
      const inner = line.split(delimiter)
      // The cell ends in its last line, after which its row continues.
      const isWhole = inner.length === (index === lines.length - 1 ? at + 1 : count)
      return isWhole && looksAlike(inner, cells, at)
    })
    if (found !== undefined) return found
  }
  return null
}

/** Whether the cells of two rows have the same form, except in one column; an empty cell fits any form. */
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

/** A text with one letter for each of its words and one digit for each of its numbers. */
function toForm(text: string): string {
  return text.replaceAll(/[\p{L}\p{M}]+/gu, 'a').replaceAll(/\d+/g, '0')
}
