import { parseRecord, type RecordSyntax, readOpenRecord } from './parse-exactly.ts'
import { looksAlike } from './taken-in-rows.ts'

/** Number of lines after a broken one that must look like rows. */
const LOOKED_AT = 2

interface BrokenText {
  text: string
  /** Where the record begins. */
  start: number
  /** Whether no text follows this one. */
  isEnd: boolean
}

/**
 * The end of the line in which a record begins, if the record ends there, too: a cell in it has text after
 * its closing quote, so that the quote closes nothing, and the lines after it are rows of `width` cells that
 * look like this one. Null otherwise, or if the record has only one line.
 */
export function findEndOfLine(
  { text, start, isEnd }: BrokenText,
  syntax: RecordSyntax,
  width: number,
): number | 'not_read_yet' | null {
  const lineEnd = text.indexOf(syntax.newline, start)
  if (lineEnd === -1) return null
  const line = text.slice(start, lineEnd)
  if (parseRecord(line + syntax.newline, 0, syntax) !== null) return null
  const { cells, hasTextBehind } = readOpenRecord(line, syntax)
  if (!hasTextBehind) return null
  let looked = 0
  for (let from = lineEnd + 1; looked < LOOKED_AT; ) {
    const to = text.indexOf(syntax.newline, from)
    if (to === -1) return isEnd ? lineEnd : 'not_read_yet'
    const other = text.slice(from, to)
    from = to + 1
    if (other.trim() === '') continue
    const record = parseRecord(other + syntax.newline, 0, syntax)
    if (record !== null && record.cells.length !== width) return null
    const inner = record === null ? readOpenRecord(other, syntax).cells : record.cells
    if (!looksAlike(inner, cells, cells.length - 1)) return null
    // Its own cell may extend over the next lines.
    if (record === null) break
    looked += 1
  }
  return lineEnd
}
