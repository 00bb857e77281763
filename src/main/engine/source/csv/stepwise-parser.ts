import Papa, { type ParseConfig, type ParseResult } from 'papaparse'
import type { ParsedPiece, QuoteFault, RecordSyntax } from './record-parser.ts'

/**
 * Whether papaparse's cells alone do not tell what the text says: where a quoted cell ends with `\r`, which looks like
 * part of the line end, or has white space behind its closing quote, which papaparse drops.
 */
export function needsRawText(text: string, syntax: RecordSyntax): boolean {
  if (syntax.newline === '\n' && text.includes('\r"')) return true
  return text.includes('"') && toSpacedQuote(syntax).test(text)
}

const spacedQuotes = new Map<string, RegExp>()

/** A quote, white space that is neither delimiter nor line end, then one of those. */
function toSpacedQuote({ delimiter, newline }: RecordSyntax): RegExp {
  const key = delimiter + newline
  let pattern = spacedQuotes.get(key)
  if (pattern === undefined) {
    const end = delimiter.replace(/[\\^$.*+?()[\]{}|/-]/, '\\$&')
    pattern =
      newline === '\n'
        ? new RegExp(`"(?!\\r?\\n)(?:(?!${end})[^\\S\\n])+(?:${end}|\\n)`)
        : new RegExp(`"(?:(?!${end})[^\\S\\r])+(?:${end}|\\r)`)
    spacedQuotes.set(key, pattern)
  }
  return pattern
}

/** Parses whole records one by one, each held against the raw text that it came from. */
export function parseStepwise(text: string, syntax: RecordSyntax): ParsedPiece {
  const records: string[][] = []
  const quoteFaults = new Map<number, QuoteFault>()
  let start = 0
  const step = ({ data, errors, meta }: ParseResult<string[]>): void => {
    for (const record of data) {
      if (errors.length > 0) quoteFaults.set(records.length, 'misplaced')
      else restoreSpaces(record, text, start, syntax)
      if (syntax.newline === '\n' && endsUnquoted(record, text, start, meta.cursor, syntax))
        dropReturn(record)
      records.push(record)
    }
    start = meta.cursor
  }
  // papaparse types `step` for its public parse; its Parser calls it with a list of one record.
  const config: ParseConfig = { ...syntax, step: step as NonNullable<ParseConfig['step']> }
  const parsed: ParseResult<string[]> = new Papa.Parser(config).parse(text, 0, true)
  return { batch: { records, quoteFaults, isWellFormed: text.isWellFormed() }, cursor: parsed.meta.cursor }
}

/** An unquoted cell stands in the text as it is, between a delimiter or the record's start and the line end. */
function endsUnquoted(
  record: readonly string[],
  text: string,
  start: number,
  end: number,
  { delimiter }: RecordSyntax,
): boolean {
  const last = record.at(-1) ?? ''
  const from = end - 1 - last.length
  return (
    !last.startsWith('"') && text.startsWith(last, from) && (from === start || text[from - 1] === delimiter)
  )
}

/** Gives quoted cells the white space that stands between their closing quote and the delimiter or line end. */
function restoreSpaces(
  record: string[],
  text: string,
  start: number,
  { delimiter, newline }: RecordSyntax,
): void {
  let at = start
  for (const [index, cell] of record.entries()) {
    if (text[at] === '"') {
      const from = at + 2 + cell.length + countQuotes(cell)
      at = from
      while (
        at < text.length &&
        text[at] !== delimiter &&
        text[at] !== newline &&
        !text.startsWith('\r\n', at)
      )
        at += 1
      if (at > from) record[index] = cell + text.slice(from, at)
    } else at += cell.length
    at += 1
  }
}

function countQuotes(cell: string): number {
  let count = 0
  for (let at = cell.indexOf('"'); at !== -1; at = cell.indexOf('"', at + 1)) count += 1
  return count
}

/** Takes the `\r` of a CRLF off a record's last cell. */
export function dropReturn(record: string[]): void {
  const last = record.length - 1
  const cell = record[last]
  if (cell?.endsWith('\r')) record[last] = cell.slice(0, -1)
}
