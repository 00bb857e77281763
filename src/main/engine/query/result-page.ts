import { toErrorGroups } from '../../../shared/error-groups.ts'
import type { PageQuery, ResultPage, ResultRow, RowFilter } from '../../../shared/results.ts'
import type { DatabaseSync, SQLInputValue } from '../journal/sqlite-types.ts'
import { type PageSource, toPageSource, UNSUCCESSFUL } from './page-source.ts'
import { createResultRows, JOINED_COLUMNS, type JoinedRow } from './result-rows.ts'
import { readFacetCounts, summarizeCounts } from './run-summary.ts'
import type { RunView } from './run-view.ts'

/** Most rows of a page. */
export const PAGE_MAX = 500

/** So many causes of errors are surely counted apart, each with its code. */
const ERROR_GROUPS_CERTAIN = 100

/** Reads one page of results (design §2: results only by page). No read stays open behind it. */
export function readPage(view: RunView, query: PageQuery): ResultPage {
  const limit = Math.min(PAGE_MAX, Math.max(0, Math.trunc(query.limit)))
  const rows = selectRows(view, toPageSource(view, query.filter), { ...query, limit })
  return { rows: createResultRows(view, rows), total: countRows(view, query.filter) }
}

/** Reads every row that matches, page by page in the order of the source: what an export is written from. */
export function* readAllPages(view: RunView, filter: RowFilter): Generator<ResultRow[]> {
  const source = toPageSource(view, filter)
  let after = 0
  for (;;) {
    const { sql, params } = toSql(source, filter, 'LIMIT ?', [after, PAGE_MAX])
    const rows = view.db.prepare(sql).all(...params) as unknown as JoinedRow[]
    const last = rows.at(-1)
    if (last === undefined) return
    after = Number(last.id)
    yield createResultRows(view, rows)
  }
}

function selectRows(view: RunView, source: PageSource, page: PageQuery): JoinedRow[] {
  // Without a filter the offset is the row number itself, unless rows are missing, as in a child run.
  const isDense = Object.values(page.filter).every((value) => value === undefined) && isContiguous(view)
  const after = isDense ? page.offset : 0
  const skip = isDense ? 0 : page.offset
  const { sql, params } = toSql(source, page.filter, 'LIMIT ? OFFSET ?', [after, page.limit, skip])
  return view.db.prepare(sql).all(...params) as unknown as JoinedRow[]
}

function toSql(
  source: PageSource,
  filter: RowFilter,
  limit: string,
  [after, ...rest]: [number, ...number[]],
): { sql: string; params: SQLInputValue[] } {
  const where = [...source.where, `${source.key} > ?`]
  const params: SQLInputValue[] = [...source.params, after]
  if (filter.search !== undefined && filter.search !== '') {
    // The cells' JSON tells cheaply where there is nothing; its own commas, brackets and escapes are no matches.
    where.push("row.cells LIKE ? ESCAPE '\\'")
    where.push("EXISTS (SELECT 1 FROM json_each(row.cells) WHERE value LIKE ? ESCAPE '\\')")
    params.push(toLikePattern(JSON.stringify(filter.search).slice(1, -1)), toLikePattern(filter.search))
  }
  return {
    sql: `SELECT ${JOINED_COLUMNS} FROM ${source.from} WHERE ${where.join(' AND ')} ORDER BY ${source.key} ${limit}`,
    params: [...params, ...rest],
  }
}

/** How many rows match, from the counters; null where only a scan could tell. */
function countRows(view: RunView, filter: RowFilter): number | null {
  const { db, record, isCutOff } = view
  const { state, ruleId, errorCode, answer, search } = filter
  if (search !== undefined && search !== '') return null
  const facet = (kind: string, value: string) =>
    Number(db.prepare('SELECT n FROM facet WHERE kind = ? AND value = ?').get(kind, value)?.['n'] ?? 0)
  if (answer !== undefined) {
    const isAlone = [state, ruleId, errorCode, filter.unsuccessful].every((other) => other === undefined)
    return isAlone ? facet('answer', answer) : null
  }
  if (ruleId === undefined && errorCode === undefined) {
    if (state === undefined && !filter.unsuccessful) return record.rowsRead
    if (state === 'pending' || state === 'sending') return null
    // What a dead process left unsettled is counted as unknown.
    const { unknown } = isCutOff ? summarizeCounts(view, readFacetCounts(db)).rows : { unknown: null }
    const count = (name: string) => (name === 'unknown' ? unknown : null) ?? facet('state', name)
    if (!filter.unsuccessful) return count(state ?? '')
    return [...UNSUCCESSFUL, 'invalid'].reduce((sum, name) => sum + count(name), 0)
  }
  if (filter.unsuccessful) return null
  if (ruleId !== undefined && errorCode === undefined && state === undefined) return facet('rule', ruleId)
  if (ruleId === undefined && errorCode !== undefined && state === undefined) {
    return countErrors(db, errorCode)
  }
  return null
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

function toLikePattern(text: string): string {
  return `%${text.replaceAll(/[\\%_]/g, '\\$&')}%`
}
