import { toRowCounts } from '../../../../shared/run/counts.ts'
import { type ItemState, listStates, type RowAnswer } from '../../../../shared/run/item-state.ts'
import type { RowCounts, TriggeredRule } from '../../../../shared/run/run.ts'
import { findErrorGroup } from '../../journal/counters.ts'
import { amongRows, createRuleReader, createSetReader, readFoundRules } from '../../journal/found-reader.ts'
import { readRecoveredLoad } from '../../journal/load-record.ts'
import { findTakersOf, type RunFamily, type RunView } from '../../journal/run-family.ts'
import { type DatabaseSync, readTuples, type SQLInputValue } from '../../workspace/sqlite.ts'
import { TRIES_OF_ITEM } from '../journal/item-claims.ts'
import { CUT_OFF_CAUSE } from '../journal/recovery.ts'
import {
  NOT_OF_LEFT_OUT,
  PROBLEM_COLUMNS,
  toCauseKey,
  toStoredProblem,
  UNSENT_WARNING,
} from '../journal/stored-problems.ts'

/** Counts by kind and value. */
export type Counts = Map<string, Map<string, number>>

/** Rows per read. */
const PAGE = 5_000
/** Counts rows that triggered a rule, among those taken over. */
const WITH_RULES = 'with_rules'
/** Counts the rows taken over. */
const TAKEN = 'taken'
/** Most runs whose corrections are kept. */
const CORRECTIONS_MAX = 200

/** A run's counts of rows that retries took over, by the run and its retries: such rows no longer change. */
const corrections = new Map<string, Counts>()

/** Counts a run with its retries, by kind and value: the newest outcome of each row, and all tries. */
export function readFamilyCounts({ members }: RunFamily): Counts {
  const merged: Counts = new Map()
  for (const member of members) {
    const own = readFacetCounts(member.db)
    if (members.length > 1) addCounts(own, readCorrection(member, members))
    own.set('request', new Map(readRequests(member)))
    addCounts(merged, own)
    // As recovery will count them; a load test itself lists what it lost.
    if (member.isCutOff && member.record.plan.load === undefined) {
      add(merged, 'error', CUT_OFF_CAUSE, countUnaccounted(member))
    }
  }
  return merged
}

/** Rows with this answer. */
export function countAnswers(family: RunFamily, answer: RowAnswer): number {
  return readFamilyCounts(family).get('answer')?.get(answer) ?? 0
}

/** Rows by state of a run and its retries together, and its triggered rules, most rows first. */
export function summarizeFamilyCounts(
  family: RunFamily,
  counts: Counts,
): { rows: RowCounts; rules: TriggeredRule[] } {
  const { members } = family
  let unaccounted = 0
  for (const member of members) if (member.isCutOff) unaccounted += countUnaccounted(member)
  const rows = toRowCounts(counts.get('state') ?? new Map(), countRowsRead(family, counts), unaccounted)
  return { rows, rules: toTriggeredRules(members, counts.get('rule')) }
}

/**
 * Rows of a run and its retries, each once: a retry of a retry, and one that splits records, may have rows
 * that its parent never had.
 */
export function countRowsRead(family: RunFamily, counts?: Counts): number {
  const { record, members } = family
  const isWhole = record.parentRunId === null && !members.some((member) => member.record.corrects)
  if (isWhole || members.length === 1) return record.rowsRead
  const taken = (counts ?? readFamilyCounts(family)).get(TAKEN)?.get('') ?? 0
  return members.reduce((sum, member) => sum + member.record.rowsRead, taken)
}

/** Rows to be resent that were tried in any of the runs. */
export function countToRepeat({ members, whole }: RunFamily, counts: Counts): number {
  let rows =
    (counts.get('state')?.get('pending') ?? 0) - members.reduce((sum, one) => sum + countFirstTries(one), 0)
  for (const member of members) {
    const { db, record } = member
    const earlier = whole.slice(0, whole.indexOf(member))
    if (record.parentRunId === null || record.claimedRows >= record.rowsRead) continue
    const unsent = db.prepare(
      `SELECT id FROM row WHERE id > ? AND item IS NOT NULL
       AND NOT EXISTS (SELECT 1 FROM result WHERE result.row = row.id) ORDER BY id LIMIT ${PAGE}`,
    )
    for (const ids of eachPage((after) => unsent.all(after), record.claimed)) {
      const tried = new Set(earlier.flatMap((run) => readTried(run, ids)))
      rows += tried.size
    }
  }
  return rows
}

/** Rows queued by a correction that were never sent before. */
function countFirstTries({ db, record }: RunView): number {
  if (record.plan.earlierFixes === undefined) return 0
  const found = db.prepare("SELECT count(*) AS n FROM result WHERE state = 'pending' AND attempts = 0").get()
  return Number(found?.['n'])
}

export function readFacetCounts(db: DatabaseSync): Counts {
  const kinds: Counts = new Map()
  for (const { kind, value, n } of db.prepare('SELECT kind, value, n FROM facet WHERE n <> 0').all()) {
    add(kinds, String(kind), String(value), Number(n))
  }
  return kinds
}

/** Rows of one run under the watermark without an outcome, if nobody is sending them any more. */
export function countUnaccounted(view: RunView): number {
  const { record } = view
  const states = readFacetCounts(view.db).get('state') ?? new Map<string, number>()
  const countAll = (names: Iterable<string>) =>
    Array.from(names, (state) => states.get(state) ?? 0).reduce((sum, n) => sum + n, 0)
  const unsent = countAll(listStates('unsent'))
  const accounted = countAll(states.keys()) - unsent
  // A load test marks no rows, and sends them in order: lost requests were for rows without an earlier
  // request, if there were any.
  if (record.plan.load !== undefined) {
    return Math.min(record.rowsRead - unsent - accounted, readRecoveredLoad(view).lost)
  }
  // Retries mark rows as `sending`; these have no outcome either.
  return record.claimedRows - accounted + (states.get('sending') ?? 0)
}

/** The rows that a dead process marked but never settled. */
export function toUnsettled(view: RunView): { sql: string; params: SQLInputValue[] } {
  const sending = readFacetCounts(view.db).get('state')?.get('sending') ?? 0
  const untried = countUnaccounted(view) - sending
  return {
    // The limit ends the walk at the last of them; they are close below the watermark.
    sql: `SELECT row FROM result WHERE state = 'sending' UNION ALL
      SELECT id FROM (SELECT id FROM row WHERE id <= ? AND item IS NOT NULL
      AND NOT EXISTS (SELECT 1 FROM result WHERE result.row = row.id) ORDER BY id DESC LIMIT ?)`,
    params: [view.record.claimed, Math.max(0, untried)],
  }
}

/**
 * Attempts by outcome, with those that a dead process had in flight, also as `cut_off`: the seconds in which
 * they were sent are not known yet.
 */
export function readRequests(view: RunView): ReadonlyMap<string, number> {
  const requests = new Map(readFacetCounts(view.db).get('request'))
  if (!view.isCutOff || view.record.plan.load !== undefined) return requests
  const { sql, params } = toUnsettled(view)
  const found = view.db.prepare(
    `SELECT count(*) AS lost, total(tries > 0) AS retried FROM (
       SELECT max(iif(result.row IS NULL, 0, ${TRIES_OF_ITEM})) AS tries FROM row LEFT JOIN result ON result.row = row.id
       WHERE row.id IN (${sql}) GROUP BY row.item)`,
  )
  const { lost, retried } = found.get(...params) ?? {}
  requests.set('cut_off', Number(lost))
  requests.set('unknown', (requests.get('unknown') ?? 0) + Number(lost))
  return requests.set('retried', (requests.get('retried') ?? 0) + Number(retried))
}

/** A member's counts of rows that others have taken over, as negative numbers. */
function readCorrection(member: RunView, members: readonly RunView[]): Counts {
  const takers = findTakersOf(member, members)
  if (takers.length === 0) return new Map()
  const key = [member, ...takers].map(({ file, record }) => `${file} ${record.rowsRead}`).join('\n')
  const known = corrections.get(key)
  if (known !== undefined) return known
  const correction = addUpTaken(member, takers)
  corrections.set(key, correction)
  for (const [oldest] of corrections) if (corrections.size > CORRECTIONS_MAX) corrections.delete(oldest)
  return correction
}

/** What a journal counted of rows that others have, as negative counts. */
export function addUpTaken(
  member: Pick<RunView, 'db'>,
  takers: readonly { db: DatabaseSync; record: { corrects: boolean } }[],
): Counts {
  const correction: Counts = new Map()
  const left = new Map(readFacetCounts(member.db).get('error'))
  for (const [index, taker] of takers.entries()) {
    const ids = taker.db.prepare(`SELECT id FROM row WHERE id > ? ORDER BY id LIMIT ${PAGE}`)
    for (const page of eachPage((after) => ids.all(after))) {
      const others = new Set(takers.slice(0, index).flatMap((earlier) => pickRows(earlier, page)))
      const own = pickRows(
        member,
        page.filter((id) => !others.has(id)),
      )
      const taken = JSON.stringify(own)
      add(correction, TAKEN, '', -own.length)
      if (taker.record.corrects) addUpCorrected(correction, member, taken)
      for (const row of readResults(member, taken)) {
        const state = String(row['state']) as ItemState
        add(correction, 'state', state, -1)
        if (row['answer'] !== null) add(correction, 'answer', String(row['answer']), -1)
        // Reasons for invalid rows are counted with their problems.
        if (String(row['state']) === 'invalid') continue
        const group = findErrorGroup(left, { state, ...toCause(row) }, 1)
        if (group === null) continue
        left.set(group, (left.get(group) ?? 0) - 1)
        add(correction, 'error', group, -1)
      }
      const rulesOf = readFoundRules(member.db, amongRows(taken), createRuleReader(member.db))
      add(correction, WITH_RULES, '', -rulesOf.size)
      for (const rules of rulesOf.values())
        for (const { ruleId } of rules) add(correction, 'rule', ruleId, -1)
    }
  }
  return correction
}

/** A correcting retry also took invalid rows, and itself counts the problems of all its rows. */
function addUpCorrected(correction: Counts, { db }: Pick<RunView, 'db'>, ids: string): void {
  const invalid = db
    .prepare(
      `SELECT count(*) AS n FROM row WHERE item IS NULL AND id IN (SELECT value FROM json_each(?))
       AND NOT EXISTS (SELECT 1 FROM result WHERE result.row = row.id)`,
    )
    .get(ids)
  add(correction, 'state', 'invalid', -Number(invalid?.['n']))
  const problems = db
    .prepare(
      `SELECT ${PROBLEM_COLUMNS} FROM problem WHERE row IN (SELECT value FROM json_each(?))
       AND severity <> '${UNSENT_WARNING}' AND ${NOT_OF_LEFT_OUT}`,
    )
    .all(ids)
    .map(toStoredProblem)
  const causes = new Set(problems.map((problem) => JSON.stringify([problem.row, toCauseKey(problem)])))
  for (const cause of causes) {
    const [, key] = JSON.parse(cause) as [number, string]
    add(correction, 'problem', key, -1)
  }
}

function readResults({ db }: Pick<RunView, 'db'>, ids: string) {
  return db
    .prepare(
      `SELECT state, status, error_code, message, answer FROM result
       WHERE row IN (SELECT value FROM json_each(?))`,
    )
    .all(ids)
}

function readTried({ db }: RunView, ids: readonly number[]): number[] {
  return db
    .prepare('SELECT row FROM result WHERE attempts > 0 AND row IN (SELECT value FROM json_each(?))')
    .all(JSON.stringify(ids))
    .map(({ row }) => Number(row))
}

export function pickRows({ db }: Pick<RunView, 'db'>, ids: readonly number[]): number[] {
  return db
    .prepare('SELECT id FROM row WHERE id IN (SELECT value FROM json_each(?))')
    .all(JSON.stringify(ids))
    .map(({ id }) => Number(id))
}

function* eachPage(
  read: (after: number) => Record<string, unknown>[],
  first = 0,
): Generator<number[], void, undefined> {
  let after = first
  for (let rows = read(after); rows.length > 0; rows = read(after)) {
    const ids = rows.map(({ id }) => Number(id))
    after = ids.at(-1) ?? after
    yield ids
  }
}

function toCause(row: Record<string, unknown>) {
  return {
    status: row['status'] === null ? null : Number(row['status']),
    errorCode: row['error_code'] === null ? null : String(row['error_code']),
    message: row['message'] === null ? null : String(row['message']),
  }
}

/** The names of all rules triggered by rows of these runs, by id, which replaces a missing name. */
export function readRuleNames(members: readonly RunView[]): Map<string, string> {
  const rules = members.flatMap(({ db }) => db.prepare('SELECT rule_id, rule_name FROM rule').all())
  return new Map(rules.map((rule) => [String(rule['rule_id']), String(rule['rule_name'] || rule['rule_id'])]))
}

/** The keys of the names of rules that had several in a run. */
export function listFormerNames(family: RunFamily): string[] {
  const counted = readFamilyCounts(family).get('rule_name') ?? []
  return [...counted].flatMap(([key, n]) => (n > 0 ? [key] : []))
}

/** Rows that succeeded and triggered any rule; rows that a retry has taken over count only there. */
export function countRowsWithRules(family: RunFamily): number {
  const { members } = family
  const unsuccessful = readUnsuccessfulSets(family).reduce((sum, { sets }) => sum + sets.length, 0)
  return members.reduce((sum, member) => {
    const counted = member.db.prepare('SELECT count(*) AS n FROM found WHERE rules <> 0').get()
    const taken = members.length === 1 ? 0 : (readCorrection(member, members).get(WITH_RULES)?.get('') ?? 0)
    return sum + Number(counted?.['n']) + taken
  }, -unsuccessful)
}

/** Rows by rules triggered without success: answers can have rules next to an error, as of another model. */
export function countRulesOfUnsuccessful(family: RunFamily): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { db, sets } of readUnsuccessfulSets(family)) {
    const toRules = createSetReader(db, createRuleReader(db))
    for (const set of sets) {
      for (const { ruleId } of toRules(set)) counts.set(ruleId, (counts.get(ruleId) ?? 0) + 1)
    }
  }
  return counts
}

/** Most rows without success, so far or at all, whose rules are looked up while their run is sending. */
const LOOKED_UP_MAX = 20_000

/**
 * The rule sets of unsuccessful rows, by the journal that has their present state. Skips a run that is
 * sending and has many: looking them up takes 0.6 µs a row, and happens again and again.
 */
function readUnsuccessfulSets({ members }: RunFamily): { db: DatabaseSync; sets: number[] }[] {
  const states = JSON.stringify(listStates('open', 'unsuccessful'))
  const hasMany = ({ db }: RunView) => {
    const sql = `SELECT count(*) AS n FROM
      (SELECT 1 FROM result WHERE state IN (SELECT value FROM json_each(?)) LIMIT ?)`
    return Number(db.prepare(sql).get(states, LOOKED_UP_MAX + 1)?.['n']) > LOOKED_UP_MAX
  }
  const isSending = ({ isHeld, record }: RunView) => isHeld && record.state === 'running'
  const lookedUp = members.filter((member) => !(isSending(member) && hasMany(member)))
  return lookedUp.map((member) => {
    const { db } = member
    const found = readTuples<[row: number, set: number]>(
      db,
      `SELECT found.row, found.rules FROM result CROSS JOIN found ON found.row = result.row
       WHERE result.state IN (SELECT value FROM json_each(?)) AND found.rules <> 0`,
      [states],
    )
    const ids = found.map(([row]) => row)
    const taken = new Set(findTakersOf(member, members).flatMap((taker) => pickRows(taker, ids)))
    return { db, sets: found.flatMap(([row, set]) => (taken.has(row) ? [] : [set])) }
  })
}

function toTriggeredRules(
  members: readonly RunView[],
  counts: ReadonlyMap<string, number> | undefined,
): TriggeredRule[] {
  if (counts === undefined) return []
  const names = readRuleNames(members)
  return [...counts]
    .filter(([, rows]) => rows > 0)
    .map(([ruleId, rows]) => ({ rule_id: ruleId, rule_name: names.get(ruleId) ?? ruleId, rows }))
    .sort((a, b) => b.rows - a.rows || (a.rule_id < b.rule_id ? -1 : 1))
}

function addCounts(sum: Counts, others: Counts): void {
  for (const [kind, values] of others) for (const [value, n] of values) add(sum, kind, value, n)
}

function add(counts: Counts, kind: string, value: string, n: number): void {
  const values = counts.get(kind) ?? new Map<string, number>()
  counts.set(kind, values.set(value, (values.get(value) ?? 0) + n))
}
