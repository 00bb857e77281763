import { OPERATIONS, type Operation } from '../../../shared/operations/operations.ts'
import { parseCells } from '../journal/stored-cells.ts'
import type { MapRow } from '../mapping/row-mapper.ts'
import type { HasOtherRow } from '../service/echoes.ts'
import type { DatabaseSync } from '../workspace/sqlite.ts'

/** Longest time for searching the cells of all rows in a run, milliseconds, all ids together. */
const SEARCH_MAX_MS = 2_000

/** Most numbers in an id tried as row numbers, and most rows checked for one id. */
const NUMBERS_MAX = 5
const ROWS_MAX = 50

/**
 * Searches the journal for the row that an id belongs to, by the unique field of the run's requests. Called
 * only for ids that an answer should not name: no ids of a run are kept. A row is found by a number in the
 * id, as in those that Sluice makes, or by a cell equal to the id; ids that a template or a fix made from
 * other text are not found.
 */
export function createRowSearch(db: DatabaseSync, operation: Operation, mapRow: MapRow): HasOtherRow {
  const field = OPERATIONS[operation.kind].echoes.find(({ isUnique }) => isUnique)?.field
  if (field === undefined) return () => false
  const columns = 'SELECT id, cells, kinds FROM row WHERE item IS NOT NULL'
  const byNumber = db.prepare(`${columns} AND id = ?`)
  const byCells = db.prepare(`${columns} AND instr(cells, ?) > 0 LIMIT ${ROWS_MAX}`)
  let leftMs = SEARCH_MAX_MS
  return (id) => {
    const isOf = (row: Record<string, unknown> | undefined): boolean => {
      if (row === undefined) return false
      const kinds = typeof row['kinds'] === 'string' ? row['kinds'] : null
      return mapRow(Number(row['id']), parseCells(String(row['cells'])), kinds).body[field] === id
    }
    const numbers = (id.match(/\d{1,15}/g) ?? []).slice(-NUMBERS_MAX)
    if (numbers.some((number) => isOf(byNumber.get(Number(number))))) return true
    if (leftMs <= 0) return false
    const startMs = performance.now()
    const isFound = byCells.all(JSON.stringify(id)).some(isOf)
    leftMs -= performance.now() - startMs
    return isFound
  }
}
