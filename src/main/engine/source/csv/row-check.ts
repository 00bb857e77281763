import type { FoundProblem } from '../../../../shared/messages/problem-messages.ts'
import { type FormulaGuard, removeFormulaGuard } from '../../../../shared/run/formula-guard.ts'
import { toFound } from '../../../../shared/run/problem.ts'
import { replaceUndecodable } from '../decoding/text-reader.ts'
import { isLetterOrDigit } from '../first-character.ts'
import type { FindRepeatedHeader } from '../repeated-header.ts'
import type { SourceRow } from '../source-reader.ts'
import { isCutInCurly } from './curly-quotes.ts'
import type { Dialect } from './dialect.ts'
import { parseRecord, type RecordFault } from './parse-exactly.ts'
import type { RecordBatch } from './record-parser.ts'
import { findTakenInRow } from './taken-in-rows.ts'

/** What rows of a source are checked against. */
export interface RowExpectation {
  /** Number of cells that a row should have. */
  cells: number
  /** Number of cells up to the last named column; all without a header. */
  named: number
  /** Whether that is the header's number, or the usual one among the first rows. */
  cellsBy: 'header' | 'usual'
  dialect: Dialect
  encoding: string
  /** The formula guard of our own export, which is removed from cells; null if they have none. */
  guard: FormulaGuard | null
  /** Whether each record is one quoted cell that contains a record of several cells. */
  isInQuotes: boolean
  findRepeatedHeader: FindRepeatedHeader | null
}

interface ReadRecord {
  row: number
  /** The line of the file in which it begins. */
  line: number
  /** Whether its cells have line breaks. */
  hasBreaks: boolean
  cells: string[]
  batch: RecordBatch
  /** In the batch. */
  index: number
}

/** Turns a record into a row with its problems; the cells keep their text. */
export function toSourceRow(
  { row, line, hasBreaks, cells, batch, index }: ReadRecord,
  expectation: RowExpectation,
): SourceRow {
  const problems: FoundProblem[] = []
  const fault = batch.faults.size === 0 ? undefined : batch.faults.get(index)
  if (cells.length !== expectation.cells || expectation.isInQuotes) {
    problems.push(toLengthProblem(row, cells, expectation, fault !== undefined))
  }
  const isMiscounted = cells.length !== expectation.cells
  if (
    batch.hasCurly &&
    isCutInCurly(cells, isMiscounted) &&
    !problems.some(({ severity }) => severity === 'error')
  ) {
    problems.push({
      row,
      severity: 'warning',
      code: 'curly_quotes',
      found: toFound(cells.join(expectation.dialect.delimiter)),
    })
  }
  if (expectation.named < expectation.cells) problems.push(...findUnnamed(row, cells, expectation))
  if (!batch.isWellFormed) {
    const problem = replaceUndecodable(row, cells, expectation.encoding)
    if (problem !== null) problems.push(problem)
  }
  if (fault === 'stray_break') problems.push(toBreakProblem(row, cells))
  else if (fault === 'maybe_continued') {
    problems.push({
      row,
      severity: 'warning',
      code: 'escaped_line_break',
      found: toFound(cells.at(-1) ?? ''),
    })
  } else if (fault !== undefined) problems.push(toQuoteProblem(row, cells, fault, expectation.dialect))
  else if (hasBreaks && expectation.dialect.quoteBy !== 'given') {
    problems.push(...findTakenIn(row, cells, expectation))
  }
  const { guard } = expectation
  if (guard !== null) {
    for (let cell = 0; cell < cells.length; cell += 1)
      cells[cell] = removeFormulaGuard(cells[cell] ?? '', guard)
  }
  const repeated = expectation.findRepeatedHeader?.(row, cells)
  if (repeated != null) problems.push(repeated)
  else if (expectation.cells > 1 && isDrawnLine(cells)) {
    problems.push({ row, severity: 'error', code: 'drawn_line', found: toFound(cells.join(' | ')) })
  }
  if (batch.hasNul) problems.push(...findNuls(row, line, cells))
  return { row, cells, problems }
}

const DRAWN = /^\s*[:|+┼]*[-=_─━═]{2}[-=_─━═:|+┼]*\s*$/

/** Whether a row is a line that programs draw below a header or around a table. */
function isDrawnLine(cells: readonly string[]): boolean {
  const [first = ''] = cells
  if (isLetterOrDigit(first.charCodeAt(0))) return false
  if (!DRAWN.test(first)) return first === '' && cells.length > 2 && isDrawnLine(cells.slice(1))
  const filled = cells.filter((cell) => cell !== '')
  return filled.every((cell) => DRAWN.test(cell)) && (filled.length > 1 || /[+|┼]/.test(first))
}

/** Text has no NUL characters: bytes were lost, or the file is not text. */
export function findNuls(row: number, line: number, cells: readonly string[]): FoundProblem[] {
  const before = cells.findIndex((cell) => cell.includes('\0'))
  const cell = cells[before]
  if (cell === undefined) return []
  const at = cell.indexOf('\0')
  const text = [...cells.slice(0, before), cell.slice(0, at)].join('')
  const details = { line: line + (text.match(/\r\n|[\r\n]/g)?.length ?? 0) }
  const found = toFound(
    cell
      .slice(Math.max(0, at - 20), at + 20)
      .toWellFormed()
      .replaceAll('\0', '␀'),
  )
  return [{ row, severity: 'error', code: 'nul_character', args: { character: 'NUL' }, details, found }]
}

/** A row with text beyond the columns would lose it. */
function toLengthProblem(
  row: number,
  cells: readonly string[],
  { cells: count, named, cellsBy, dialect, isInQuotes }: RowExpectation,
  isBroken: boolean,
): FoundProblem {
  const [only = ''] = cells
  const isWhole = cells.length === 1 && !isBroken && countInnerCells(only, dialect.delimiter) === count
  if (isInQuotes || isWhole) {
    return { row, severity: 'error', code: 'record_in_quotes', found: toFound(only) }
  }
  const args = { cells: count, than: cellsBy }
  if (cells.slice(count).some((cell) => cell !== '')) {
    const { delimiter } = dialect
    const found = toFound(cells.slice(named).join(delimiter))
    return {
      row,
      severity: 'error',
      code: 'surplus_cells',
      args: {
        ...args,
        cells: named,
        delimiter,
        ...(isCutInCurly(cells, true) && { in: 'curly_quotes' as const }),
      },
      details: { places: listPlaces(named, cells.length) },
      found,
    }
  }
  const found = `${cells.length} ${cells.length === 1 ? 'cell' : 'cells'}`
  return { row, severity: 'warning', code: 'ragged_row', args, found }
}

/**
 * Text beyond the last named column may be the rest of a text that the delimiter cut. It is lost unless a
 * mapping uses it.
 */
function findUnnamed(
  row: number,
  cells: readonly string[],
  { cells: count, named, dialect: { delimiter } }: RowExpectation,
): FoundProblem[] {
  const hasText = (from: number, to?: number) => cells.slice(from, to).some((cell) => cell !== '')
  // With text in surplus cells, the row is an error anyway.
  if (!hasText(named, count) || hasText(count)) return []
  const behind = cells.slice(named, count)
  const args = { cells: named, than: 'names' as const, delimiter }
  const details = { places: listPlaces(named, count) }
  return [
    {
      row,
      severity: 'warning',
      code: 'surplus_cells',
      args,
      details,
      found: toFound(behind.join(delimiter)),
    },
  ]
}

/** The index of the last cell with a column, and those of the cells after it. */
function listPlaces(named: number, cells: number): number[] {
  return Array.from({ length: cells - named + 1 }, (_, index) => named - 1 + index)
}

/** Number of cells in a cell read as a record. */
export function countInnerCells(cell: string, delimiter: string): number {
  if (!cell.includes(delimiter)) return 1
  return parseRecord(`${cell}\n`, 0, { delimiter, newline: '\n', quote: '"', escape: '' })?.cells.length ?? 1
}

/** Other programs begin a row after such a line break, so this row may be several. */
function toBreakProblem(row: number, cells: readonly string[]): FoundProblem {
  const found = toFound(cells.find((cell) => /[\r\n]/.test(cell)) ?? '')
  return { row, severity: 'warning', code: 'stray_line_break', found }
}

/** Several words, even in scripts that do not separate them. */
const PROSE =
  /\S\s+\S|[、。！？]|[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmr}\p{sc=Mymr}]{6}/u

/**
 * Whether a record may be the rest of the one before: it begins with several words, or without a digit where
 * that one begins with an id, and completes its cells or has no other delimiters than the commas of a text.
 */
export function mayContinue(cells: readonly string[], before: readonly string[], count: number): boolean {
  const isFull = cells.length >= count
  const isSpaced = ([, second = '']: readonly string[]) => second.startsWith(' ')
  if (count < 2 || before.length < 2 || before.length > count || (isFull && !isSpaced(cells))) return false
  const [first = ''] = cells
  const [id = ''] = before
  if (id === '' || PROSE.test(id) || (before.at(-1) ?? '') === '') return false
  const isProse = PROSE.test(first)
  if (isProse && cells.slice(1).every((cell) => cell.startsWith(' ')) && !isSpaced(before)) return true
  // Programs that omit trailing empty cells also write rows of names, which have no date or number there.
  const isWord = first !== '' && /\d/.test(id) && !/\d/.test(first) && /\d/.test(cells.slice(1).at(-1) ?? '')
  return !isFull && before.length + cells.length - 1 === count && (isProse || isWord)
}

/** The problem of one of two rows that may be one, cut by a line break outside quotes. */
export function toCutProblem(row: number, next: readonly string[]): FoundProblem {
  return { row, severity: 'warning', code: 'cut_by_line_break', found: toFound(next[0] ?? '') }
}

/** A quoted cell with lines that look like rows has probably absorbed them. */
function findTakenIn(
  row: number,
  cells: readonly string[],
  { cells: count, dialect: { delimiter } }: RowExpectation,
): FoundProblem[] {
  const found = findTakenInRow(cells, count, delimiter)
  if (found === null) return []
  const args = { effect: 'looks_like_rows' } as const
  return [{ row, severity: 'error', code: 'broken_quotes', args, found: toFound(found) }]
}

/** A quote that encloses line breaks may have absorbed rows, so such a row is not sent. */
function toQuoteProblem(
  row: number,
  cells: readonly string[],
  fault: Exclude<RecordFault, 'stray_break' | 'maybe_continued'>,
  { quote }: Dialect,
): FoundProblem {
  const isToEnd = fault === 'unclosed' || fault === 'closed_early'
  const ended = isToEnd
    ? [...cells.slice(0, -1), (cells.at(-1) ?? '').replace(/(?:\r\n|[\r\n])$/, '')]
    : cells
  const lines = ended.reduce((sum, cell) => sum + (cell.match(/\r\n|[\r\n]/g)?.length ?? 0), 0)
  const suspect =
    ended.find((cell) => /[\r\n]/.test(cell)) ??
    ended.find((cell) => cell.includes(quote)) ??
    ended.at(-1) ??
    ''
  const effects = {
    unclosed: lines > 0 ? 'never_closed' : 'open_in_line',
    closed_early: lines > 0 ? 'text_behind_to_end' : 'text_behind',
    ended_by_line: 'text_behind',
    maybe_escaped: 'may_be_escaped',
    spaced: 'space_before',
    misplaced: lines > 0 ? 'may_take_in_rows' : 'read_as_is',
  } as const
  const effect = effects[fault]
  return {
    row,
    severity: effect === 'read_as_is' ? 'warning' : 'error',
    code: 'broken_quotes',
    args: { effect },
    found: lines === 0 ? toFound(suspect) : `${toFound(suspect)} (${lines + 1} lines in one row)`,
  }
}
