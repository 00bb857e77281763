import type { FoundProblem, ProblemCause } from '../../../../shared/messages/problem-messages.ts'
import { type FormulaGuard, removeFormulaGuard } from '../../../../shared/run/formula-guard.ts'
import { toFound } from '../../../../shared/run/problem.ts'
import type { CellKind, SourceRow } from '../source-reader.ts'
import { type Archive, createDamageError, createLimitError, formatCount } from './archive.ts'
import { createXmlParser } from './parse-xml.ts'
import type { SharedStrings } from './shared-strings.ts'
import {
  type ColumnRange,
  createLongRowError,
  createSheetCollector,
  MAX_ROW_CHARACTERS,
  MAX_SHEET_PART_BYTES,
  SHEET_PART,
  type SheetRow,
} from './sheet-collector.ts'
import type { Styles } from './workbook.ts'

export interface TextRow extends Omit<SheetRow, 'cells'> {
  cells: string[]
}

/** Consecutive rows in the file, and the share of the sheet's part read so far, from 0 to 1. */
export interface TextRows {
  rows: TextRow[]
  share: number
  hiddenColumns: readonly ColumnRange[]
  /** The last row that the sheet claims to have; 0 if it does not say. */
  lastRow: number
}

const ROWS_AT_ONCE = 500

const CHARACTERS_AT_ONCE = 1024 * 1024

/**
 * Yields the rows of a sheet in order, in memory that does not grow with it. The part is read to its end even
 * after the last row, to verify its checksum. Throws `BAD_SOURCE` or `DISK_FULL`.
 */
export async function* readSheetRows(
  archive: Archive,
  part: string,
  styles: Styles,
  strings: SharedStrings,
): AsyncGenerator<TextRows, void, undefined> {
  const collector = createSheetCollector(archive.path, styles)
  const parser = createXmlParser(archive.path, SHEET_PART, collector.handlers)
  const sizeBytes = Math.max(1, archive.sizeOf(part))
  let readBytes = 0
  let rows: TextRow[] = []
  let characters = 0
  let allCharacters = 0
  let isBehindBroken = false
  const manyCharacters = Math.max(MANY_CHARACTERS, MAX_RATIO * (sizeBytes + strings.sizeBytes))
  for await (const piece of archive.readPart(part, MAX_SHEET_PART_BYTES)) {
    readBytes += piece.length
    if (isBehindBroken) continue
    try {
      parser.write(piece)
    } catch (error) {
      // Damage after the rows is only reported, and costs none of them.
      if (!collector.isAtEnd()) throw error
      isBehindBroken = true
    }
    const found = collector.takeRows()
    await strings.readUpTo(findLastShared(found))
    for (const row of found) {
      const textRow = toTextRow(archive.path, row, strings)
      characters += textRow.characters
      allCharacters += textRow.characters
      if (allCharacters > manyCharacters) throw createRepeatedError(archive.path)
      rows.push(textRow.row)
    }
    if (rows.length >= ROWS_AT_ONCE || characters >= CHARACTERS_AT_ONCE) {
      yield {
        rows,
        share: readBytes / sizeBytes,
        hiddenColumns: collector.hiddenColumns,
        lastRow: collector.lastRow(),
      }
      rows = []
      characters = 0
    }
  }
  if (!collector.isAtEnd()) throw createDamageError(archive.path, 'the sheet ends before its last row')
  if (rows.length > 0)
    yield {
      rows,
      share: 1,
      hiddenColumns: collector.hiddenColumns,
      lastRow: collector.lastRow(),
    }
}

/**
 * A sheet's texts, in UTF-16 code units, are refused beyond this if they are also this many times the size of
 * its parts: it then repeats a long shared text again and again, to fill a disk.
 */
const MANY_CHARACTERS = 1024 * 1024 * 1024
const MAX_RATIO = 200

function createRepeatedError(path: string): Error {
  const limit = `${formatCount(MANY_CHARACTERS)} characters and ${MAX_RATIO} times the size of its parts`
  return createLimitError(
    path,
    `shared texts are repeated so often that the sheet comes to more than ${limit}`,
  )
}

/** The highest number of a shared text in some rows; -1 without any. */
function findLastShared(rows: readonly SheetRow[]): number {
  let last = -1
  for (const { cells } of rows) {
    for (const cell of cells) {
      if (typeof cell === 'number' && cell > last) last = cell
    }
  }
  return last
}

function toTextRow(
  path: string,
  { cells, ...row }: SheetRow,
  strings: SharedStrings,
): { row: TextRow; characters: number } {
  let characters = 0
  let { replaced } = row
  const texts = cells.map((cell) => {
    const text = typeof cell === 'number' ? strings.get(cell) : cell
    if (typeof cell === 'number' && strings.isReplaced(cell)) replaced ??= text
    characters += text.length
    if (characters > MAX_ROW_CHARACTERS) throw createLongRowError(path, row.number)
    return text
  })
  return { row: { ...row, replaced, cells: texts }, characters }
}

export interface SheetExpectation {
  /** Least number of cells in a row. */
  width: number
  /** The formula guard of our own CSV export, which is removed from cells; null if they have none. */
  guard: FormulaGuard | null
}

/** Turns a sheet's row, whose last non-empty cell is number `filled`, into a row of the source. */
export function toSourceRow(
  row: number,
  sheetRow: TextRow,
  filled: number,
  { width, guard }: SheetExpectation,
): SourceRow {
  const { formulaWithoutValue, imprecise, replaced } = sheetRow
  const cells = sheetRow.cells.slice(0, filled)
  while (cells.length < width) cells.push('')
  const problems: FoundProblem[] = []
  const warn = (cause: ProblemCause, found: string) =>
    problems.push({ row, severity: 'warning', ...cause, found: toFound(found) })
  if (filled > width) {
    warn({ code: 'ragged_row', args: { cells: width, than: 'first_rows' } }, `${filled} cells`)
  }
  if (formulaWithoutValue !== null) warn({ code: 'formula_without_value' }, formulaWithoutValue)
  if (replaced !== null) warn({ code: 'undecodable_bytes', args: { encoding: null } }, replaced)
  for (const found of new Set(imprecise)) warn({ code: 'number_precision' }, found)
  return {
    row,
    ...toKinds(cells.length, sheetRow),
    cells: guard === null ? cells : cells.map((cell) => removeFormulaGuard(cell, guard)),
    problems,
  }
}

function toKinds(count: number, { errors, shortened, grouped }: TextRow): Pick<SourceRow, 'kinds'> {
  if (errors === null && shortened === null && grouped === null) return {}
  const kinds = Array<CellKind>(count).fill('s')
  for (const column of shortened ?? []) kinds[column] = 'r'
  for (const column of grouped ?? []) kinds[column] = 't'
  for (const column of errors ?? []) kinds[column] = 'e'
  return { kinds: kinds.join('') }
}
