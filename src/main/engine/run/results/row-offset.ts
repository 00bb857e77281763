import type { OffsetQuery } from '../../../../shared/run/results.ts'
import type { RunFamily, RunView } from '../../journal/run-family.ts'
import { listFamilyRows, toPageSource } from './family-rows.ts'
import { pickFound } from './found-rows.ts'
import { type Counted, countAll, isContiguous, isSimplePage, isUnfiltered } from './result-page.ts'
import { readJudgedFor } from './row-search.ts'

/**
 * Finds the offset of a row in the pages of a list; null if it does not match or was not read yet. If the
 * page is not simple, `counted` knows its rows.
 */
export function findOffset(family: RunFamily, query: OffsetQuery, counted?: Counted): number | null {
  if (isSimplePage(query)) return findSimple(family, query)
  const { filter, sort, row } = query
  const { index, findings } = counted ?? countAll(family, query)
  const judged = readJudgedFor(family, filter)
  if (findings !== null) {
    const wanted = sort === undefined ? { filter } : { filter, sort }
    const offset = pickFound({ index, findings, judged }, wanted).indexOf(row)
    return offset === -1 ? null : offset
  }
  const before = index.findOffset(filter, row, judged)
  return before === null || sort?.order !== 'descending' ? before : index.count(filter, judged) - 1 - before
}

function findSimple(family: RunFamily, query: OffsetQuery): number | null {
  const { filter, row } = query
  if (isUnfiltered(filter) && isContiguous(family)) return row <= family.record.rowsRead ? row - 1 : null
  const [only] = family.members
  if (only !== undefined && family.members.length === 1) return findIn(only, query)
  let offset = 0
  for (const { id } of listFamilyRows(family, filter)) {
    if (id >= row) return id === row ? offset : null
    offset += 1
  }
  return null
}

function findIn(member: RunView, { filter, row }: OffsetQuery): number | null {
  const { from, where, params, key } = toPageSource(member, filter)
  const count = (condition: string) =>
    Number(
      member.db
        .prepare(`SELECT count(*) AS rows FROM ${from} WHERE ${[...where, condition].join(' AND ')}`)
        .get(...params, row)?.['rows'],
    )
  return count(`${key} = ?`) === 0 ? null : count(`${key} > 0 AND ${key} < ?`)
}
