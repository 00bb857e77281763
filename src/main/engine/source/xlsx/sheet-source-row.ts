import { removeFormulaGuard } from '../../../../shared/run/export-format.ts'
import { type Problem, toFound } from '../../../../shared/run/problem.ts'
import type { SourceRow } from '../source-reader.ts'
import type { TextRow } from './sheet-batches.ts'

/** What rows of a sheet are held against. */
export interface SheetExpectation {
  /** Cells that a row has at least. */
  width: number
  /** Whether cells carry the formula guard of our own CSV export, which is then taken off. */
  isGuarded: boolean
}

/** Turns a sheet's row, of which `filled` cells reach up to the last that is not empty, into a row of the source. */
export function toSourceRow(
  row: number,
  sheetRow: TextRow,
  filled: number,
  { width, isGuarded }: SheetExpectation,
): SourceRow {
  const { formulaWithoutValue, imprecise } = sheetRow
  const cells = sheetRow.cells.slice(0, filled)
  while (cells.length < width) cells.push('')
  const problems: Problem[] = []
  const warn = (code: Problem['code'], message: string, found: string) =>
    problems.push({ row, severity: 'warning', code, message, found: toFound(found) })
  if (filled > width)
    warn('ragged_row', `must have at most ${width} cells, as the first rows`, `${filled} cells`)
  if (formulaWithoutValue !== null) {
    const message = 'must have a calculated value; the cell is read as empty'
    warn('formula_without_value', message, formulaWithoutValue)
  }
  if (imprecise !== null) {
    const message = 'must be text where it has more than 15 digits; a spreadsheet changes the rest'
    warn('number_precision', message, imprecise)
  }
  return { row, cells: isGuarded ? cells.map(removeFormulaGuard) : cells, problems }
}
