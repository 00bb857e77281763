import { removeFormulaGuard } from '../../../../shared/run/export-format.ts'
import { type Problem, toFound } from '../../../../shared/run/problem.ts'
import { replaceUndecodable } from '../decoding/text-decoder.ts'
import type { SourceRow } from '../source-reader.ts'
import type { QuoteFault, RecordBatch } from './record-parser.ts'

/** What rows of a source are held against. */
export interface RowExpectation {
  /** Cells that a row should have. */
  cells: number
  /** Whether that is the header's number, or what most of the first rows have. */
  cellsBy: 'header' | 'usual'
  encoding: string
  /** Whether cells carry the formula guard of our own export, which is then taken off. */
  isGuarded: boolean
}

/** Turns one record into a row, with what is wrong with it; the cells keep their text. */
export function toSourceRow(
  row: number,
  cells: string[],
  batch: RecordBatch,
  index: number,
  expectation: RowExpectation,
): SourceRow {
  const problems: Problem[] = []
  if (cells.length !== expectation.cells) problems.push(toRaggedProblem(row, cells, expectation))
  if (!batch.isWellFormed) {
    const problem = replaceUndecodable(row, cells, expectation.encoding)
    if (problem !== null) problems.push(problem)
  }
  const fault = batch.quoteFaults.size === 0 ? undefined : batch.quoteFaults.get(index)
  if (fault !== undefined) problems.push(toQuoteProblem(row, cells, fault))
  if (expectation.isGuarded) {
    for (let cell = 0; cell < cells.length; cell += 1) cells[cell] = removeFormulaGuard(cells[cell] ?? '')
  }
  return { row, cells, problems }
}

function toRaggedProblem(row: number, cells: readonly string[], expectation: RowExpectation): Problem {
  const reason = expectation.cellsBy === 'header' ? 'as the header has' : 'as most rows have'
  const isBlank = cells.length === 1 && cells[0] === ''
  return {
    row,
    severity: 'warning',
    code: 'ragged_row',
    message: `must have ${expectation.cells} ${expectation.cells === 1 ? 'cell' : 'cells'}, ${reason}`,
    found: isBlank ? 'a blank line' : `${cells.length} ${cells.length === 1 ? 'cell' : 'cells'}`,
  }
}

/** A quote that takes in line breaks may have swallowed rows, so such a row is not sent. */
function toQuoteProblem(row: number, cells: readonly string[], fault: QuoteFault): Problem {
  const lines = cells.reduce((sum, cell) => sum + (cell.match(/\r\n|[\r\n]/g)?.length ?? 0), 0)
  const suspect =
    cells.find((cell) => /[\r\n]/.test(cell)) ??
    cells.find((cell) => cell.includes('"')) ??
    cells.at(-1) ??
    ''
  const message =
    fault === 'unclosed'
      ? 'must close the quote that it opens; everything up to the end of the file is in this row'
      : lines > 0
        ? 'must double the quotes inside a quoted cell; rows that follow may have become part of this one'
        : 'must double the quotes inside a quoted cell; the cell is read as it stands'
  return {
    row,
    severity: fault === 'unclosed' || lines > 0 ? 'error' : 'warning',
    code: 'broken_quotes',
    message,
    found: lines === 0 ? toFound(suspect) : `${toFound(suspect)} (${lines + 1} lines in one row)`,
  }
}

/** Leaves out the first records of a text, such as the lines above a header. */
export function* dropRecords(
  batches: Iterable<RecordBatch>,
  count: number,
): Generator<RecordBatch, void, undefined> {
  let left = count
  for (const batch of batches) {
    if (left >= batch.records.length) {
      left -= batch.records.length
      continue
    }
    yield left === 0 ? batch : dropFirst(batch, left)
    left = 0
  }
}

function dropFirst({ records, quoteFaults, isWellFormed }: RecordBatch, count: number): RecordBatch {
  const faults = [...quoteFaults].filter(([index]) => index >= count)
  return {
    records: records.slice(count),
    quoteFaults: new Map(faults.map(([index, fault]) => [index - count, fault])),
    isWellFormed,
  }
}
