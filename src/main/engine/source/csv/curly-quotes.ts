/** Curly quotes that open, each with those that close it in some language. */
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

/** Whether a text has a curly quote that may open one around a cell. */
export function hasOpeningCurly(text: string): boolean {
  return OPENING.some((quote) => text.includes(quote))
}

/** Whether a cell opens a curly quote that only a later one closes: the delimiter cut a text that was meant to be one. */
export function isCutInCurly(cells: readonly string[]): boolean {
  for (let at = 0; at < cells.length - 1; at += 1) {
    const cell = cells[at] ?? ''
    // Most cells begin with a character of ASCII, which none of these is.
    if (cell.charCodeAt(0) < 0x80 && cell.charCodeAt(0) !== 0x20) continue
    const text = cell.trim()
    const closing = CLOSED_BY[text[0] ?? '']
    if (closing === undefined || [...closing].some((quote) => text.includes(quote, 1))) continue
    for (let behind = at + 1; behind < cells.length; behind += 1) {
      const last = (cells[behind] ?? '').trimEnd().at(-1)
      if (last !== undefined && closing.includes(last)) return true
    }
  }
  return false
}
