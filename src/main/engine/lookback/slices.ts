import { findColumn } from '../../../shared/mapping/match-columns.ts'
import { createNameReader } from '../journal/found-reader.ts'
import type { RunFamily, RunView } from '../journal/run-family.ts'
import { createRowMapper } from '../mapping/row-mapper.ts'
import { FOUND, FOUND_KINDS, type FoundKind } from '../run/results/journal-findings.ts'
import type { AnsweredRow } from './answered-rows.ts'
import { findColumnOrThrow } from './row-labels.ts'

/** Reads the values that a row is grouped by. */
type SliceReader = (row: AnsweredRow) => string

/** A reader for each of the named slices: columns of the source, or what answers and requests name, such as `language`. */
export function createSliceReaders(family: RunFamily, names: readonly string[]): SliceReader[] {
  const { columns, plan } = family.record
  return names.map((name) => {
    const at = findColumn(columns, name)
    if (at !== null) return (row) => row.cell(at)
    const kind = FOUND_KINDS.find((found) => found === name)
    if (kind !== undefined) return createFoundReader(family, FOUND[kind])
    const missing = findColumnOrThrow(columns, name, '--slice', plan.source.path)
    return (row) => row.cell(missing)
  })
}

function createFoundReader(
  { record }: RunFamily,
  { field = '', named }: (typeof FOUND)[FoundKind],
): SliceReader {
  if (named !== undefined) return createNamedReader(named)
  const mapRow = createRowMapper(record.plan, record.columns, record.runToken)
  return ({ row, cells, kinds }) => {
    const value = mapRow(row, cells, kinds).body[field]
    return typeof value === 'string' ? value : ''
  }
}

/** Reads what the answer to a row names. */
function createNamedReader(named: 'language' | 'model'): SliceReader {
  const readers = new Map<RunView, (row: number) => string>()
  return ({ row, member }) => {
    const read = readers.get(member) ?? createReader(member, named)
    readers.set(member, read)
    return read(row)
  }
}

function createReader({ db }: RunView, named: 'language' | 'model'): (row: number) => string {
  const toNames = createNameReader(db, named)
  const find = db.prepare(`SELECT ${named} AS number FROM found WHERE row = ?`)
  return (row) => {
    const number = find.get(row)?.['number'] ?? null
    return number === null ? '' : toNames(Number(number)).join('; ')
  }
}
