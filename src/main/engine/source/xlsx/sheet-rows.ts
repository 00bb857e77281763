import { SluiceError } from '../../../../shared/messages/errors.ts'
import type { FoundProblem, ProblemCause } from '../../../../shared/messages/problem-messages.ts'
import { removeFormulaGuard } from '../../../../shared/run/formula-guard.ts'
import { toFound } from '../../../../shared/run/problem.ts'
import type { SourceRow } from '../source-reader.ts'
import { type Archive, createDamageError, createLimitError, formatCount } from './archive.ts'
import { isBeyondPrecision, toSerial } from './number-text.ts'
import { createXmlParser, decodeEscapes, type XmlHandlers } from './parse-xml.ts'
import type { SharedStrings } from './shared-strings.ts'
import type { Styles } from './workbook.ts'

/** A row of a sheet whose cells are all text. */
export interface TextRow extends Omit<SheetRow, 'cells'> {
  cells: string[]
}

/** Consecutive rows that the file has, and which share of the sheet's part was read, from 0 to 1. */
export interface TextRows {
  rows: TextRow[]
  share: number
}

/** Largest part of a sheet that is read, bytes. */
const MAX_PART_BYTES = 32 * 1024 * 1024 * 1024

/** About five for each of the cells that a sheet may come to. */
const PART = {
  name: 'the sheet',
  maxElements: 1_000_000_000,
  shape: { worksheet: { sheetData: { row: { c: { f: {}, v: {}, is: { t: {}, r: { t: {} } } } } } } },
}

const ROWS_AT_ONCE = 500

const CHARACTERS_AT_ONCE = 1024 * 1024

/**
 * Yields the rows of a sheet in order, in memory that does not grow with it. The part is read to its end even behind
 * the last row, so that its checksum is known to fit. Throws `BAD_SOURCE` or `DISK_FULL`.
 */
export async function* readSheetRows(
  archive: Archive,
  part: string,
  styles: Styles,
  strings: SharedStrings,
): AsyncGenerator<TextRows, void, undefined> {
  const collector = createSheetCollector(archive.path, styles)
  const parser = createXmlParser(archive.path, PART, collector.handlers)
  const sizeBytes = Math.max(1, archive.sizeOf(part))
  let readBytes = 0
  let rows: TextRow[] = []
  let characters = 0
  for await (const piece of archive.readPart(part, MAX_PART_BYTES)) {
    readBytes += piece.length
    if (collector.isAtEnd()) continue
    parser.write(piece)
    const found = collector.takeRows()
    await strings.readUpTo(findLastShared(found))
    for (const row of found) {
      const textRow = toTextRow(archive.path, row, strings)
      characters += textRow.characters
      rows.push(textRow.row)
    }
    if (rows.length >= ROWS_AT_ONCE || characters >= CHARACTERS_AT_ONCE) {
      yield { rows, share: readBytes / sizeBytes }
      rows = []
      characters = 0
    }
  }
  if (!collector.isAtEnd()) throw createDamageError(archive.path, 'the sheet ends before its last row')
  if (rows.length > 0) yield { rows, share: 1 }
}

/** The highest number of a shared text in some rows; -1 without one. */
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
  const texts = cells.map((cell) => {
    const text = typeof cell === 'number' ? strings.get(cell) : cell
    characters += text.length
    if (characters > MAX_ROW_CHARACTERS) throw createLongRowError(path, row.number)
    return text
  })
  return { row: { ...row, cells: texts }, characters }
}

/** One row of a sheet that the file has. */
interface SheetRow {
  /** 1-based, as a spreadsheet shows it. */
  number: number
  /** Texts, and numbers of shared texts; a cell that the file leaves out is ''. */
  cells: (string | number)[]
  /** Reference of the first formula without a value, such as `C5`. */
  formulaWithoutValue: string | null
  /** The first whole number with more digits than a spreadsheet keeps. */
  imprecise: string | null
}

/** Collects the rows of a sheet's part while it is parsed. */
interface SheetCollector {
  handlers: XmlHandlers
  /** The rows that are complete, which it then forgets. */
  takeRows(): SheetRow[]
  isAtEnd(): boolean
}

/** Longest row that is read, in UTF-16 code units. */
export const MAX_ROW_CHARACTERS = 8 * 1024 * 1024

/** Most pieces that the text of a cell is put together from, as rich text is; Excel keeps 32,767 characters. */
export const MAX_TEXT_PIECES = 100_000

/** The `BAD_SOURCE` error of a row over {@link MAX_ROW_CHARACTERS}. */
function createLongRowError(path: string, number: number): Error {
  return new SluiceError({
    id: 'sheet_row_too_long',
    source: path,
    row: number,
    maxCharacters: MAX_ROW_CHARACTERS,
  })
}

/** A collector for one sheet. Its handlers throw `BAD_SOURCE` for rows or cells in places that no sheet has. */
function createSheetCollector(path: string, styles: Styles): SheetCollector {
  let rows: SheetRow[] = []
  let row: SheetRow | null = null
  let lastNumber = 0
  let column = -1
  let isAtEnd = false
  let isTextWanted = false
  let cell = { reference: '', type: '', style: 0, hasFormula: false }
  let text = ''
  let textPieces = 0
  let characters = 0

  const openRow = (given: string | undefined): void => {
    const number = given === undefined ? lastNumber + 1 : Number(given)
    if (!Number.isInteger(number) || number <= lastNumber || number > MAX_ROWS) {
      throw createDamageError(path, `row ${given} follows row ${lastNumber}`)
    }
    lastNumber = number
    column = -1
    characters = 0
    row = { number, cells: [], formulaWithoutValue: null, imprecise: null }
  }

  const openCell = (attributes: Record<string, string>): void => {
    const { r: reference = '', t: type = 'n', s: style = '0' } = attributes
    column = reference === '' ? column + 1 : readColumn(reference)
    if (column < 0 || column >= MAX_COLUMNS) {
      throw createDamageError(path, `row ${lastNumber} has a cell ${JSON.stringify(reference.slice(0, 20))}`)
    }
    cell = { reference, type, style: Number(style), hasFormula: false }
    text = ''
    textPieces = 0
  }

  const addText = (piece: string): void => {
    text += piece
    textPieces += 1
    if (text.length > MAX_ROW_CHARACTERS) throw createLongRowError(path, lastNumber)
    if (textPieces > MAX_TEXT_PIECES) {
      const limit = `a cell of more than ${formatCount(MAX_TEXT_PIECES)} pieces of text`
      throw createLimitError(path, `row ${lastNumber} of the sheet has ${limit}`)
    }
  }

  const closeCell = (): void => {
    if (row === null) return
    if (cell.hasFormula && text === '' && cell.type !== 'str') row.formulaWithoutValue ??= cell.reference
    const content = toContent()
    if (content === '') return
    characters += text.length
    if (characters > MAX_ROW_CHARACTERS) {
      throw createLongRowError(path, lastNumber)
    }
    while (row.cells.length < column) row.cells.push('')
    row.cells[column] = content
  }

  const toContent = (): string | number => {
    switch (cell.type) {
      case 's':
        return text === '' ? '' : Number(text)
      case 'str':
      case 'inlineStr':
        return decodeEscapes(text).toWellFormed()
      case 'b':
        return text === '' ? '' : text === '0' || text === 'false' ? 'FALSE' : 'TRUE'
      case 'e':
        return text
      case 'd':
        return toNumber(toSerial(text, styles.is1904))
      default:
        return toNumber(text)
    }
  }

  const toNumber = (literal: string): string => {
    if (literal === '') return ''
    if (isBeyondPrecision(literal) && row !== null) row.imprecise ??= literal
    return styles.toNumberText(cell.style)(literal)
  }

  return {
    handlers: {
      open(name, attributes) {
        isTextWanted = name === 'v' || name === 't'
        if (name === 'c') openCell(attributes)
        else if (name === 'row') openRow(attributes['r'])
        else if (name === 'f') cell.hasFormula = true
      },
      text(part) {
        if (isTextWanted) addText(part)
      },
      close(name) {
        isTextWanted = false
        if (name === 'c') closeCell()
        else if (name === 'row' && row !== null) {
          rows.push(row)
          row = null
        } else if (name === 'sheetData') isAtEnd = true
      },
    },
    takeRows() {
      const taken = rows
      rows = []
      return taken
    },
    isAtEnd: () => isAtEnd,
  }
}

/** Most columns of a sheet. */
const MAX_COLUMNS = 16_384

/** Most rows of a sheet. */
const MAX_ROWS = 1_048_576

/** The column of a reference such as `AB12`, from 0; -1 where it is none. */
function readColumn(reference: string): number {
  let column = 0
  let at = 0
  for (; at < reference.length; at += 1) {
    const letter = (reference.charCodeAt(at) | 0x20) - 0x61
    if (letter < 0 || letter > 25) break
    column = column * 26 + letter + 1
  }
  return at === 0 || at > 3 ? -1 : column - 1
}

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
  const problems: FoundProblem[] = []
  const warn = (cause: ProblemCause, found: string) =>
    problems.push({ row, severity: 'warning', ...cause, found: toFound(found) })
  if (filled > width) {
    warn({ code: 'ragged_row', args: { cells: width, than: 'first_rows' } }, `${filled} cells`)
  }
  if (formulaWithoutValue !== null) warn({ code: 'formula_without_value' }, formulaWithoutValue)
  if (imprecise !== null) warn({ code: 'number_precision' }, imprecise)
  return { row, cells: isGuarded ? cells.map(removeFormulaGuard) : cells, problems }
}
