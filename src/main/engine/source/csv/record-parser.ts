import Papa, { type ParseResult } from 'papaparse'
import { READ_BYTES, type ReadText } from '../decoding/text-reader.ts'
import { dropReturn, needsRawText, parseStepwise } from './stepwise-parser.ts'

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
export interface ParsedPiece {
  batch: RecordBatch
  /** Behind the last whole record. */
  cursor: number
}

/** Longest record that is read, in UTF-16 code units. */
export const MAX_RECORD_CHARACTERS = 8 * 1024 * 1024

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
