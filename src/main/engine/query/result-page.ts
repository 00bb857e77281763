import { toErrorGroups } from '../../../shared/error-groups.ts'
import { NO_RULE, type PageQuery, type ResultPage, type RowFilter } from '../../../shared/results.ts'
import type { DatabaseSync } from '../journal/sqlite-types.ts'
import { toPageSource, UNSUCCESSFUL } from './page-source.ts'
import { createResultRows, JOINED_COLUMNS, type JoinedRow } from './result-rows.ts'
import { RowIndex } from './row-index.ts'
import { readFacetCounts, summarizeCounts } from './run-summary.ts'
import type { RunView } from './run-view.ts'

/** Most rows of a page. */
export const PAGE_MAX = 500

/** So many causes of errors are surely counted apart, each with its code. */
const ERROR_GROUPS_CERTAIN = 100

/** Whether the journal's own counters and indexes count and page a filter: it narrows by one thing, and by no text. */
export function isSimple({ ruleIds = [], search = '', cause, ...others }: RowFilter): boolean {
  if (search !== '' || cause !== undefined || ruleIds.length > 1 || ruleIds[0] === NO_RULE) return false
  return ruleIds.length + Object.values(others).filter((value) => value !== undefined).length <= 1
}

/**
 * Reads one page of results (design §2: results only by page). No read stays open behind it. Where the filter is not
 * simple, `index` knows its rows; it may still be growing, `isCounted` says whether.
 */
export function readPage(
  view: RunView,
  query: PageQuery,
  counted?: { index: RowIndex; isCounted: boolean },
): ResultPage {
  const { filter } = query
  const limit = Math.min(PAGE_MAX, Math.max(0, Math.trunc(query.limit)))
  const toResult = createResultRows(view)
  if (isSimple(filter)) {
    const rows = selectRows(view, { ...query, limit })
    return { rows: rows.map(toResult), total: countRows(view, filter), isCounted: true }
  }
  const { index, isCounted } = counted ?? {
    index: RowIndex.build(view, filter.search),
    isCounted: true,
  }
  const rows = selectPicked(view, index.pick(filter, query.offset, limit))
  return { rows: rows.map(toResult), total: index.count(filter), isCounted }
}

/** Reads every row that matches, page by page in the order of the source, as the journal has it. */
export function* readJoinedPages(view: RunView, filter: RowFilter): Generator<JoinedRow[]> {
  if (!isSimple(filter)) return yield* readPicked(view, filter)
  const { from, where, params, key } = toPageSource(view, filter)
  const sql = `SELECT ${JOINED_COLUMNS} FROM ${from}
    WHERE ${[...where, `${key} > ?`].join(' AND ')} ORDER BY ${key} LIMIT ${PAGE_MAX}`
  let after = 0
  for (;;) {
    const rows = view.db.prepare(sql).all(...params, after) as unknown as JoinedRow[]
    const last = rows.at(-1)
    if (last === undefined) return
    after = Number(last.id)
    yield rows
  }
}

function* readPicked(view: RunView, filter: RowFilter): Generator<JoinedRow[]> {
  const index = RowIndex.build(view, filter.search)
  for (let offset = 0; ; offset += PAGE_MAX) {
    const picked = index.pick(filter, offset, PAGE_MAX)
    if (picked.length === 0) return
    yield selectPicked(view, picked)
  }
}

function selectRows(view: RunView, page: PageQuery): JoinedRow[] {
  const { from, where, params, key } = toPageSource(view, page.filter)
  // Without a filter the offset is the row number itself, unless rows are missing, as in a child run.
  const isDense = where.length === 0 && isContiguous(view)
  const [after, skip] = isDense ? [page.offset, 0] : [0, page.offset]
  const sql = `SELECT ${JOINED_COLUMNS} FROM ${from}
    WHERE ${[...where, `${key} > ?`].join(' AND ')} ORDER BY ${key} LIMIT ? OFFSET ?`
  return view.db.prepare(sql).all(...params, after, page.limit, skip) as unknown as JoinedRow[]
}

function selectPicked({ db }: RunView, rows: readonly number[]): JoinedRow[] {
  return db
    .prepare(
      `SELECT ${JOINED_COLUMNS} FROM row LEFT JOIN result ON result.row = row.id
       WHERE row.id IN (SELECT value FROM json_each(?)) ORDER BY row.id`,
    )
    .all(JSON.stringify(rows)) as unknown as JoinedRow[]
}

/** How many rows match a simple filter. */
function countRows(view: RunView, { state, unsuccessful, ruleIds, errorCode, answer }: RowFilter): number {
  const { db, record } = view
  const facet = (kind: string, value: string) =>
    Number(db.prepare('SELECT n FROM facet WHERE kind = ? AND value = ?').get(kind, value)?.['n'] ?? 0)
  const [ruleId] = ruleIds ?? []
  if (ruleId !== undefined) return facet('rule', ruleId)
  if (answer !== undefined) return facet('answer', answer)
  if (errorCode !== undefined) return countErrors(db, errorCode)
  if (state === undefined && !unsuccessful) return record.rowsRead
  const states = countStates(view)
  if (state !== undefined) return states.get(state) ?? 0
  return [...UNSUCCESSFUL, 'invalid'].reduce((sum, name) => sum + (states.get(name) ?? 0), 0)
}

/** Rows by the state they are shown in, from the counters. */
export function countStates(view: RunView): Map<string, number> {
  const counts = readFacetCounts(view.db)
  const { read, not_sent, awaiting, ...rows } = summarizeCounts(view, counts).rows
  const states = counts.get('state') ?? new Map<string, number>()
  const { record, isCutOff } = view
  const unclaimed = read - rows.invalid - record.claimedRows + (states.get('pending') ?? 0)
  // A load test marks no rows; what a dead process had in flight is unknown.
  const pending =
    isCutOff || record.plan.load !== undefined ? not_sent : Math.max(0, Math.min(not_sent, unclaimed))
  return new Map(Object.entries({ ...rows, pending, sending: not_sent - pending, acknowledged: awaiting }))
}

function countErrors(db: DatabaseSync, errorCode: string): number {
  const groups = toErrorGroups(readFacetCounts(db).get('error') ?? new Map())
  // Where there are very many causes, some are counted together, without their codes.
  if (groups.length < ERROR_GROUPS_CERTAIN) {
    return groups.reduce((sum, group) => sum + (group.error_code === errorCode ? group.rows : 0), 0)
  }
  const states = UNSUCCESSFUL.map((state) => `'${state}'`).join(', ')
  const counted = db
    .prepare(`SELECT count(*) AS n FROM result WHERE error_code = ? AND state IN (${states})`)
    .get(errorCode)
  return Number(counted?.['n'])
}

function isContiguous({ db, record }: RunView): boolean {
  return Number(db.prepare('SELECT max(id) AS id FROM row').get()?.['id'] ?? 0) === record.rowsRead
}
