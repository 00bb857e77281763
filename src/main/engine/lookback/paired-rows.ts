import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { toComparable } from '../../../shared/lookback/labels.ts'
import type { RowState } from '../../../shared/run/item-state.ts'
import { readTaskFindings } from '../../../shared/service/answer-findings.ts'
import type { RunFamily, RunView } from '../journal/run-family.ts'
import { readStoredBody } from '../run/journal/stored-bodies.ts'
import { readFacetCounts } from '../run/results/family-counts.ts'
import { parseJson } from '../service/judgement.ts'
import type { JoinKey, RowKey } from './join-key.ts'

/** Rows read in one statement: so few that no read of a journal stays open for long. */
const STEP_ROWS = 20_000

/** Page cache of the pairs, KiB; what does not fit is in a temporary file without a name. */
const CACHE_KIB = 64 * 1024

/** Rows of one run that have no partner, by why. */
interface Unpaired {
  rows: number
  /** Whose outcome is still to come. */
  unfinished: number
  withoutKey: number
  ambiguous: number
}

/** A rule of either run: what has one name or one id is one rule. */
interface NumberedRule {
  rule: string
  ruleIds: string[]
}

/**
 * The rows that two runs have in common, in a database of their own: table `pair` by row of B. Rules are their numbers
 * in {@link rules}, ascending, with a comma around each; an outcome is '' where the service decided.
 */
export interface PairedRows {
  db: DatabaseSync
  rules: readonly NumberedRule[]
  joined: number
  /** Rows that belong together and are not joined, since one of the runs has no outcome of them yet. */
  unfinished: number
  a: Unpaired
  b: Unpaired
  /** Some keys that several rows of one run have. */
  ambiguousKeys: string[]
}

/**
 * Joins the rows of two runs with the newest answer of each. Journals are read a step at a time, and rows stay in SQLite,
 * so that memory does not grow with them. The caller closes the database.
 */
export function pairRows(a: RunFamily, b: RunFamily, key: JoinKey): PairedRows {
  const db = new DatabaseSync('')
  try {
    db.exec(`PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA temp_store = FILE;
      PRAGMA cache_size = -${CACHE_KIB}`)
    const rules = numberRules([a, b])
    const isByRow = key.name === 'row' || (key.followsRow && haveSameRows(db, a, b))
    const byRow = { kind: 'row' } as const
    copyAnswers(db, 'a', a, isByRow ? byRow : key.a, rules)
    copyAnswers(db, 'b', b, isByRow ? byRow : key.b, rules)
    db.exec(`CREATE TABLE pair (
      b_row INTEGER PRIMARY KEY, a_row INTEGER NOT NULL, a_member INTEGER NOT NULL, b_member INTEGER NOT NULL,
      is_decided INTEGER NOT NULL, is_cached INTEGER NOT NULL,
      a_outcome TEXT NOT NULL, b_outcome TEXT NOT NULL, a_rules TEXT NOT NULL, b_rules TEXT NOT NULL) STRICT`)
    const found = isByRow ? joinByRow(db) : joinByKey(db)
    return { db, rules, ...found }
  } catch (error) {
    db.close()
    throw error
  }
}

/** Whether both sources have the same rows in the same order, so that their numbers say which belong together. */
function haveSameRows(db: DatabaseSync, a: RunFamily, b: RunFamily): boolean {
  // A first run has all rows of its retries.
  if ([a, b].some(({ record }) => record.parentRunId !== null)) return false
  if (a.record.rowsRead !== b.record.rowsRead) return false
  attachJournal(db, 'ja', a)
  attachJournal(db, 'jb', b)
  const differing = db.prepare(
    `SELECT 1 FROM jb.row AS own LEFT JOIN ja.row AS other ON other.id = own.id
     WHERE own.id > ? AND own.id <= ? AND (own.cells IS NOT other.cells OR own.kinds IS NOT other.kinds) LIMIT 1`,
  )
  let areSame = true
  for (let after = 0; areSame && after < b.record.rowsRead; after += STEP_ROWS) {
    areSame = differing.get(after, after + STEP_ROWS) === undefined
  }
  db.exec('DETACH ja; DETACH jb')
  return areSame
}

type Side = 'a' | 'b'

function numberRules(families: readonly RunFamily[]): NumberedRule[] {
  const rules: NumberedRule[] = []
  // The names of B stand last, and are the newer ones.
  for (const { db } of families.flatMap(({ members }) => members)) {
    for (const { rule_id: id, rule_name: name } of db.prepare('SELECT rule_id, rule_name FROM rule').all()) {
      const [ruleId, rule] = [String(id), String(name)]
      const known = rules.find(
        (one) => one.ruleIds.includes(ruleId) || toComparable(one.rule) === toComparable(rule),
      )
      if (known === undefined) rules.push({ rule, ruleIds: [ruleId] })
      else {
        known.rule = rule
        if (!known.ruleIds.includes(ruleId)) known.ruleIds.push(ruleId)
      }
    }
  }
  return rules
}

/** Copies of each row what is compared, a retry's over that of the run before it. */
function copyAnswers(
  db: DatabaseSync,
  side: Side,
  family: RunFamily,
  key: RowKey,
  rules: readonly NumberedRule[],
): void {
  db.exec(`CREATE TABLE ${side} (
    row INTEGER PRIMARY KEY, member INTEGER NOT NULL, is_answered INTEGER NOT NULL, is_cached INTEGER NOT NULL,
    outcome TEXT NOT NULL, rules TEXT NOT NULL, key TEXT) STRICT`)
  for (const [index, member] of family.members.entries()) {
    attachJournal(db, 'm', member)
    numberOwnRules(db, rules)
    const hasCached = (readFacetCounts(member.db).get('from_cache')?.get('') ?? 0) > 0
    const copy = db.prepare(`INSERT OR REPLACE INTO ${side}
      SELECT row.id, ${index}, ${IS_ANSWERED}, ${hasCached ? toCachedSql(db) : '0'}, ${OUTCOME},
        coalesce((SELECT ',' || group_concat(DISTINCT number ORDER BY number) || ',' FROM m.row_rule INDEXED BY row_rule_by_row
          CROSS JOIN temp.own_rule ON own_rule.rule = row_rule.rule WHERE row_rule.row = row.id), ''),
        ${toKeySql(db, key)}
      FROM m.row LEFT JOIN m.result ON result.row = row.id WHERE row.id > ? AND row.id <= ?`)
    const last = Number(db.prepare('SELECT max(id) AS id FROM m.row').get()?.['id'] ?? 0)
    for (let after = 0; after < last; after += STEP_ROWS) copy.run(after, after + STEP_ROWS)
    db.exec('DROP TABLE temp.own_rule; DETACH m')
  }
}

/** Attaches a journal for reading alone. */
export function attachJournal(db: DatabaseSync, name: string, { file }: RunView): void {
  const url = pathToFileURL(file)
  url.searchParams.set('mode', 'ro')
  db.prepare(`ATTACH ? AS ${name}`).run(url.href)
}

/** The numbers of the rules as the attached journal numbers them itself. */
function numberOwnRules(db: DatabaseSync, rules: readonly NumberedRule[]): void {
  db.exec('CREATE TEMP TABLE own_rule (rule INTEGER PRIMARY KEY, number INTEGER NOT NULL)')
  const add = db.prepare('INSERT INTO temp.own_rule SELECT id, ? FROM m.rule WHERE rule_id = ?')
  for (const [number, { ruleIds }] of rules.entries()) for (const id of ruleIds) add.run(number, id)
}

const IS_ANSWERED = "coalesce(result.state = 'succeeded' AND result.error_code IS NULL, 0)"

/**
 * What a row came to, beyond being answered: its state, and what the service said. What was under way when a run was
 * killed is `pending`: a resume decides its outcome.
 */
const OUTCOME = `CASE WHEN row.item IS NULL THEN coalesce(result.state, 'invalid')
    WHEN result.state IS NULL THEN 'pending'
    WHEN ${IS_ANSWERED} THEN coalesce(result.answer, '')
    ELSE result.state || coalesce(' ' || result.error_code, ' HTTP ' || result.status, '') END`

/** Whether the answer of a row says that it came from the service's cache. */
function toCachedSql(db: DatabaseSync): string {
  db.function('is_from_cache', (text: unknown, content: unknown, bytes: unknown) => {
    const body = readStoredBody(text, content, bytes)
    if (body === null || !body.text.includes('"from_cache"')) return 0
    return readTaskFindings(parseJson(body.text)).fromCache === true ? 1 : 0
  })
  return `(EXISTS (SELECT 1 FROM m.result AS own LEFT JOIN m.long_answer ON long_answer.id = own.row
      WHERE own.row = row.id AND is_from_cache(own.response, long_answer.content, long_answer.bytes))
    OR EXISTS (SELECT 1 FROM m.callback LEFT JOIN m.long_callback ON long_callback.id = callback.id
      WHERE callback.item = row.id AND effect = 'settled'
      AND is_from_cache(callback.body, long_callback.content, long_callback.bytes)))`
}

function toKeySql(db: DatabaseSync, key: RowKey): string {
  if (key.kind === 'row') return 'NULL'
  if (key.kind === 'cell') return `nullif(row.cells ->> ${key.column}, '')`
  const { read } = key
  db.function('row_key', (row: unknown, cells: unknown, kinds: unknown) =>
    read(Number(row), JSON.parse(String(cells)) as string[], kinds === null ? null : String(kinds)),
  )
  return 'row_key(row.id, row.cells, row.kinds)'
}

/** States of rows whose outcome is still to come. */
const OPEN_STATES = ['pending', 'sending', 'acknowledged'] as const satisfies readonly RowState[]

/** Whether the outcome of a row of one side is still to come; it may have an error of its last try. */
function toOpenSql(side: Side): string {
  const state = `substr(${side}.outcome, 1, instr(${side}.outcome || ' ', ' ') - 1)`
  return `${state} IN (${OPEN_STATES.map((open) => `'${open}'`).join(', ')})`
}

const IS_FINISHED = `NOT ${toOpenSql('a')} AND NOT ${toOpenSql('b')}`

const PAIRED = `b.row, a.row, a.member, b.member, a.is_answered AND b.is_answered, a.is_cached OR b.is_cached,
  a.outcome, b.outcome, a.rules, b.rules`

type Joined = Omit<PairedRows, 'db' | 'rules'>

function joinByRow(db: DatabaseSync): Joined {
  db.exec(`INSERT INTO pair SELECT ${PAIRED} FROM b JOIN a ON a.row = b.row WHERE ${IS_FINISHED}`)
  const joined = countRows(db, 'pair')
  const together = Number(db.prepare('SELECT count(*) AS n FROM b JOIN a ON a.row = b.row').get()?.['n'])
  const count = (side: Side) => ({ ...countSide(db, side), withoutKey: 0, ambiguous: 0 })
  return { joined, unfinished: together - joined, a: count('a'), b: count('b'), ambiguousKeys: [] }
}

/** Joins rows whose key no other row of either run has. */
function joinByKey(db: DatabaseSync): Joined {
  db.exec(`CREATE TABLE a_key (key TEXT PRIMARY KEY, row INTEGER NOT NULL, n INTEGER NOT NULL) STRICT, WITHOUT ROWID;
    INSERT INTO a_key SELECT key, min(row), count(*) FROM a WHERE key IS NOT NULL GROUP BY key;
    -- A key that both runs have, the first of its rows in either, and how many have it.
    CREATE TABLE found (a_row INTEGER PRIMARY KEY, b_row INTEGER NOT NULL, a_n INTEGER NOT NULL, b_n INTEGER NOT NULL) STRICT;
    INSERT INTO found SELECT a_key.row, b.row, a_key.n, 1 FROM b CROSS JOIN a_key ON a_key.key = b.key WHERE TRUE
      ON CONFLICT (a_row) DO UPDATE SET b_n = b_n + 1;
    INSERT INTO pair SELECT ${PAIRED} FROM found CROSS JOIN a ON a.row = found.a_row CROSS JOIN b ON b.row = found.b_row
      WHERE a_n = 1 AND b_n = 1 AND ${IS_FINISHED}`)
  const joined = countRows(db, 'pair')
  const together = Number(
    db.prepare('SELECT count(*) AS n FROM found WHERE a_n = 1 AND b_n = 1').get()?.['n'],
  )
  const repeated = db.prepare('SELECT sum(a_n) AS a, sum(b_n) AS b FROM found WHERE a_n > 1 OR b_n > 1').get()
  const examples = db.prepare(
    `SELECT key FROM found CROSS JOIN b ON b.row = found.b_row WHERE a_n > 1 OR b_n > 1 ORDER BY b_row LIMIT 3`,
  )
  const count = (side: Side) => {
    const counted = countSide(db, side)
    const withKey = Number(db.prepare(`SELECT count(key) AS n FROM ${side}`).get()?.['n'])
    return { ...counted, withoutKey: counted.rows - withKey, ambiguous: Number(repeated?.[side] ?? 0) }
  }
  return {
    joined,
    unfinished: together - joined,
    a: count('a'),
    b: count('b'),
    ambiguousKeys: examples.all().map(({ key }) => String(key)),
  }
}

function countSide(db: DatabaseSync, side: Side): Pick<Unpaired, 'rows' | 'unfinished'> {
  const counted = db.prepare(`SELECT count(*) AS rows, sum(${toOpenSql(side)}) AS open FROM ${side}`).get()
  return { rows: Number(counted?.['rows']), unfinished: Number(counted?.['open'] ?? 0) }
}

function countRows(db: DatabaseSync, table: string): number {
  return Number(db.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.['n'])
}
