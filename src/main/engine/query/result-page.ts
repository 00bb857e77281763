import type { PageQuery, ResultPage, ResultRow, RowFilter } from '../../../shared/results.ts'
import type { RunRecord } from '../journal/run-record.ts'
import type { SQLInputValue } from '../journal/sqlite-types.ts'
import { createResultRows, type JoinedRow } from './result-rows.ts'
import type { RunView } from './run-view.ts'

/** Most rows of a page. */
export const PAGE_MAX = 500

/** States of items that ended without success. */
const UNSUCCESSFUL = ['rejected', 'failed', 'unknown', 'overdue']

/** Where the rows that match a filter are found, so that SQLite walks the shortest index and never sorts. */
interface PageSource {
  from: string
  where: string[]
  params: SQLInputValue[]
  /** What the rows are ordered by; ascends with the row number. */
  key: string
}

const COLUMNS = `row.id, row.cells, row.item, result.state, result.attempts, result.status, result.error_code,
  result.message, result.task_id, result.duration_us`

/** Reads one page of results (design §2: results only by page). No read stays open behind it. */
export function readPage(view: RunView, query: PageQuery): ResultPage {
  const limit = Math.min(PAGE_MAX, Math.max(0, Math.trunc(query.limit)))
  const rows = selectRows(view, toSource(query.filter, view.record), { ...query, limit })
  return { rows: createResultRows(view, rows), total: countRows(view, query.filter) }
}

/** Reads every row that matches, page by page in the order of the source: what an export is written from. */
export function* readAllPages(view: RunView, filter: RowFilter): Generator<ResultRow[]> {
  const source = toSource(filter, view.record)
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
    where.push("row.cells LIKE ? ESCAPE '\\'")
    params.push(`%${toLikePattern(filter.search)}%`)
  }
  return {
    sql: `SELECT ${COLUMNS} FROM ${source.from} WHERE ${where.join(' AND ')} ORDER BY ${source.key} ${limit}`,
    params: [...params, ...rest],
  }
}

function toSource(filter: RowFilter, record: RunRecord): PageSource {
  const { state, ruleId, errorCode } = filter
  const where: string[] = []
  const params: SQLInputValue[] = []
  if (ruleId !== undefined) {
    where.push('item_rule.rule = (SELECT id FROM rule WHERE rule_id = ?)')
    params.push(ruleId)
    narrowByResult(where, params, filter)
    const from = `item_rule CROSS JOIN result ON result.item = item_rule.item
      CROSS JOIN row ON row.id = item_rule.item`
    return { from, where, params, key: 'item_rule.item' }
  }
  if (errorCode !== undefined) {
    narrowByResult(where, params, filter)
    const from = 'result INDEXED BY result_by_error CROSS JOIN row ON row.id = result.item'
    return { from, where, params, key: 'result.item' }
  }
  if (filter.unsuccessful) {
    const invalid = 'SELECT id FROM row INDEXED BY row_invalid WHERE item IS NULL'
    const settled = `SELECT item FROM result INDEXED BY result_by_state
      WHERE state IN (${UNSUCCESSFUL.map((name) => `'${name}'`).join(', ')})`
    const from = 'row LEFT JOIN result ON result.item = row.item'
    return { from, where: [`row.id IN (${invalid} UNION ALL ${settled})`], params, key: 'row.id' }
  }
  if (state === undefined) {
    return { from: 'row LEFT JOIN result ON result.item = row.item', where, params, key: 'row.id' }
  }
  if (state === 'invalid') {
    const from = 'row INDEXED BY row_invalid LEFT JOIN result ON result.item = row.item'
    return { from, where: ['row.item IS NULL'], params, key: 'row.id' }
  }
  if (state === 'pending' || state === 'sending') {
    // What was never tried has no result: it stands above the watermark, or is in flight just below it.
    const isOpen = state === 'pending' ? 'row.id > ?' : 'row.id <= ? AND row.id > ? - 10000'
    const claims = state === 'pending' ? [record.claimed] : [record.claimed, record.claimed]
    return {
      from: 'row LEFT JOIN result ON result.item = row.item',
      where: [
        `row.id IN (SELECT item FROM result WHERE state = ? UNION ALL
          SELECT row.id FROM row WHERE ${isOpen} AND item IS NOT NULL)`,
        '(result.state IS NULL OR result.state = ?)',
      ],
      params: [state, ...claims, state],
      key: 'row.id',
    }
  }
  const from = 'result INDEXED BY result_by_state CROSS JOIN row ON row.id = result.item'
  return { from, where: ['result.state = ?'], params: [state], key: 'result.item' }
}

function narrowByResult(
  where: string[],
  params: SQLInputValue[],
  { state, errorCode, unsuccessful }: RowFilter,
): void {
  if (unsuccessful) where.push(`result.state IN (${UNSUCCESSFUL.map((name) => `'${name}'`).join(', ')})`)
  if (errorCode !== undefined) {
    where.push('result.error_code = ?')
    params.push(errorCode)
  }
  if (state !== undefined) {
    where.push('result.state = ?')
    params.push(state)
  }
}

/** How many rows match, from the counters; null where only a scan could tell. */
function countRows({ db, record }: RunView, filter: RowFilter): number | null {
  const { state, ruleId, errorCode, search } = filter
  if (search !== undefined && search !== '') return null
  const facet = (kind: string, value: string) =>
    Number(db.prepare('SELECT n FROM facet WHERE kind = ? AND value = ?').get(kind, value)?.['n'] ?? 0)
  if (ruleId === undefined && errorCode === undefined) {
    if (filter.unsuccessful) {
      return [...UNSUCCESSFUL, 'invalid'].reduce((sum, name) => sum + facet('state', name), 0)
    }
    if (state === undefined) return record.rowsRead
    return state === 'pending' || state === 'sending' ? null : facet('state', state)
  }
  if (filter.unsuccessful) return null
  if (ruleId !== undefined && errorCode === undefined && state === undefined) return facet('rule', ruleId)
  if (ruleId === undefined && errorCode !== undefined && state === undefined) {
    const counted = db.prepare('SELECT count(*) AS n FROM result WHERE error_code = ?').get(errorCode)
    return Number(counted?.['n'] ?? 0)
  }
  return null
}

function isContiguous({ db, record }: RunView): boolean {
  return Number(db.prepare('SELECT max(id) AS id FROM row').get()?.['id'] ?? 0) === record.rowsRead
}

/** Cells are stored as JSON text, so what is searched for is escaped as JSON escapes it, then as LIKE wants it. */
function toLikePattern(search: string): string {
  return JSON.stringify(search)
    .slice(1, -1)
    .replaceAll(/[\\%_]/g, '\\$&')
}
