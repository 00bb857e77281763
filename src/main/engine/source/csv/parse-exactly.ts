/**
 * The fault of a record: text after a closing quote, which is part of the cell, or with which the record
 * ends at the end of its line; no closing quote before the end, or only one with text after it; white space
 * before an opening quote; a backslash before a quote or line end that may be an escape; or a line break
 * outside quotes that ends no record.
 */
export type RecordFault =
  | 'misplaced'
  | 'ended_by_line'
  | 'unclosed'
  | 'closed_early'
  | 'spaced'
  | 'maybe_escaped'
  | 'maybe_continued'
  | 'stray_break'

/** How the characters of delimited text are read. */
export interface RecordSyntax {
  /** '' if a record is one cell. */
  delimiter: string
  /** `\n` also covers CRLF. */
  newline: '\n' | '\r'
  /** Encloses cells, and is doubled inside them; '' without one. */
  quote: string
  /** Not part of the text before a quote, a delimiter, a line break or itself; '' without one. */
  escape: string
}

export interface ExactRecord {
  cells: string[]
  fault: Extract<RecordFault, 'misplaced'> | null
  /** Whether a line break outside quotes ends no record. */
  hasStrayBreak: boolean
  /** Whether an unquoted cell contains a quote. */
  hasStrayQuote: boolean
  /** Whether white space precedes the quotes around a cell, so that they are read as text. */
  hasSpacedQuotes: boolean
  /** Where each cell begins in the text, including its quote, and where the text of the last one ends. */
  bounds: number[]
  /** After the record's line end. */
  end: number
}

/**
 * Reads the record at `start` character by character, with any quote and escape; null if no line end closes
 * it. White space after a closing quote belongs to the cell; other text after it is a fault, and is part of
 * the cell together with the quote.
 */
export function parseRecord(text: string, start: number, syntax: RecordSyntax): ExactRecord | null {
  const { quote } = syntax
  const cells: string[] = []
  const bounds: number[] = []
  let fault: ExactRecord['fault'] = null
  let hasStrayBreak = false
  let hasStrayQuote = false
  let hasSpacedQuotes = false
  for (let at = start; ; ) {
    bounds.push(at)
    const isQuoted = quote !== '' && text[at] === quote
    const cell = isQuoted ? readQuoted(text, at, syntax) : readUnquoted(text, at, syntax)
    if (cell === null) return null
    cells.push(cell.text)
    if (cell.isMisplaced) fault = 'misplaced'
    if (cell.hasBreak) hasStrayBreak = true
    if (!isQuoted && quote !== '' && cell.text.includes(quote)) {
      hasStrayQuote = true
      if (isSpacedQuotes(cell.text, quote)) hasSpacedQuotes = true
    }
    at = cell.end + 1
    if (text[cell.end] !== syntax.newline) continue
    bounds.push(cell.textEnd)
    return { cells, fault, hasStrayBreak, hasStrayQuote, hasSpacedQuotes, bounds, end: at }
  }
}

/** Whether white space precedes a quote that opens a text closed at the end, or in a later line or cell. */
function isSpacedQuotes(cell: string, quote: string): boolean {
  const text = cell.trim()
  if (!cell.startsWith(' ') || !text.startsWith(quote)) return false
  return (text.length > 1 && text.endsWith(quote)) || text.split(quote).length % 2 === 0
}

interface ExactCell {
  text: string
  isMisplaced: boolean
  /** Whether a line break is outside its quotes. */
  hasBreak: boolean
  /** Where its text ends, including its closing quote. */
  textEnd: number
  /** Index of the delimiter or line end after it. */
  end: number
}

const LINE_BREAK = /[\r\n]/

function readUnquoted(text: string, from: number, syntax: RecordSyntax): ExactCell | null {
  const { delimiter, newline, escape: escaping } = syntax
  let end = from
  let hasEscapes = false
  for (; end < text.length; end += 1) {
    const character = text[end]
    if (character === delimiter || character === newline) break
    if (character === escaping) {
      const escaped = countEscaped(text, end + 1, syntax)
      if (escaped === 0) continue
      hasEscapes = true
      end += escaped
    }
  }
  if (end >= text.length) return null
  const textEnd = toTextEnd(text, from, end, newline)
  const raw = text.slice(from, textEnd)
  if (!hasEscapes) return { text: raw, isMisplaced: false, hasBreak: LINE_BREAK.test(raw), textEnd, end }
  return { ...removeEscapes(raw, syntax), isMisplaced: false, textEnd, end }
}

function readQuoted(text: string, from: number, syntax: RecordSyntax): ExactCell | null {
  const { delimiter, newline, quote, escape: escaping } = syntax
  let cell = ''
  let isMisplaced = false
  let kept = from + 1
  for (let at = from + 1; at < text.length; at += 1) {
    const character = text[at]
    if (character === escaping) {
      const next = text[at + 1]
      if (next !== quote && next !== escaping) continue
      cell += text.slice(kept, at) + next
      kept = at + 2
      at += 1
    } else if (character === quote) {
      if (text[at + 1] === quote) {
        cell += text.slice(kept, at + 1)
        kept = at + 2
        at += 1
        continue
      }
      let end = at + 1
      while (end < text.length && text[end] !== delimiter && text[end] !== newline && isSpace(text[end]))
        end += 1
      if (end === text.length) return null
      if (text[end] === delimiter || text[end] === newline) {
        const textEnd = toTextEnd(text, at + 1, end, newline)
        const behind = text.slice(at + 1, textEnd)
        const hasBreak = LINE_BREAK.test(behind)
        return { text: cell + text.slice(kept, at) + behind, isMisplaced, hasBreak, textEnd, end }
      }
      isMisplaced = true
    }
  }
  return null
}

/** The record at the end of a text that no line end closes: its last cell is all the rest. */
export function parseOpenRecord(text: string, syntax: RecordSyntax): string[] {
  return readOpenRecord(text, syntax).cells
}

/** The same, and whether the last cell is quoted and has a quote followed by text. */
export function readOpenRecord(
  text: string,
  syntax: RecordSyntax,
): { cells: string[]; hasTextBehind: boolean } {
  const cells: string[] = []
  for (let at = 0; ; ) {
    const isQuoted = syntax.quote !== '' && text[at] === syntax.quote
    const cell = isQuoted ? readQuoted(text, at, syntax) : readUnquoted(text, at, syntax)
    if (cell === null) {
      const rest = text.slice(isQuoted ? at + 1 : at)
      const doubled = syntax.quote + syntax.quote
      if (!isQuoted) return { cells: [...cells, rest], hasTextBehind: false }
      const escaped = syntax.escape === '' ? rest : rest.replaceAll(syntax.escape + syntax.quote, '')
      const hasTextBehind = escaped.replaceAll(doubled, '').includes(syntax.quote)
      return { cells: [...cells, rest.replaceAll(doubled, syntax.quote)], hasTextBehind }
    }
    cells.push(cell.text)
    at = cell.end + 1
  }
}

/** The `\r` of a CRLF is not text. */
function toTextEnd(text: string, from: number, end: number, newline: string): number {
  return newline === '\n' && end > from && text[end] === '\n' && text[end - 1] === '\r' ? end - 1 : end
}

function isSpace(character: string | undefined): boolean {
  return character === ' ' || (character !== undefined && character.trim() === '')
}

/** Characters escaped by the one before: outside quotes what would end the cell, CRLF as one line break. */
function countEscaped(
  text: string,
  at: number,
  { delimiter, newline, quote, escape: escaping }: RecordSyntax,
): number {
  const character = text[at]
  if (character === undefined || character === '') return 0
  if (newline === '\n' && character === '\r' && text[at + 1] === '\n') return 2
  return [delimiter, newline, quote, escaping].includes(character) ? 1 : 0
}

/** The text of a cell, and whether it has an unescaped line break. */
function removeEscapes(raw: string, syntax: RecordSyntax): { text: string; hasBreak: boolean } {
  let text = ''
  let hasBreak = false
  for (let at = 0; at < raw.length; at += 1) {
    const escaped = raw[at] === syntax.escape ? countEscaped(raw, at + 1, syntax) : 0
    if (escaped > 0) {
      text += raw.slice(at + 1, at + 1 + escaped)
      at += escaped
    } else {
      text += raw[at]
      hasBreak ||= LINE_BREAK.test(raw[at] ?? '')
    }
  }
  return { text, hasBreak }
}
