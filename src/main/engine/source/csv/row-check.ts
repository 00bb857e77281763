import type { FoundProblem } from '../../../../shared/messages/problem-messages.ts'
import { removeFormulaGuard } from '../../../../shared/run/formula-guard.ts'
import { toFound } from '../../../../shared/run/problem.ts'
import { replaceUndecodable } from '../decoding/text-reader.ts'
import type { FindRepeatedHeader } from '../repeated-header.ts'
import type { SourceRow } from '../source-reader.ts'
import type { Dialect } from './dialect.ts'
import { parseRecord, type QuoteFault } from './parse-exactly.ts'
import type { RecordBatch } from './record-parser.ts'

/** What rows of a source are held against. */
export interface RowExpectation {
  /** Cells that a row should have. */
  cells: number
  /** Whether that is the header's number, or what most of the first rows have. */
  cellsBy: 'header' | 'usual'
  dialect: Dialect
  encoding: string
  /** Whether cells carry the formula guard of our own export, which is then taken off. */
  isGuarded: boolean
  /** Whether each record is one cell in quotes that has a record of several cells in it. */
  isInQuotes: boolean
  findRepeatedHeader: FindRepeatedHeader | null
}

/** A record, and where it is. */
interface ReadRecord {
  row: number
  /** The line of the file that it begins in. */
  line: number
  cells: string[]
  batch: RecordBatch
  /** In the batch. */
  index: number
}

/** Turns one record into a row, with what is wrong with it; the cells keep their text. */
export function toSourceRow(
  { row, line, cells, batch, index }: ReadRecord,
  expectation: RowExpectation,
): SourceRow {
  const problems: FoundProblem[] = []
  const fault = batch.quoteFaults.size === 0 ? undefined : batch.quoteFaults.get(index)
  if (cells.length !== expectation.cells || expectation.isInQuotes) {
    problems.push(toLengthProblem(row, cells, expectation, fault !== undefined))
  }
  if (!batch.isWellFormed) {
    const problem = replaceUndecodable(row, cells, expectation.encoding)
    if (problem !== null) problems.push(problem)
  }
  if (fault !== undefined) problems.push(toQuoteProblem(row, cells, fault, expectation.dialect))
  if (expectation.isGuarded) {
    for (let cell = 0; cell < cells.length; cell += 1) cells[cell] = removeFormulaGuard(cells[cell] ?? '')
  }
  const repeated = expectation.findRepeatedHeader?.(row, cells)
  if (repeated != null) problems.push(repeated)
  if (batch.hasNul) problems.push(...findNuls(row, line, cells))
  return { row, cells, problems }
}

/** Text has no NUL characters: bytes were lost, or the file is no text. */
function findNuls(row: number, line: number, cells: readonly string[]): FoundProblem[] {
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

/** A row that has text where no column is would lose it. */
function toLengthProblem(
  row: number,
  cells: readonly string[],
  { cells: count, cellsBy, dialect, isInQuotes }: RowExpectation,
  isBroken: boolean,
): FoundProblem {
  const [only = ''] = cells
  const isWhole = cells.length === 1 && !isBroken && countInnerCells(only, dialect.delimiter) === count
  if (isInQuotes || isWhole) {
    return { row, severity: 'error', code: 'record_in_quotes', found: toFound(only) }
  }
  const args = { cells: count, than: cellsBy }
  const surplus = cells.slice(count)
  if (surplus.some((cell) => cell !== '')) {
    const { delimiter } = dialect
    const found = toFound(surplus.join(delimiter))
    return { row, severity: 'error', code: 'surplus_cells', args: { ...args, delimiter }, found }
  }
  const found = `${cells.length} ${cells.length === 1 ? 'cell' : 'cells'}`
  return { row, severity: 'warning', code: 'ragged_row', args, found }
}

/** How many cells a cell would be if it were a record. */
export function countInnerCells(cell: string, delimiter: string): number {
  if (!cell.includes(delimiter)) return 1
  return parseRecord(`${cell}\n`, 0, { delimiter, newline: '\n', quote: '"', escape: '' })?.cells.length ?? 1
}

/** A quote that takes in line breaks may have swallowed rows, so such a row is not sent. */
function toQuoteProblem(
  row: number,
  cells: readonly string[],
  fault: QuoteFault,
  { quote }: Dialect,
): FoundProblem {
  const lines = cells.reduce((sum, cell) => sum + (cell.match(/\r\n|[\r\n]/g)?.length ?? 0), 0)
  const suspect =
    cells.find((cell) => /[\r\n]/.test(cell)) ??
    cells.find((cell) => cell.includes(quote)) ??
    cells.at(-1) ??
    ''
  const effects = {
    unclosed: 'never_closed',
    maybe_escaped: 'may_be_escaped',
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
