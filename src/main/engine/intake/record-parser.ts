import Papa, { type ParseConfig, type ParseError, type ParseResult } from 'papaparse'

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

/** How records are told apart. */
export interface RecordSyntax {
  delimiter: string
  /** `\n` stands for CRLF too. */
  newline: '\n' | '\r'
}

/** Where text comes from: some of it, '' where a piece of the file decodes to nothing yet, null at the end. */
export type ReadText = (sizeBytes: number) => string | null

/** Longest record that is read, in UTF-16 code units. */
export const MAX_RECORD_CHARACTERS = 8 * 1024 * 1024

/** Bytes of one read while records are shorter than that. */
export const READ_BYTES = 64 * 1024

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
    const isLast = piece === null
    const text = isLast ? rest : rest + piece
    if (text === '' && !isLast) continue
    const { batch, cursor } = parsePiece(text, syntax, isLast)
    rest = text.slice(cursor)

    const { records } = batch
    const blankLines = isLast ? 0 : countBlankLinesBefore(text, cursor, syntax.newline, records.length)
    if (records.length > blankLines) {
      records.length -= blankLines
      yield* toBlankBatches(heldBlankLines)
      yield batch
      heldBlankLines = blankLines
    } else heldBlankLines += blankLines

    if (isLast) return
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

interface ParsedPiece {
  batch: RecordBatch
  /** Behind the last whole record. */
  cursor: number
}

function parsePiece(text: string, syntax: RecordSyntax, isLast: boolean): ParsedPiece {
  const { delimiter, newline } = syntax
  // The record that the file's end closes has no line end whose `\r` could be in its last cell.
  const hasReturns = newline === '\n' && !isLast && text.includes('\r')
  if (hasReturns && text.includes('\r"')) return parseQuotedReturns(text, delimiter)
  const parsed: ParseResult<string[]> = new Papa.Parser({ delimiter, newline }).parse(text, 0, !isLast)
  const records = parsed.data
  if (hasReturns) for (const record of records) dropReturn(record)
  const quoteFaults = new Map<number, QuoteFault>()
  // Errors of a record that is not whole yet come again with the next piece.
  for (const error of parsed.errors) {
    if (error.row !== undefined && error.row < records.length) quoteFaults.set(error.row, toFault(error))
  }
  return { batch: { records, quoteFaults, isWellFormed: text.isWellFormed() }, cursor: parsed.meta.cursor }
}

/**
 * The slow way, for text in which a quoted cell ends with `\r`: record by record, because only the raw text tells
 * whether a `\r` at the end of a record's last cell belongs to the cell or to the line end.
 */
function parseQuotedReturns(text: string, delimiter: string): ParsedPiece {
  const records: string[][] = []
  const quoteFaults = new Map<number, QuoteFault>()
  let start = 0
  const step = ({ data, errors, meta }: ParseResult<string[]>): void => {
    for (const record of data) {
      const last = record.at(-1) ?? ''
      const from = meta.cursor - 1 - last.length
      // An unquoted cell stands in the text as it is, between a delimiter or the record's start and the `\n`.
      const isUnquoted =
        !last.startsWith('"') &&
        text.startsWith(last, from) &&
        (from === start || text[from - 1] === delimiter)
      if (isUnquoted) dropReturn(record)
      for (const error of errors) quoteFaults.set(records.length, toFault(error))
      records.push(record)
    }
    start = meta.cursor
  }
  // papaparse types `step` for its public parse; its Parser calls it with a list of one record.
  const config: ParseConfig = { delimiter, newline: '\n', step: step as NonNullable<ParseConfig['step']> }
  const parsed: ParseResult<string[]> = new Papa.Parser(config).parse(text, 0, true)
  return { batch: { records, quoteFaults, isWellFormed: text.isWellFormed() }, cursor: parsed.meta.cursor }
}

function dropReturn(record: string[]): void {
  const last = record.length - 1
  const cell = record[last]
  if (cell?.endsWith('\r')) record[last] = cell.slice(0, -1)
}

function toFault(error: ParseError): QuoteFault {
  return error.code === 'MissingQuotes' ? 'unclosed' : 'misplaced'
}
