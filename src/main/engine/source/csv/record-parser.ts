import type { ParseResult } from 'papaparse'
import Papa from 'papaparse'
import { READ_BYTES, type ReadText } from '../decoding/text-reader.ts'
import { hasOpeningCurly } from './curly-quotes.ts'
import {
  type ExactRecord,
  parseRecord,
  type RecordFault,
  type RecordSyntax,
  readOpenRecord,
} from './parse-exactly.ts'
import { splitPlainRecords } from './plain-records.ts'
import { findEndOfLine } from './text-behind-quotes.ts'

/** The complete records of the text read so far. */
export interface RecordBatch {
  records: string[][]
  /** By index in `records`. */
  faults: Map<number, RecordFault>
  /** False if text contains lone surrogates, by which decoders mark undecodable bytes. */
  isWellFormed: boolean
  /** Whether text has a NUL character. */
  hasNul: boolean
  /** True only if all text is ASCII. */
  isAscii: boolean
  /** Whether text has a curly quote that may open one around a cell. */
  hasCurly: boolean
  /** Whether cells may have line breaks. */
  hasBreaks: boolean
}

interface PieceOptions extends RecordOptions {
  /** Whether no text follows the piece. */
  isEnd: boolean
}

/** What a piece of text holds. */
interface ParsedPiece {
  batch: Omit<RecordBatch, 'isAscii'>
  /** After the last whole record. */
  cursor: number
}

/** How to read records, apart from their syntax. */
export interface RecordOptions {
  readBytes?: number
  /** Cells of a record; if it has more, the last and the surplus are as in the file, quotes included. */
  width?: number | undefined
  /** Whether the escape was guessed, so that a record valid only in the other reading is a fault. */
  isEscapeGuessed?: boolean
  /** Whether all text read since the last call is ASCII (default: unknown). */
  takeIsAscii?: () => boolean
}

/** Longest record that is read, in UTF-16 code units. */
export const MAX_RECORD_CHARACTERS = 8 * 1024 * 1024

/** Most cells of a record, the limit of a spreadsheet. */
export const MAX_COLUMNS = 16_384

/** Thrown for a record over {@link MAX_RECORD_CHARACTERS} or {@link MAX_COLUMNS}. */
export class RecordTooLong extends Error {
  override readonly name = 'RecordTooLong'
  readonly over: 'characters' | 'columns'
  /** How the record begins. */
  readonly start: string

  constructor(over: 'characters' | 'columns', start: string) {
    super('a record is too long to be read')
    this.over = over
    this.start = start
  }
}

/**
 * Yields every record of a text once and in order, by papaparse in a pull loop that holds one read and one
 * unfinished record. A blank line is a record of one empty cell. Throws {@link RecordTooLong}.
 */
export function* parseRecords(
  readText: ReadText,
  syntax: RecordSyntax,
  options: RecordOptions = {},
): Generator<RecordBatch, void, undefined> {
  const { readBytes = READ_BYTES, takeIsAscii = () => false } = options
  let rest = ''
  let isRestAscii = true
  for (;;) {
    const piece = readText(rest.length > READ_BYTES ? toLongRead(rest.length) : readBytes)
    if (piece === '') continue
    if (piece === null && rest === '') return
    // At the end, add the line end that the last record may lack.
    const text = rest + (piece ?? syntax.newline)
    const isPieceAscii = takeIsAscii()
    const isAscii: boolean = isPieceAscii && isRestAscii
    const { batch: parsed, cursor } = parsePiece(text, syntax, { ...options, isEnd: piece === null })
    const batch = { ...parsed, isAscii }
    if (piece === null && cursor < text.length) {
      const { cells, hasTextBehind } = readOpenRecord(text.slice(cursor, rest.length), syntax)
      batch.faults.set(batch.records.length, hasTextBehind ? 'closed_early' : 'unclosed')
      batch.records.push(cells)
      batch.hasBreaks = true
      yield batch
      return
    }
    const tooWide = batch.records.findIndex((record) => record.length > MAX_COLUMNS)
    if (tooWide !== -1) {
      const wide = batch.records[tooWide] ?? []
      batch.records.length = tooWide
      if (tooWide > 0) yield batch
      throw new RecordTooLong('columns', wide.slice(0, 100).join(syntax.delimiter))
    }
    if (batch.records.length > 0) yield batch
    if (piece === null) return
    rest = text.slice(cursor)
    isRestAscii = isAscii || (isPieceAscii && rest.length <= piece.length)
    if (rest.length > MAX_RECORD_CHARACTERS) throw new RecordTooLong('characters', rest)
    if (rest.length > MAX_COLUMNS && isTooWide(rest, syntax)) throw new RecordTooLong('columns', rest)
  }
}

/** Doubles reads while one record spans several, so that a long one is not parsed again for every 64 KiB. */
function toLongRead(restCharacters: number): number {
  return Math.max(1, Math.min(restCharacters, MAX_RECORD_CHARACTERS + 1 - restCharacters))
}

/** Whether the beginning of a record has more cells than allowed; delimiters in quotes do not count. */
function isTooWide(text: string, { delimiter, quote }: RecordSyntax): boolean {
  if (delimiter === '') return false
  let cells = 1
  let isAtStart = true
  for (let at = 0; at < text.length && cells <= MAX_COLUMNS; at += 1) {
    const character = text[at]
    if (isAtStart && character === quote) {
      at = text.indexOf(quote, at + 1)
      while (at !== -1 && text[at + 1] === quote) at = text.indexOf(quote, at + 2)
      if (at === -1) return false
    }
    isAtStart = character === delimiter
    if (isAtStart) cells += 1
  }
  return cells > MAX_COLUMNS
}

/** Parses the records closed by a line end; the text after the cursor is an unfinished record. */
function parsePiece(text: string, syntax: RecordSyntax, options: PieceOptions): ParsedPiece {
  const { width = MAX_COLUMNS } = options
  const plain = splitPlainRecords(text, syntax, width)
  if (plain !== null) {
    const { records, cursor } = plain
    return { batch: { records, faults: new Map(), hasBreaks: false, ...judgeText(text) }, cursor }
  }
  if (needsExactness(text, syntax, options)) return parsePieceExactly(text, syntax, options)
  if (syntax.delimiter === '') return splitLines(text, syntax)
  const { delimiter, newline } = syntax
  const parsed: ParseResult<string[]> = new Papa.Parser({ delimiter, newline }).parse(text, 0, true)
  const records = parsed.data
  if (parsed.errors.some(({ code }) => code === 'InvalidQuotes')) {
    return parsePieceExactly(text, syntax, options)
  }
  // Raw text equals the cells only if nothing is quoted.
  if (text.includes('"') && records.some((record) => record.length > width)) {
    return parsePieceExactly(text, syntax, options)
  }
  if (newline === '\n' && text.includes('\r')) {
    for (const record of records) dropReturn(record)
  }
  const { cursor } = parsed.meta
  const hasBreaks = text.includes('"') && countBreaks(text, newline, cursor) > records.length
  return { batch: { records, faults: new Map(), hasBreaks, ...judgeText(text) }, cursor }
}

/** Number of line breaks before `end`, if there is only one kind. */
function countBreaks(text: string, newline: RecordSyntax['newline'], end: number): number {
  let count = 0
  for (let at = text.indexOf(newline); at !== -1 && at < end; at = text.indexOf(newline, at + 1)) count += 1
  return count
}

/** One cell per line. */
function splitLines(text: string, { newline }: RecordSyntax): ParsedPiece {
  const records = text.split(newline).map((line) => [line])
  const cursor = text.length - (records.pop()?.[0]?.length ?? 0)
  if (newline === '\n' && text.includes('\r')) {
    for (const record of records) dropReturn(record)
  }
  return { batch: { records, faults: new Map(), hasBreaks: false, ...judgeText(text) }, cursor }
}

/**
 * Whether papaparse's cells may differ from the text: if it does not know the syntax, if a quoted cell ends
 * with `\r`, which looks like part of the line end, or has white space after its closing quote, which
 * papaparse drops, or before its opening one, if a quote may be escaped, and if other line breaks may be
 * outside quotes.
 */
function needsExactness(text: string, syntax: RecordSyntax, { isEscapeGuessed }: RecordOptions): boolean {
  const { delimiter, newline, quote } = syntax
  if (syntax.escape !== '' && text.includes(syntax.escape)) return true
  if (hasOtherBreak(text, newline)) return true
  if (isEscapeGuessed === true && text.includes('\\') && ESCAPED_BREAK.test(text)) return true
  if (quote === '' || !text.includes(quote)) return delimiter !== '' && text.includes('"')
  if (quote !== '"' || delimiter === '') return true
  if (newline === '\n' && text.includes('\r"')) return true
  if (isEscapeGuessed === true && text.includes('\\"')) return true
  return hasSpacedOpening(text, syntax) || (maySpaceQuotes(text) && toSpacedQuote(syntax).test(text))
}

/** Whether a space precedes a quote that may open a cell; inside quotes it would be doubled or end it. */
function hasSpacedOpening(text: string, { delimiter, newline }: RecordSyntax): boolean {
  for (let at = text.indexOf(' "'); at !== -1; at = text.indexOf(' "', at + 1)) {
    const next = text[at + 2]
    if (next === '"' || next === delimiter || next === '\r' || next === '\n') continue
    let before = at - 1
    while (text[before] === ' ') before -= 1
    if (before < 0 || text[before] === delimiter || text[before] === newline) return true
  }
  return false
}

/** Whether white space other than a line break may follow a quote: quicker than the pattern. */
function maySpaceQuotes(text: string): boolean {
  for (let at = text.indexOf('"'); at !== -1; at = text.indexOf('"', at + 1)) {
    const code = text.charCodeAt(at + 1)
    if ((code <= 0x20 && code !== 0x0a) || code > 0x7e) return true
  }
  return false
}

/** Whether a text has line breaks that end no record, quoted or not. */
function hasOtherBreak(text: string, newline: RecordSyntax['newline']): boolean {
  return newline === '\n' ? text.includes('\r') && LONE_RETURN.test(text) : text.includes('\n')
}

/** A backslash before the end of a line. */
const ESCAPED_BREAK = /\\[\r\n]/

const LONE_RETURN = /\r(?!\n)/

const spacedQuotes = new Map<string, RegExp>()

/** A quote, then white space that is neither delimiter nor line end, then one of those. */
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

function parsePieceExactly(text: string, syntax: RecordSyntax, options: PieceOptions): ParsedPiece {
  const { width = MAX_COLUMNS, isEscapeGuessed = false, isEnd } = options
  const { quote, delimiter } = syntax
  const records: string[][] = []
  const faults = new Map<number, RecordFault>()
  let cursor = 0
  let hasEndedByLine = false
  for (;;) {
    // After the last line there is only the added line end.
    if (isEnd && hasEndedByLine && cursor === text.length - 1) cursor = text.length
    // Once a record has ended with its line, check for that first: to read each such record on would take it
    // to the end of the text.
    let record = hasEndedByLine ? null : parseRecord(text, cursor, syntax)
    if ((record === null || record.fault !== null) && options.width !== undefined) {
      const lineEnd = findEndOfLine({ text, start: cursor, isEnd }, syntax, width)
      if (lineEnd === 'not_read_yet') break
      if (lineEnd !== null) {
        hasEndedByLine = true
        faults.set(records.length, 'ended_by_line')
        records.push(readOpenRecord(withoutReturn(text.slice(cursor, lineEnd)), syntax).cells)
        cursor = lineEnd + 1
        continue
      }
    }
    record ??= parseRecord(text, cursor, syntax)
    if (record === null) break
    const { cells, fault, bounds, end } = record
    const surplus = cells.slice(width)
    if (surplus.some((cell) => cell !== '')) {
      for (let index = width - 1; index < cells.length; index += 1) {
        const isLast = index === cells.length - 1
        cells[index] = text.slice(bounds[index], (bounds[index + 1] ?? 0) - (isLast ? 0 : delimiter.length))
      }
    }
    let told: RecordFault | null =
      fault ?? (record.hasSpacedQuotes ? 'spaced' : record.hasStrayBreak ? 'stray_break' : null)
    if (isEscapeGuessed && quote !== '') {
      const raw = text.slice(cursor, end)
      if (raw.includes(`\\${quote}`) && mayBeEscaped(raw, record, syntax)) told = 'maybe_escaped'
    }
    if (told === null && isEscapeGuessed && isContinued(text, record, syntax)) told = 'maybe_continued'
    if (told !== null) faults.set(records.length, told)
    records.push(cells)
    cursor = end
  }
  return { batch: { records, faults, hasBreaks: true, ...judgeText(text) }, cursor }
}

/** Whether a record with a backslash before a quote is broken, or valid only if that is an escape. */
function mayBeEscaped(raw: string, read: ExactRecord, syntax: RecordSyntax): boolean {
  if (read.fault !== null) return true
  if (syntax.escape !== '') return false
  const other = parseRecord(raw, 0, { ...syntax, escape: '\\' })
  if (other === null || other.fault !== null || other.hasStrayQuote || other.end !== raw.length) return false
  return read.hasStrayQuote || other.cells.length !== read.cells.length
}

/** Whether a backslash before the record's line end may escape it; not in quotes, and not after another. */
function isContinued(
  text: string,
  { bounds }: ExactRecord,
  { quote, escape: escaping }: RecordSyntax,
): boolean {
  const [from = 0, to = 0] = bounds.slice(-2)
  if (escaping !== '' || (quote !== '' && text[from] === quote)) return false
  return (/\\+$/.exec(text.slice(from, to))?.[0].length ?? 0) % 2 === 1
}

/** Facts about a whole piece of text, so that not every cell must be searched. */
function judgeText(text: string): Pick<RecordBatch, 'isWellFormed' | 'hasNul' | 'hasCurly'> {
  return { isWellFormed: text.isWellFormed(), hasNul: text.includes('\0'), hasCurly: hasOpeningCurly(text) }
}

function withoutReturn(line: string): string {
  return line.endsWith('\r') ? line.slice(0, -1) : line
}

/** Removes the `\r` of a CRLF from a record's last cell. */
function dropReturn(record: string[]): void {
  const last = record.length - 1
  const cell = record[last]
  if (cell?.endsWith('\r')) record[last] = cell.slice(0, -1)
}
