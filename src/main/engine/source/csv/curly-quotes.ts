/** Opening curly quotes, each with the ones that close it in some language. */
const CLOSED_BY: Readonly<Record<string, string>> = {
  '“': '”',
  '„': '“”',
  '‟': '”',
  '«': '»',
  '»': '«',
  '‘': '’',
  '‚': '‘’',
  '‹': '›',
  '›': '‹',
}
const OPENING = Object.keys(CLOSED_BY)

export function hasOpeningCurly(text: string): boolean {
  return OPENING.some((quote) => text.includes(quote))
}

/** The quote that is also an apostrophe. */
const APOSTROPHE = '’'

/**
 * Whether a cell opens a curly quote that only a later one closes: the delimiter cut a text in two. Curly
 * quotes opened in between count. Since an apostrophe closes nothing, a single quote counts only in a row
 * with a wrong number of cells, or if the delimiter is followed by white space, as in prose.
 */
export function isCutInCurly(cells: readonly string[], isMiscounted: boolean): boolean {
  for (let at = 0; at < cells.length - 1; at += 1) {
    const cell = cells[at] ?? ''
    // Most cells begin with an ASCII character, which none of these is.
    if (cell.charCodeAt(0) < 0x80 && cell.charCodeAt(0) !== 0x20) continue
    const text = cell.trim()
    const closing = CLOSED_BY[text[0] ?? '']
    if (closing === undefined || [...closing].some((quote) => text.includes(quote, 1))) continue
    const mayClose = isMiscounted || !closing.includes(APOSTROPHE)
    let open = 1
    for (let behind = at + 1; behind < cells.length; behind += 1) {
      const cell = (cells[behind] ?? '').trimEnd()
      for (const character of cell) {
        if (character === text[0]) open += 1
        else if (closing.includes(character)) open -= 1
      }
      const isClosed = open <= 0 && closing.includes(cell.at(-1) ?? ' ')
      if (isClosed && (mayClose || cells.slice(at + 1, behind + 1).some((one) => /^\s/.test(one))))
        return true
    }
  }
  return false
}
