import type { ParseConfig, ParseResult } from 'papaparse'
import Papa from 'papaparse'
import { SluiceError } from '../../../../shared/messages/errors.ts'
import { toFound } from '../../../../shared/run/problem.ts'
import { READ_BYTES, type ReadText } from '../decoding/text-reader.ts'

/** How quotes of a record were broken: text behind a closing quote, or no closing quote before the end. */
export type QuoteFault = 'misplaced' | 'unclosed'

/** Consecutive records, as far as the text read so far holds whole ones. */
export interface RecordBatch {
  records: string[][]
  /** By index in `records`. */
  quoteFaults: Map<number, QuoteFault>
  /** False where text holds lone surrogates, which is how decoders mark bytes that do not decode. */
  isWellFormed: boolean
}

/** How records are distinguished. */
export interface RecordSyntax {
  delimiter: string
  /** `\n` stands for CRLF too. */
  newline: '\n' | '\r'
}

/** What a piece of text holds. */
interface ParsedPiece {
  batch: RecordBatch
  /** Behind the last whole record. */
  cursor: number
}

/** Longest record that is read, in UTF-16 code units. */
const MAX_RECORD_CHARACTERS = 8 * 1024 * 1024

/** Thrown for a record over {@link MAX_RECORD_CHARACTERS}; `start` is its beginning. */
export class RecordTooLong extends Error {
  override readonly name = 'RecordTooLong'
  readonly start: string
  /** Blank lines before it that were not yielded yet. */
  readonly blankLines: number
  readonly readText: ReadText

  constructor(start: string, blankLines: number, readText: ReadText) {
    super('a record is too long to be read')
    this.start = start
    this.blankLines = blankLines
    this.readText = readText
  }
}

/**
 * Yields every record of a text once and in order, by papaparse in a pull loop that holds one read and one unfinished
 * record. Blank lines at the end of the text are no records; elsewhere they are, with one empty cell.
 * Throws {@link RecordTooLong}.
 */
export function* parseRecords(
  readText: ReadText,
  syntax: RecordSyntax,
  readBytes = READ_BYTES,
): Generator<RecordBatch, void, undefined> {
  let rest = ''
  let heldBlankLines = 0
  for (;;) {
    const piece = readText(rest.length > READ_BYTES ? toLongRead(rest.length) : readBytes)
    if (piece === '') continue
    if (piece === null && rest === '') return
    // At the end the last record gets the line end that it may lack.
    const text = rest + (piece ?? syntax.newline)
    const { batch, cursor } = parseWholeRecords(text, syntax)
    if (piece === null && cursor < text.length) {
      yield* toBlankBatches(heldBlankLines)
      yield parseUnclosedRecord(rest, syntax)
      return
    }
    rest = text.slice(cursor)

    const { records } = batch
    const blankLines = countBlankLinesBefore(text, cursor, syntax.newline, records.length)
    if (records.length > blankLines) {
      records.length -= blankLines
      yield* toBlankBatches(heldBlankLines)
      yield batch
      heldBlankLines = blankLines
    } else heldBlankLines += blankLines

    if (piece === null) return
    if (rest.length > MAX_RECORD_CHARACTERS) throw new RecordTooLong(rest, heldBlankLines, readText)
  }
}

/** Reads double while one record spans several, so that a long one is not parsed again for every 64 KiB. */
function toLongRead(restCharacters: number): number {
  return Math.max(1, Math.min(restCharacters, MAX_RECORD_CHARACTERS + 1 - restCharacters))
}

const BLANK_LINES_AT_ONCE = 1000

function* toBlankBatches(count: number): Generator<RecordBatch, void, undefined> {
  for (let left = count; left > 0; left -= BLANK_LINES_AT_ONCE) {
    const records = Array.from({ length: Math.min(left, BLANK_LINES_AT_ONCE) }, () => [''])
    yield { records, quoteFaults: new Map(), isWellFormed: true }
  }
}

/** Blank lines right before the cursor, which stands behind a line end; one that ends a record is not blank. */
function countBlankLinesBefore(text: string, cursor: number, newline: string, records: number): number {
  let lines = 0
  let at = cursor
  while (at > 0 && text[at - 1] === newline) {
    at -= newline === '\n' && text[at - 2] === '\r' ? 2 : 1
    lines += 1
  }
  return Math.min(records, at === 0 ? lines : Math.max(0, lines - 1))
}

/** Parses what a line end closes; the text behind the cursor is an unfinished record. */
function parseWholeRecords(text: string, syntax: RecordSyntax): ParsedPiece {
  if (needsRawText(text, syntax)) return parseStepwise(text, syntax)
  const parsed: ParseResult<string[]> = new Papa.Parser({ ...syntax }).parse(text, 0, true)
  const records = parsed.data
  if (syntax.newline === '\n' && text.includes('\r')) {
    for (const record of records) dropReturn(record)
  }
  const quoteFaults = new Map<number, QuoteFault>()
  // papaparse also tells errors of the unfinished record, which come again with the next piece.
  for (const { row } of parsed.errors) {
    if (row !== undefined && row < records.length) quoteFaults.set(row, 'misplaced')
  }
  return { batch: { records, quoteFaults, isWellFormed: text.isWellFormed() }, cursor: parsed.meta.cursor }
}

/** Parses the record at the end of a file whose quote is never closed: its last cell is all the rest. */
function parseUnclosedRecord(text: string, syntax: RecordSyntax): RecordBatch {
  const parsed: ParseResult<string[]> = new Papa.Parser({ ...syntax }).parse(text, 0, false)
  return { records: parsed.data, quoteFaults: new Map([[0, 'unclosed']]), isWellFormed: text.isWellFormed() }
}

/**
 * Whether papaparse's cells alone do not tell what the text says: where a quoted cell ends with `\r`, which looks like
 * part of the line end, or has white space behind its closing quote, which papaparse drops.
 */
function needsRawText(text: string, syntax: RecordSyntax): boolean {
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
function parseStepwise(text: string, syntax: RecordSyntax): ParsedPiece {
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
function dropReturn(record: string[]): void {
  const last = record.length - 1
  const cell = record[last]
  if (cell?.endsWith('\r')) record[last] = cell.slice(0, -1)
}

const COUNTED_READ_BYTES = 1024 * 1024

/**
 * The `BAD_SOURCE` error of a record that is too long to be read. `record` is what a person calls it, such as "row 3".
 * Goes through the rest of the file once, without keeping it, to tell a long record from a quote that was never closed.
 */
export function createLongRecordError(path: string, record: string, error: RecordTooLong): SluiceError {
  return new SluiceError({
    id: 'record_too_long',
    source: path,
    record,
    ...measureRecord(error),
    maxCharacters: MAX_RECORD_CHARACTERS,
    begins: toFound(/^[^\r\n]*/.exec(error.start.slice(0, 200))?.[0] ?? ''),
  })
}

function measureRecord({ start, readText }: RecordTooLong): { characters: number; isClosed: boolean } {
  let characters = 0
  let inQuotes = false
  for (let piece: string | null = start; piece !== null; piece = readText(COUNTED_READ_BYTES)) {
    for (let index = 0; index < piece.length; index += 1) {
      const unit = piece.charCodeAt(index)
      if (unit === 0x22) inQuotes = !inQuotes
      else if (!inQuotes && (unit === 0x0a || unit === 0x0d)) {
        return { characters: characters + index, isClosed: true }
      }
    }
    characters += piece.length
  }
  return { characters, isClosed: !inQuotes }
}
