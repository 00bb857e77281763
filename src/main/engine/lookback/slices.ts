import { findColumn } from '../../../shared/mapping/match-columns.ts'
import type { RunFamily } from '../journal/run-family.ts'
import { createRowMapper } from '../mapping/row-mapper.ts'
import { createFileReader, hasSeveralFiles } from '../run/journal/intake-writer.ts'
import { FOUND, FOUND_KINDS, type FoundKind } from '../run/results/journal-findings.ts'
import type { AnsweredStep } from './answered-rows.ts'
import { findColumnOrThrow } from './row-labels.ts'

interface Slice {
  /** The column of the source; null if it is not one. */
  column: number | null
  /** A function that gives the value of the row at a place. */
  open: (step: AnsweredStep) => (place: number) => string
}

/**
 * The named slices: columns of the source, names from answers and requests, such as `language`, or the file
 * of each row. Throws `BAD_USAGE` for any other name.
 */
export function createSlices(family: RunFamily, names: readonly string[]): Slice[] {
  const { columns, plan } = family.record
  return names.map((name) => {
    const at = findColumn(columns, name)
    if (at !== null) return { column: at, open: createCellReader(at) }
    const kind = FOUND_KINDS.find((found) => found === name)
    if (kind !== undefined && (kind !== 'file' || hasSeveralFiles(family.db))) {
      return { column: null, open: createFoundReader(family, kind) }
    }
    const column = findColumnOrThrow(columns, name, '--slice', plan.source.path)
    return { column, open: createCellReader(column) }
  })
}

/** Reads the cells of a column without outer white space, '' if a row has none. */
export function createCellReader(column: number): Slice['open'] {
  return (step) => {
    const cells = step.cells(column)
    return (place) => (cells[place] ?? '').trim()
  }
}

function createFoundReader(family: RunFamily, kind: FoundKind): Slice['open'] {
  const { record } = family
  const { field = '', named } = FOUND[kind]
  if (kind === 'file') {
    return (step) => {
      const toFile = createFileReader(family.db)
      return (place) => toFile?.(step.rowAt(place)) ?? ''
    }
  }
  if (named !== undefined) {
    return (step) => {
      const names = step.names(named)
      return (place) => names[place] ?? ''
    }
  }
  const mapRow = createRowMapper(record.plan, record.columns, record.runToken)
  return (step) => (place) => {
    const { cells, kinds } = step.wholeAt(place)
    const value = mapRow(step.rowAt(place), cells, kinds).body[field]
    return typeof value === 'string' ? value : ''
  }
}
