import { countSendable, toErrorGroups, toRowCounts } from '../../../../shared/run/counts.ts'
import { UNSUCCESSFUL_STATES } from '../../../../shared/run/item-state.ts'
import type { PageQuery, ResultPage, ResultRow } from '../../../../shared/run/results.ts'
import { listSources, NO_RULE, type RowFilter } from '../../../../shared/run/row-filters.ts'
import { toGroups } from '../../../../shared/to-groups.ts'
import { findTakersOf, type RunFamily, type RunView } from '../../journal/run-family.ts'
import { countRowsRead, readFacetCounts, readFamilyCounts, summarizeFamilyCounts } from './family-counts.ts'
import { type FamilyRow, findNewest, listFamilyRows, readFamilyRows, toPageSource } from './family-rows.ts'
import { needsFindings, pickFound, type Searched } from './found-rows.ts'
import { RowFindings } from './row-findings.ts'
import { RowIndex, readJudgedFor } from './row-search.ts'

/** Most rows of a page. */
const PAGE_MAX = 500

/** With fewer causes of errors than this, all are counted separately, each with its code. */
const ERROR_GROUPS_CERTAIN = 100

/** Whether the journal's counters and indexes can count and page a filter: with one condition and no text. */
function isSimple(filter: RowFilter): boolean {
  const { ruleIds = [], search, ...others } = filter
  if (search || ruleIds.length > 1 || ruleIds[0] === NO_RULE) return false
  const sources = listSources(others)
  return ruleIds.length + sources.length <= 1 && sources.every((source) => source === 'counters')
}

/** What answers a question about all rows; `isCounted` is false while it may still grow. */
export interface Counted {
  index: RowIndex
  /** Null if the question does not need them. */
  findings: RowFindings | null
  isCounted: boolean
}

/**
 * Everything that a question needs, at once, for a thread with nothing else to answer. `among` are the rows
 * of the filter's cell, ascending.
 */
export function countAll(
  family: RunFamily,
  query: Pick<PageQuery, 'filter' | 'sort'>,
  withFindings = needsFindings(query),
  among: Uint32Array | null = null,
): Counted {
  const findings = withFindings ? RowFindings.build(family) : null
  const { search = '' } = query.filter
  const isKnown = findings?.isWhole === true && search === ''
  const index = isKnown ? RowIndex.ofFindings(family, findings, among) : RowIndex.build(family, search, among)
  return { index, findings, isCounted: true }
}

/**
 * Reads one page of a run's results, retries included (docs/architecture.md §5: rows travel only by page). No
 * read stays open afterwards. If the page is not simple, `counted` knows its rows.
 */
export function readPage(family: RunFamily, query: PageQuery, counted?: Counted): Omit<ResultPage, 'texts'> {
  const { filter } = query
  const limit = Math.min(PAGE_MAX, Math.max(0, Math.trunc(query.limit)))
  if (isSimplePage(query)) {
    const rows = toResults(family, selectRows(family, { ...query, limit }))
    return { rows, total: countRows(family, filter), isCounted: true }
  }
  const { index, findings, isCounted } = counted ?? countAll(family, query)
  const judged = readJudgedFor(family, filter)
  const { ids, total } = pickPage({ index, findings, judged }, { ...query, limit })
  return { rows: toResults(family, findNewest(family, ids)), total, isCounted }
}

/** Whether a page is read without an index: see {@link isSimple}. */
export function isSimplePage({ filter, sort }: Pick<PageQuery, 'filter' | 'sort'>): boolean {
  return sort === undefined && isSimple(filter)
}

function pickPage(
  { index, findings, judged }: Omit<Searched, 'findings'> & Pick<Counted, 'findings'>,
  { filter, sort, offset, limit }: PageQuery,
): { ids: number[]; total: number } {
  if (findings !== null) {
    const wanted = sort === undefined ? { filter } : { filter, sort }
    const all = pickFound({ index, findings, judged }, wanted)
    return { ids: [...all.subarray(offset, offset + limit)], total: all.length }
  }
  const total = index.count(filter, judged)
  if (sort?.order !== 'descending') return { ids: index.pick(filter, offset, limit, judged), total }
  const end = Math.max(0, total - offset)
  const first = Math.max(0, end - limit)
  return { ids: index.pick(filter, first, end - first, judged).reverse(), total }
}

/** Lists matching rows, page by page in source order. `among`: the rows of the filter's cell, ascending. */
export function* listAllPages(
  family: RunFamily,
  filter: RowFilter,
  among: Uint32Array | null = null,
): Generator<FamilyRow[]> {
  if (!isSimple(filter)) return yield* listPicked(family, filter, among)
  const [member] = family.members
  if (member !== undefined && family.members.length === 1 && isUnfiltered(filter) && isContiguous(family)) {
    const { rowsRead } = family.record
    for (let from = 0; from < rowsRead; from += PAGE_MAX) {
      const length = Math.min(PAGE_MAX, rowsRead - from)
      yield Array.from({ length }, (_, index) => ({ id: from + index + 1, member }))
    }
    return
  }
  yield* toGroups(listFamilyRows(family, filter), PAGE_MAX)
}

function* listPicked(
  family: RunFamily,
  filter: RowFilter,
  among: Uint32Array | null,
): Generator<FamilyRow[]> {
  const counted = countAll(family, { filter }, needsFindings({ filter }), among)
  const searched = { ...counted, judged: readJudgedFor(family, filter) }
  for (let offset = 0; ; offset += PAGE_MAX) {
    const { ids } = pickPage(searched, { filter, offset, limit: PAGE_MAX })
    if (ids.length === 0) return
    yield findNewest(family, ids)
  }
}

/** Whether every row matches a filter. */
export function isUnfiltered({ ruleIds = [], ...others }: RowFilter): boolean {
  return ruleIds.length === 0 && Object.values(others).every((value) => value === undefined)
}

function toResults(family: RunFamily, rows: readonly FamilyRow[]): ResultRow[] {
  return readFamilyRows(family, rows).map(({ result }) => result)
}

function selectRows(family: RunFamily, page: PageQuery): FamilyRow[] {
  const { filter, offset, limit } = page
  // Without a filter the offset is the row number, unless rows are missing, as in a retry.
  if (isUnfiltered(filter) && isContiguous(family)) {
    const rows = Math.max(0, Math.min(limit, family.record.rowsRead - offset))
    return findNewest(
      family,
      Array.from({ length: rows }, (_, index) => offset + index + 1),
    )
  }
  const [only] = family.members
  if (only !== undefined && family.members.length === 1) return selectFrom(only, page)
  const picked: FamilyRow[] = []
  let skipped = 0
  for (const row of listFamilyRows(family, filter)) {
    if (picked.length === limit) break
    if (skipped === offset) picked.push(row)
    else skipped += 1
  }
  return picked
}

function selectFrom(member: RunView, { filter, offset, limit }: PageQuery): FamilyRow[] {
  const { from, where, params, key } = toPageSource(member, filter)
  return member.db
    .prepare(
      `SELECT ${key} AS id FROM ${from} WHERE ${[...where, `${key} > 0`].join(' AND ')}
       ORDER BY ${key} LIMIT ? OFFSET ?`,
    )
    .all(...params, limit, offset)
    .map(({ id }) => ({ id: Number(id), member }))
}

/** How many rows match a simple filter. */
function countRows(
  family: RunFamily,
  { state, unsuccessful, ruleIds, errorCode, answer }: RowFilter,
): number {
  const [ruleId] = ruleIds ?? []
  if (errorCode !== undefined) return countErrors(family, errorCode)
  if (ruleId === undefined && answer === undefined && state === undefined && !unsuccessful) {
    return countRowsRead(family)
  }
  const counts = readFamilyCounts(family)
  if (ruleId !== undefined) return counts.get('rule')?.get(ruleId) ?? 0
  if (answer !== undefined) return counts.get('answer')?.get(answer) ?? 0
  const states = countStates(family)
  if (state !== undefined) return states.get(state) ?? 0
  return [...UNSUCCESSFUL_STATES, 'invalid'].reduce((sum, name) => sum + (states.get(name) ?? 0), 0)
}

/** Rows by displayed state, from the counters. */
export function countStates(family: RunFamily): Map<string, number> {
  const { rows } = summarizeFamilyCounts(family, readFamilyCounts(family))
  const { read: _read, not_sent, awaiting, ...others } = rows
  const sending = family.members.reduce((sum, member) => sum + countSending(member, family.members), 0)
  const pending = not_sent - sending
  return new Map(Object.entries({ ...others, pending, sending, acknowledged: awaiting }))
}

/** Rows of one run that are in flight. */
function countSending(member: RunView, members: readonly RunView[]): number {
  const { record, isCutOff } = member
  // A load test marks no rows; what a dead process had in flight is unknown; rows that a retry took were not
  // in flight.
  if (isCutOff || record.plan.load !== undefined || findTakersOf(member, members).length > 0) return 0
  const states = readFacetCounts(member.db).get('state') ?? new Map<string, number>()
  const counts = toRowCounts(states, record.rowsRead)
  const { not_sent } = counts
  const unclaimed = countSendable(counts) - record.claimedRows + (states.get('pending') ?? 0)
  return not_sent - Math.max(0, Math.min(not_sent, unclaimed))
}

function countErrors(family: RunFamily, errorCode: string): number {
  const groups = toErrorGroups(readFamilyCounts(family).get('error') ?? new Map())
  // With very many causes, some are counted together, without their codes.
  if (groups.length < ERROR_GROUPS_CERTAIN) {
    return groups.reduce((sum, group) => sum + (group.error_code === errorCode ? group.rows : 0), 0)
  }
  let rows = 0
  for (const _ of listFamilyRows(family, { errorCode })) rows += 1
  return rows
}

/** Whether the rows of a run have every number from 1 on. */
export function isContiguous({ db, record, members }: RunFamily): boolean {
  // A retry of a retry, and one that splits records, may have rows that its parent never had.
  if (members.length > 1 && (record.parentRunId !== null || members.some((one) => one.record.corrects)))
    return false
  return Number(db.prepare('SELECT max(id) AS id FROM row').get()?.['id'] ?? 0) === record.rowsRead
}
