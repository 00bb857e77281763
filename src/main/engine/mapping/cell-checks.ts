import { findLostId, isOrdinaryId } from '../../../shared/mapping/changed-ids.ts'
import { isEmpty } from '../../../shared/mapping/check-mapping.ts'
import { COMPARED_FIELDS, ID_TEXT_FIELDS, isBlank } from '../../../shared/mapping/id-text.ts'
import { findColumn } from '../../../shared/mapping/match-columns.ts'
import { findPlaceholder, parseTemplate } from '../../../shared/mapping/templates.ts'
import type { FoundProblem, ProblemCause } from '../../../shared/messages/problem-messages.ts'
import {
  fieldsOf,
  type Operation,
  parseFieldName,
  REQUEST_FIELD,
} from '../../../shared/operations/operations.ts'
import type { FieldSource, Mapping } from '../../../shared/plan/plan.ts'
import { toFound } from '../../../shared/run/problem.ts'
import { toCellKinds } from './row-marks.ts'
import { findDamage } from './text-damage.ts'

/** Finds problems in the cells behind a row's fields that the request no longer shows. */
export type CheckCells = (
  row: number,
  cells: readonly string[],
  kinds: string | null,
  isAscii: boolean,
) => FoundProblem[]

interface FilledField {
  field: string
  index: number
  /** Whether the cell is content, which may be anything; ids and addresses may not. */
  isContent: boolean
  /** For an id made from more than the cell: the number of columns in its template; 0 for any other field. */
  idColumns: number
}

/** Most UTF-16 code units in a cell of Excel, which cuts longer texts. */
const SPREADSHEET_CELL_CHARACTERS = 32_767

const NO_PROBLEMS: FoundProblem[] = []

/**
 * Compiles the checks of cells: a spreadsheet error (`#N/A`) cannot fill an id or address, and is reported in
 * content; a text exactly as long as a spreadsheet allows was probably cut, and one may have been damaged
 * earlier; a number shown with fewer digits is not a reliable id. `mapping` is the resolved one.
 */
export function createCellCheck(
  operation: Operation,
  mapping: Mapping,
  columns: readonly string[],
): CheckCells {
  const filled = Object.entries(mapping).flatMap(([field, source]) => {
    const indexes = findColumns(source, columns)
    const idColumns = isPartOfId(field, source) ? indexes.length : 0
    return indexes.map(
      (index): FilledField => ({ field, index, isContent: isContent(field, operation), idColumns }),
    )
  })
  const framed = findFramed(mapping, columns)
  // Settles most rows: ASCII text that was not cut, and ids that look like ids.
  const isPlain = (cells: readonly string[]): boolean => {
    for (const { index, idColumns } of filled) {
      const cell = cells[index]
      if (cell === undefined) continue
      if (cell.length === SPREADSHEET_CELL_CHARACTERS || (idColumns > 0 && !isOrdinaryId(cell))) return false
    }
    return true
  }
  return (row, cells, kinds, isAscii) => {
    const bare = framed.length === 0 ? framed : framed.filter((one) => isBare(one, cells))
    if (bare.length === 0 && isAscii && kinds === null && isPlain(cells)) return NO_PROBLEMS
    let found = NO_PROBLEMS
    for (const { field, cause, text } of bare) {
      found = [...found, { row, severity: 'warning', field, ...cause, found: toFound(text) }]
    }
    const letters = kinds === null ? '' : toCellKinds(kinds)
    for (const { field, index, isContent: isText, idColumns } of filled) {
      const cell = cells[index] ?? ''
      if (cell.length === SPREADSHEET_CELL_CHARACTERS) {
        found = [...found, { row, severity: 'warning', code: 'cut_cell', field, found: toEnd(cell) }]
      }
      const damage = isAscii ? null : findDamage(cell)
      if (damage !== null) {
        const { as, at } = damage
        const around = toFound(cell.slice(Math.max(0, at - 20), at + 20).toWellFormed())
        found = [
          ...found,
          { row, severity: 'warning', code: 'damaged_text', args: { as }, field, found: around },
        ]
      }
      const changed =
        idColumns === 0 || letters[index] === 'e' || isOrdinaryId(cell)
          ? null
          : findChangedPart(cell, idColumns)
      if (changed !== null)
        found = [...found, { row, severity: 'warning', field, ...changed, found: toFound(cell) }]
      const as = letters[index] === 'r' ? 'shortened' : letters[index] === 't' ? 'grouped' : null
      if (as !== null && isCompared(field)) {
        const code = field === 'term' ? 'changed_value' : 'lost_id'
        found = [...found, { row, severity: 'warning', code, args: { as }, field, found: toFound(cell) }]
      }
      if (letters[index] === 'e') {
        const severity = isText ? 'warning' : 'error'
        const args = { isContent: isText }
        found = [...found, { row, severity, code: 'error_cell', args, field, found: toFound(cell) }]
      }
    }
    return found
  }
}

/** A field whose template has text of its own, so that all rows with empty columns get the same value. */
interface FramedField {
  field: string
  indexes: number[]
  cause: ProblemCause
  /** The template's text in such rows. */
  text: string
}

function isBare({ indexes }: FramedField, cells: readonly string[]): boolean {
  return indexes.every((index) => isBlank(cells[index] ?? ''))
}

const FRAMED: ReadonlySet<string> = new Set([...COMPARED_FIELDS, 'text_data', 'url'])

function findFramed(mapping: Mapping, columns: readonly string[]): FramedField[] {
  // A whole request may set the field.
  if (!isEmpty(mapping[REQUEST_FIELD.name])) return []
  return Object.entries(mapping).flatMap(([field, source]): FramedField[] => {
    const indexes = findColumns(source, columns)
    if (source.kind === 'column' || indexes.length === 0 || !FRAMED.has(field)) return []
    let isOfRow = false
    const rest = parseTemplate(source.template).map((part) => {
      if (part.kind === 'text') return part.text
      const meaning = findPlaceholder(part.name, columns)
      if (meaning?.kind === 'row') isOfRow = true
      return meaning?.kind === 'column' ? '' : `{{${part.name}}}`
    })
    const text = rest.join('')
    if (text.trim() === '' || (isOfRow && field !== 'text_data')) return []
    const isId = ID_TEXT_FIELDS.some((name) => name === field)
    const cause: ProblemCause = isId ? { code: 'lost_id', args: { as: 'missing' } } : { code: 'empty' }
    return [{ field, indexes, cause, text }]
  })
}

/** Whether a template puts cells into an id with other text; if it is just a cell, the id is checked. */
function isPartOfId(field: string, source: FieldSource): boolean {
  return (
    source.kind === 'template' &&
    ID_TEXT_FIELDS.some((name) => name === field) &&
    parseTemplate(source.template).length > 1
  )
}

/**
 * How a spreadsheet or data frame changed a cell that is part of an id. Dates and truth values may be
 * intended there, and so may a missing value next to another cell.
 */
function findChangedPart(cell: string, idColumns: number): ProblemCause | null {
  const as = findLostId(cell)
  if (as !== 'rounded' && as !== 'wrapped' && (as !== 'missing' || idColumns > 1)) return null
  return { code: 'lost_id', args: { as } }
}

/** Whether a field identifies something, so that two values that look the same should be one. */
function isCompared(field: string): boolean {
  return COMPARED_FIELDS.some((name) => name === field)
}

/** The end of a text, if it was cut. */
function toEnd(text: string): string {
  return toFound(`…${text.slice(-40).toWellFormed()}`)
}

function findColumns(source: FieldSource, columns: readonly string[]): number[] {
  if (source.kind === 'column') return [findColumn(columns, source.column) ?? -1]
  const indexes = parseTemplate(source.template).flatMap((part) => {
    const meaning = part.kind === 'placeholder' ? findPlaceholder(part.name, columns) : null
    return meaning?.kind === 'column' ? [meaning.index] : []
  })
  return [...new Set(indexes)]
}

const CONTENT = new Set(['text_data', 'notes'])

function isContent(field: string, operation: Operation): boolean {
  if (CONTENT.has(field) || parseFieldName(field, operation)?.kind === 'key') return true
  return fieldsOf(operation).some(({ name, kind }) => name === field && kind === 'json_object')
}
