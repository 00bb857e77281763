import { findColumn } from '../../../shared/mapping/match-columns.ts'
import { SluiceError } from '../../../shared/messages/errors.ts'
import { parseRowNumber, type SourcePlace, toRowNumber } from '../../../shared/plan/source-place.ts'
import type { RunFamily } from '../journal/run-family.ts'
import { readRowsByNumber } from '../run/export/export-rows.ts'
import { readPlaces } from '../run/results/row-places.ts'
import { findRecords, toSeveral } from '../run/results/typed-rows.ts'

export interface RowNaming {
  /**
   * `record`: by record number; `row`: by spreadsheet row; `either`: unclear, since versions up to 0.2 wrote
   * record numbers into the column that now has spreadsheet rows.
   */
  kind: 'record' | 'row' | 'either'
  column: string
  at: number
  /** Columns that identify the row in another way, for comparison; null without one. */
  rowAt: number | null
  postIdAt: number | null
}

/** A row of a file that names one of a run. */
export interface NamingRow {
  /** Where it stands in the file. */
  place: SourcePlace
  cells: readonly string[]
}

/** The record of a named row, or why there is none: the run lacks it, or the name is wrong. */
export type NamedRow = number | { kind: 'missing' | 'wrong'; reason: string }

/** Columns that our earlier versions wrote after `sluice_row`, and that files made by people hardly have. */
const WRITTEN_BY_US = ['sluice_state', 'sluice_post_id', 'sluice_given_at', 'sluice_stratum']

/** Finds the columns by which a file names rows; null if there are none. */
export function findRowNaming(columns: readonly string[]): RowNaming | null {
  const has = (name: string) => findColumn(columns, name) !== null
  const toNaming = (kind: RowNaming['kind'], column: string, rowColumn?: string): RowNaming | null => {
    const at = findColumn(columns, column)
    if (at === null) return null
    const rowAt = rowColumn === undefined ? null : findColumn(columns, rowColumn)
    return { kind, column, at, rowAt, postIdAt: findColumn(columns, 'sluice_post_id') }
  }
  if (has('sluice_record')) return toNaming('record', 'sluice_record', 'sluice_row')
  if (has('sluice_row')) {
    return toNaming(WRITTEN_BY_US.some(has) ? 'record' : 'either', 'sluice_row')
  }
  // A row of our JSON Lines exports.
  if (has('exchange_in_record')) return toNaming('record', 'record', 'row')
  return toNaming(has('exchange_in_row') ? 'record' : 'row', 'row')
}

/**
 * The record of each named row of a run, or why there is none. Throws `BAD_SOURCE` if the numbers may be
 * those of records or of a spreadsheet and these mean different rows.
 */
export function findNamedRows(
  family: RunFamily,
  file: string,
  naming: RowNaming,
  rows: readonly NamingRow[],
): NamedRow[] {
  const texts = rows.map(({ cells }) => (cells[naming.at] ?? '').trim())
  if (naming.kind === 'row') return findByRow(family, naming, texts)
  if (naming.kind === 'either') {
    const byRow = findByRow(family, naming, texts)
    if (texts.some((text, index) => text !== '' && String(byRow[index]) !== text)) {
      throw new SluiceError({ id: 'row_column_unclear', file, column: naming.column })
    }
    return byRow
  }
  return findByRecord(family, naming, texts, rows)
}

function findByRow(family: RunFamily, { column }: RowNaming, texts: readonly string[]): NamedRow[] {
  const typed = texts.map((text) => ({ text, row: 0, half: null, file: null, ...parseRowNumber(text) }))
  return findRecords(family, typed).map(({ typed: { text, row }, records }) => {
    const [record, other] = records
    if (row === 0) return toUnread(text, `${column} is not a row number such as 17 or 4a`)
    if (record === undefined) return { kind: 'missing', reason: `the run has no row ${text}` }
    return other === undefined ? record : { kind: 'wrong', reason: toSeveral(family, text, records).message }
  })
}

function findByRecord(
  family: RunFamily,
  { column, rowAt, postIdAt }: RowNaming,
  texts: readonly string[],
  rows: readonly NamingRow[],
): NamedRow[] {
  const records = texts.map(Number)
  const isRecord = (record: number) => Number.isSafeInteger(record) && record > 0
  const known = [...new Set(records.filter(isRecord))]
  const places = rowAt === null ? null : readPlaces(family, known)
  const postIds = postIdAt === null ? null : readPostIds(family, known)
  const read = (index: number, at: number | null) =>
    at === null ? '' : (rows[index]?.cells[at] ?? '').trim()
  return records.map((record, index) => {
    if (!isRecord(record)) return toUnread(texts[index] ?? '', `${column} is not a record number`)
    const place = places?.get(record)
    const row = read(index, rowAt)
    if (place !== undefined && row !== '' && row !== String(toRowNumber(place))) {
      const found = `record ${record} of the run is row ${toRowNumber(place)}`
      return { kind: 'wrong', reason: `sluice_row is ${row}, but ${found}` }
    }
    const postId = postIds?.get(record) ?? ''
    const named = read(index, postIdAt)
    if (postId !== '' && named !== '' && named !== postId.trim()) {
      const found = `record ${record} of the run has \`${postId}\``
      return { kind: 'wrong', reason: `sluice_post_id is \`${named}\`, but ${found}` }
    }
    return record
  })
}

function toUnread(text: string, reason: string): NamedRow {
  return { kind: text === '' ? 'missing' : 'wrong', reason }
}

function readPostIds(family: RunFamily, records: readonly number[]): ReadonlyMap<number, string> {
  const postIds = new Map<number, string>()
  for (const page of readRowsByNumber(family, records, { withRequests: false, withAnswers: false })) {
    for (const { row, postId } of page) if (postId !== null) postIds.set(row, postId)
  }
  return postIds
}
