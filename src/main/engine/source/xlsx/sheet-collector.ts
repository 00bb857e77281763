import { SluiceError } from '../../../../shared/messages/errors.ts'
import { createDamageError, createLimitError, formatCount } from './archive.ts'
import { MAX_COLUMNS, MAX_ROWS, readColumn, toLetters } from './cell-ranges.ts'
import {
  type LinkFormula,
  MAX_FORMULA_CHARACTERS,
  moveLinkFormula,
  parseLinkFormula,
} from './link-formula.ts'
import { hasThousands, isBeyondPrecision, losesDigits, toSerial } from './number-text.ts'
import { decodeEscapes, type XmlHandlers } from './parse-xml.ts'
import { isTrue, type Styles } from './workbook.ts'

/** Largest part of a sheet that is read, bytes. */
export const MAX_SHEET_PART_BYTES = 32 * 1024 * 1024 * 1024

/** Most elements of a sheet: about five for each cell that it may have. */
export const MAX_SHEET_ELEMENTS = 1_000_000_000

/** Parts of a sheet that affect rows. */
export const SHEET_PART = {
  name: 'the sheet',
  maxElements: MAX_SHEET_ELEMENTS,
  shape: {
    worksheet: {
      dimension: {},
      cols: { col: {} },
      sheetData: { row: { c: { f: {}, v: {}, is: { t: {}, r: { t: {} } } } } },
    },
  },
}

export interface SheetRow {
  /** 1-based, as a spreadsheet shows it. */
  number: number
  /** Whether a filter or a person hid it. */
  isHidden: boolean
  /** Texts, and numbers of shared texts; '' for a cell missing from the file. */
  cells: (string | number)[]
  /** Reference of the first formula without a value, such as `C5`. */
  formulaWithoutValue: string | null
  /** Whole numbers with more digits than a spreadsheet keeps, as read; null for none. */
  imprecise: string[] | null
  /** Columns of error cells, from 0; null for none. */
  errors: number[] | null
  /** The first text with half a character, which was replaced by U+FFFD. */
  replaced: string | null
  /** Formulas that give their cells a link; null for none. */
  links: { column: number; formula: LinkFormula }[] | null
  /** Columns of numbers shown differently than stored; null for none. */
  formatted: number[] | null
  /** Columns of numbers shown with fewer digits than they have; null for none. */
  shortened: number[] | null
  /** Columns of numbers shown with thousands separators; null for none. */
  grouped: number[] | null
}

/** A range of columns, inclusive, from 0. */
export interface ColumnRange {
  first: number
  last: number
}

/** Collects the rows of a sheet's part while it is parsed. */
export interface SheetCollector {
  handlers: XmlHandlers
  /** The columns hidden by the sheet, known before the first row. */
  hiddenColumns: readonly ColumnRange[]
  /** The last row that the sheet claims to have; 0 if it does not say. */
  lastRow: () => number
  /** Takes the complete rows. */
  takeRows(): SheetRow[]
  isAtEnd(): boolean
}

/** Longest row that is read, in UTF-16 code units. */
export const MAX_ROW_CHARACTERS = 8 * 1024 * 1024

/** Most pieces of a cell's text, as in rich text; Excel keeps 32,767 characters. */
export const MAX_TEXT_PIECES = 100_000

/** The `BAD_SOURCE` error of a row over {@link MAX_ROW_CHARACTERS}. */
export function createLongRowError(path: string, number: number): Error {
  return new SluiceError({
    id: 'sheet_row_too_long',
    source: path,
    row: number,
    maxCharacters: MAX_ROW_CHARACTERS,
  })
}

/** A collector for one sheet. Its handlers throw `BAD_SOURCE` for rows or cells outside any sheet. */
export function createSheetCollector(path: string, styles: Styles): SheetCollector {
  const hiddenColumns: ColumnRange[] = []
  let lastRow = 0
  let rows: SheetRow[] = []
  let row: SheetRow | null = null
  /** The last closed row: some programs write an element for each cell of a row. */
  let held: SheetRow | null = null
  let lastNumber = 0
  /** 1 if the file counts its rows from 0. */
  let shift = 0
  let column = -1
  let isAtEnd = false
  let isTextWanted = false
  /** Whether text belongs to a cell's own rich text rather than its value. */
  let isInline = false
  /** Whether text belongs to a cell's formula. */
  let isFormula = false
  let cell = { reference: '', type: '', style: 0, hasFormula: false, formula: '', shared: '' }
  /** The formulas shared by other cells, by number. */
  const sharedLinks = new Map<string, { formula: LinkFormula; row: number; column: number }>()
  let text = ''
  let inlineText = ''
  let textPieces = 0
  let characters = 0

  const openColumns = ({ min, max, hidden, width }: Record<string, string>): void => {
    const isHidden = isTrue(hidden) || (width !== undefined && Number(width) === 0)
    if (!isHidden || hiddenColumns.length === MAX_COLUMNS) return
    hiddenColumns.push({ first: Number(min) - 1, last: Number(max) - 1 })
  }

  const openRow = ({ r: given, hidden, ht }: Record<string, string>): void => {
    const isZero = Number(given) === 0
    if (isZero && lastNumber === 0) shift = 1
    const number = given === undefined || isZero ? lastNumber + 1 : Number(given) + shift
    if (number === held?.number) {
      row = held
      held = null
      return
    }
    if (!Number.isInteger(number) || number <= lastNumber || number > MAX_ROWS) {
      throw createDamageError(path, `row ${given} follows row ${lastNumber}`)
    }
    takeHeld()
    lastNumber = number
    column = -1
    characters = 0
    const isHidden = isTrue(hidden) || (ht !== undefined && Number(ht) === 0)
    row = {
      number,
      isHidden,
      cells: [],
      formulaWithoutValue: null,
      imprecise: null,
      errors: null,
      replaced: null,
      links: null,
      formatted: null,
      shortened: null,
      grouped: null,
    }
  }

  const takeHeld = (): void => {
    if (held !== null) rows.push(held)
    held = null
  }

  const openCell = (attributes: Record<string, string>): void => {
    const { r: reference = '', t: type = 'n', s: style = '0' } = attributes
    column = reference === '' ? column + 1 : readColumn(reference)
    if (column < 0 || column >= MAX_COLUMNS) {
      throw createDamageError(path, `row ${lastNumber} has a cell ${JSON.stringify(reference.slice(0, 20))}`)
    }
    cell = { reference, type, style: Number(style), hasFormula: false, formula: '', shared: '' }
    text = ''
    inlineText = ''
    textPieces = 0
  }

  const addText = (piece: string): void => {
    if (isFormula) {
      if (cell.formula.length < MAX_FORMULA_CHARACTERS) cell.formula += piece
      return
    }
    if (isInline) inlineText += piece
    else text += piece
    textPieces += 1
    if (text.length + inlineText.length > MAX_ROW_CHARACTERS) throw createLongRowError(path, lastNumber)
    if (textPieces > MAX_TEXT_PIECES) {
      const limit = `a cell of more than ${formatCount(MAX_TEXT_PIECES)} pieces of text`
      throw createLimitError(path, `row ${lastNumber} of the sheet has ${limit}`)
    }
  }

  const addLink = (): void => {
    const { formula: text, shared } = cell
    const own = text === '' ? null : parseLinkFormula(text)
    if (own !== null && shared !== '') sharedLinks.set(shared, { formula: own, row: lastNumber, column })
    const first = text === '' && shared !== '' ? sharedLinks.get(shared) : undefined
    const formula =
      first === undefined
        ? own
        : moveLinkFormula(first.formula, lastNumber - first.row, column - first.column)
    if (row === null || formula === null) return
    row.links ??= []
    row.links.push({ column, formula })
  }

  const closeCell = (): void => {
    if (row === null) return
    if (cell.hasFormula) addLink()
    // A cell has one or the other; if a program wrote both, its type decides.
    if (cell.type === 'inlineStr' ? inlineText !== '' : text === '') text = inlineText
    if (cell.hasFormula && text === '' && cell.type !== 'str') row.formulaWithoutValue ??= cell.reference
    const content = toContent()
    if (content === '') return
    characters += text.length
    if (characters > MAX_ROW_CHARACTERS) {
      throw createLongRowError(path, lastNumber)
    }
    if ((row.cells[column] ?? '') !== '') {
      throw createDamageError(path, `row ${lastNumber} has the cell ${JSON.stringify(cell.reference)} twice`)
    }
    while (row.cells.length < column) row.cells.push('')
    row.cells[column] = content
    if (cell.type === 'e') {
      row.errors ??= []
      row.errors.push(column)
    }
  }

  const toContent = (): string | number => {
    switch (cell.type) {
      case 's':
        return text === '' ? '' : Number(text)
      case 'str':
      case 'inlineStr':
        return toWellFormed(decodeEscapes(text))
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

  const toWellFormed = (decoded: string): string => {
    if (decoded.isWellFormed()) return decoded
    const replaced = decoded.toWellFormed()
    if (row !== null) row.replaced ??= replaced
    return replaced
  }

  const toNumber = (literal: string): string => {
    if (literal === '') return ''
    const { toText, isDate } = styles.toNumberFormat(cell.style)
    const shown = toText(literal)
    if (isBeyondPrecision(literal) && row !== null) {
      row.imprecise ??= []
      row.imprecise.push(shown)
    }
    if (shown !== literal && row !== null) {
      row.formatted ??= []
      row.formatted.push(column)
      if (!isDate && losesDigits(literal, shown)) {
        row.shortened ??= []
        row.shortened.push(column)
      } else if (!isDate && hasThousands(shown)) {
        row.grouped ??= []
        row.grouped.push(column)
      }
    }
    return shown
  }

  return {
    handlers: {
      open(name, attributes) {
        isInline = name === 't'
        isFormula = name === 'f'
        isTextWanted = isInline || isFormula || name === 'v'
        if (name === 'c') openCell(attributes)
        else if (name === 'row') openRow(attributes)
        else if (name === 'f') {
          cell.hasFormula = true
          cell.shared = attributes['t'] === 'shared' ? (attributes['si'] ?? '') : ''
        } else if (name === 'col') openColumns(attributes)
        else if (name === 'dimension') lastRow = Number(/\d+$/.exec(attributes['ref'] ?? '')?.[0] ?? 0)
      },
      text(part) {
        if (isTextWanted) addText(part)
      },
      close(name) {
        isTextWanted = false
        if (name === 'c') closeCell()
        else if (name === 'row' && row !== null) {
          held = row
          row = null
        } else if (name === 'sheetData') {
          takeHeld()
          isAtEnd = true
        }
      },
    },
    hiddenColumns,
    lastRow: () => lastRow,
    takeRows() {
      const taken = rows
      rows = []
      return taken
    },
    isAtEnd: () => isAtEnd,
  }
}

/** The letters of the columns in these ranges below `count`: `B to D, H`; '' for none. */
export function nameColumns(ranges: readonly ColumnRange[], count: number): string {
  const joined: ColumnRange[] = []
  for (const { first, last } of ranges.toSorted((a, b) => a.first - b.first)) {
    if (!(first < count && last >= first)) continue
    const before = joined.at(-1)
    if (before !== undefined && first <= before.last + 1) before.last = Math.max(before.last, last)
    else joined.push({ first, last })
  }
  const names = joined.map((range) => {
    const last = Math.min(range.last, count - 1)
    const first = toLetters(range.first)
    return last === range.first ? first : `${first} to ${toLetters(last)}`
  })
  return names.length > MAX_NAMED ? `${names.slice(0, MAX_NAMED).join(', ')}, …` : names.join(', ')
}

const MAX_NAMED = 10
