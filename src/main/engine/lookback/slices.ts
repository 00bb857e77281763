import { findColumn } from '../../../shared/mapping/match-columns.ts'
import { FILE_COLUMN } from '../../../shared/run/export-columns.ts'
import type { RunFamily } from '../journal/run-family.ts'
import { createRowMapper } from '../mapping/row-mapper.ts'
import { FOUND, FOUND_KINDS, type FoundKind } from '../run/results/journal-findings.ts'
import { readTuples } from '../workspace/sqlite.ts'
import type { AnsweredStep } from './answered-rows.ts'
import { findColumnOrThrow } from './row-labels.ts'

/** What rows are grouped by. */
interface Slice {
  /** The column of the source; null if it is not one. */
  column: number | null
  /** A function that gives the value of the row at a place. */
  open: (step: AnsweredStep) => (place: number) => string
}

/**
 * The named slices: columns of the source, what answers and requests name, such as `language`, or the file of each row.
 * Throws `BAD_USAGE` for any other name.
 */
export function createSlices(family: RunFamily, names: readonly string[]): Slice[] {
  const { columns, plan } = family.record
  return names.map((name) => {
    const at = findColumn(columns, name)
    if (at !== null) return ofColumn(at)
    const kind = FOUND_KINDS.find((found) => found === name)
    if (kind !== undefined) return { column: null, open: createFoundReader(family, FOUND[kind]) }
    const files = name === FILE_COLUMN.name ? readFiles(family) : []
    if (files.length > 0) return { column: null, open: createFileReader(files) }
    return ofColumn(findColumnOrThrow(columns, name, '--slice', plan.source.path))
  })
}

function ofColumn(column: number): Slice {
  return {
    column,
    open(step) {
      const cells = step.cells(column)
      return (place) => cells[place] ?? ''
    },
  }
}

/** The files of a source with several, each with the first row that is from it, in the order of rows. */
function readFiles({ db }: RunFamily): FirstRow[] {
  return readTuples<FirstRow>(db, 'SELECT row, name FROM source_file ORDER BY row', [])
}

type FirstRow = [row: number, file: string]

function createFileReader(files: readonly FirstRow[]): Slice['open'] {
  const firstOf = (at: number) => files[at]?.[0] ?? Number.POSITIVE_INFINITY
  let at = 0
  return (step) => (place) => {
    const row = step.rowAt(place)
    if (row < firstOf(at)) at = 0
    while (firstOf(at + 1) <= row) at += 1
    return files[at]?.[1] ?? ''
  }
}

function createFoundReader(
  { record }: RunFamily,
  { field = '', named }: (typeof FOUND)[FoundKind],
): Slice['open'] {
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
