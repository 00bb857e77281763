import { mapSourcePaths, withoutUploadFolder } from '../../../shared/plan/source-paths.ts'
import { releaseMemory } from '../../../shared/release-memory.ts'
import { LEFT_OUT_STATES, type LeftOutState } from '../../../shared/run/item-state.ts'
import type { RunFamily } from '../journal/run-family.ts'
import { readLastRow } from '../run/results/row-search.ts'
import { type DatabaseSync, readNumber } from '../workspace/sqlite.ts'
import { attachJournal, withDatabase } from './attached-journals.ts'
import type { JoinKey, RowKey } from './join-key.ts'
import { type NumberedRule, numberRules, type Standing, Standings } from './standings.ts'

/** Rows read in one statement: few enough that no read of a journal stays open for long. */
const STEP_ROWS = 20_000

/** Rows of one run without a partner, by reason. */
interface Unpaired {
  rows: number
  /** Rows whose outcome is still to come. */
  unfinished: number
  withoutKey: number
  ambiguous: number
}

/** Pairs that are alike in everything compared, and their number. */
export interface PairKind {
  a: Standing
  b: Standing
  rows: number
  /** Whether the service answered in both runs. */
  isDecided: boolean
  isCached: boolean
  /** Whether it was decided differently or ended differently. */
  isChanged: boolean
}

/** The rows common to two runs, a few bytes per row of B. Rules are their numbers in {@link rules}. */
export interface PairedRows {
  rules: readonly NumberedRule[]
  kinds: readonly PairKind[]
  /** By row of B, the number of its pair's kind plus one; 0 for a row that is not joined. */
  kindOf: Uint32Array
  /** By row of B, the row of A with the same key; 0 for none. */
  partnerOf: Uint32Array
  joined: number
  /** Rows that belong together but are not joined because one of the runs has no outcome for them yet. */
  unfinished: number
  /** Rows that belong together but are not joined because a person left them out of one run. */
  leftOut: Record<LeftOutState, number>
  a: Unpaired
  b: Unpaired
  /** Some keys shared by several rows of one run. */
  ambiguousKeys: string[]
}

/** Joins the rows of two runs with the newest answer of each. */
export function pairRows(a: RunFamily, b: RunFamily, key: JoinKey): PairedRows {
  const rules = numberRules([a, b])
  const standings = { a: Standings.read(a, rules), b: Standings.read(b, rules) }
  const isByRow = key.name === 'row' || (key.followsRow && withDatabase((db) => haveSameRows(db, a, b)))
  const { partnerOf, of, ambiguousKeys } = isByRow
    ? { partnerOf: matchByRow(standings), of: EVERY_KEY, ambiguousKeys: [] }
    : withDatabase((db) => matchByKey(db, { a, b }, key))
  const pairs = {
    rules,
    partnerOf,
    ambiguousKeys,
    a: { ...countRows(standings.a), ...of.a },
    b: { ...countRows(standings.b), ...of.b },
    ...pairStandings(standings, partnerOf),
  }
  releaseMemory(standings.a.of, standings.b.of)
  return pairs
}

type Side = 'a' | 'b'

function pairStandings(
  { a, b }: Record<Side, Standings>,
  partnerOf: Uint32Array,
): Pick<PairedRows, 'kinds' | 'kindOf' | 'joined' | 'unfinished' | 'leftOut'> {
  const kinds: PairKind[] = []
  const kindOf = new Uint32Array(partnerOf.length)
  const numberOf = new Map<number, number>()
  const counted = { joined: 0, unfinished: 0 }
  const leftOut = Object.fromEntries(LEFT_OUT_STATES.map((state) => [state, 0])) as PairedRows['leftOut']
  for (let row = 1; row < partnerOf.length; row += 1) {
    const partner = partnerOf[row] ?? 0
    const [inA, inB] = [a.at(partner), b.at(row)]
    if (partner === 0 || inA === undefined || inB === undefined) continue
    const why = inA.leftOut ?? inB.leftOut
    if (why !== null) leftOut[why] += 1
    else if (inA.isOpen || inB.isOpen) counted.unfinished += 1
    else {
      counted.joined += 1
      const key = (a.of[partner] ?? 0) * (b.kinds.length + 1) + (b.of[row] ?? 0)
      const number = numberOf.get(key) ?? kinds.push(toPairKind(inA, inB))
      numberOf.set(key, number)
      kindOf[row] = number
      const kind = kinds[number - 1]
      if (kind !== undefined) kind.rows += 1
    }
  }
  return { kinds, kindOf, leftOut, ...counted }
}

function toPairKind(a: Standing, b: Standing): PairKind {
  const isDecided = a.isAnswered && b.isAnswered
  const isChanged = a.outcome !== b.outcome || (isDecided && a.rules.join() !== b.rules.join())
  return { a, b, rows: 0, isDecided, isCached: a.isCached || b.isCached, isChanged }
}

function countRows({ of, kinds }: Standings): Pick<Unpaired, 'rows' | 'unfinished'> {
  const counted = { rows: 0, unfinished: 0 }
  for (const number of of) {
    if (number === 0) continue
    counted.rows += 1
    if (kinds[number - 1]?.isOpen === true) counted.unfinished += 1
  }
  return counted
}

const EVERY_KEY = { a: { withoutKey: 0, ambiguous: 0 }, b: { withoutKey: 0, ambiguous: 0 } }

function matchByRow({ a, b }: Record<Side, Standings>): Uint32Array {
  return b.of.map((number, row) => (number === 0 || (a.of[row] ?? 0) === 0 ? 0 : row))
}

/** Whether both sources have the same rows in the same order, so that rows can be joined by number. */
function haveSameRows(db: DatabaseSync, a: RunFamily, b: RunFamily): boolean {
  // Only a first run has all rows.
  if ([a, b].some(({ record }) => record.parentRunId !== null)) return false
  if (a.record.rowsRead !== b.record.rowsRead) return false
  attachJournal(db, 'ja', a)
  attachJournal(db, 'jb', b)
  const differing = db.prepare(
    `SELECT 1 FROM jb.row AS own LEFT JOIN ja.row AS other ON other.id = own.id
     WHERE own.id > ? AND own.id <= ? AND (own.cells IS NOT other.cells OR own.kinds IS NOT other.kinds) LIMIT 1`,
  )
  for (let after = 0; after < b.record.rowsRead; after += STEP_ROWS) {
    if (differing.get(after, after + STEP_ROWS) !== undefined) return false
  }
  return true
}

/** Most rows that differ and are searched for elsewhere. */
const EDITED_MAX = 1_000

/**
 * Whether equal numbers mean the same row of a source that both runs read. The source may have grown and some
 * rows may have been edited, but none may have moved, as all rows after an inserted one do.
 */
export function agreeByRow(a: RunFamily, b: RunFamily): boolean {
  const [inA, inB] = [a, b].map(({ record: { plan, sourceFingerprint: read } }) => ({
    source: JSON.stringify(mapSourcePaths(plan.source, withoutUploadFolder)),
    sha256: read?.sha256,
  }))
  const isSameSource = inA?.source === inB?.source
  if (isSameSource && inA?.sha256 !== undefined && inA.sha256 === inB?.sha256) return true
  return withDatabase((db) => {
    attachJournal(db, 'ja', a)
    attachJournal(db, 'jb', b)
    db.exec('CREATE TABLE edited (cells TEXT PRIMARY KEY) STRICT, WITHOUT ROWID')
    const both =
      'FROM jb.row AS own JOIN ja.row AS other ON other.id = own.id WHERE own.id > ? AND own.id <= ?'
    const count = db.prepare(`SELECT count(*) AS rows, total(own.cells <> other.cells) AS differing ${both}`)
    const note = db.prepare(
      `INSERT OR IGNORE INTO edited SELECT own.cells ${both} AND own.cells <> other.cells LIMIT ?`,
    )
    const isMoved = db.prepare(
      'SELECT 1 FROM ja.row WHERE id > ? AND id <= ? AND cells IN (SELECT cells FROM edited) LIMIT 1',
    )
    let [rows, differing] = [0, 0]
    for (let after = 0, last = readLastRow(b); after < last; after += STEP_ROWS) {
      const counted = count.get(after, after + STEP_ROWS)
      rows += Number(counted?.['rows'])
      const before = differing
      differing += Number(counted?.['differing'])
      if (differing > before && before < EDITED_MAX) note.run(after, after + STEP_ROWS, EDITED_MAX)
    }
    if (differing === 0) return true
    if (!isSameSource || differing * 2 > rows) return false
    for (let after = 0, last = readLastRow(a); after < last; after += STEP_ROWS) {
      if (isMoved.get(after, after + STEP_ROWS) !== undefined) return false
    }
    return true
  })
}

/** Finds the rows whose key is unique in both runs. */
function matchByKey(db: DatabaseSync, families: Record<Side, RunFamily>, key: JoinKey) {
  for (const side of ['a', 'b'] as const) copyKeys(db, side, families[side], key[side])
  db.exec(`CREATE TABLE a_key (key TEXT PRIMARY KEY, row INTEGER NOT NULL, n INTEGER NOT NULL) STRICT, WITHOUT ROWID;
    INSERT INTO a_key SELECT key, min(row), count(*) FROM a WHERE key IS NOT NULL GROUP BY key;
    -- A key that both runs have, the first of its rows in either, and how many have it.
    CREATE TABLE found (a_row INTEGER PRIMARY KEY, b_row INTEGER NOT NULL, a_n INTEGER NOT NULL, b_n INTEGER NOT NULL) STRICT;
    INSERT INTO found SELECT a_key.row, b.row, a_key.n, 1 FROM b CROSS JOIN a_key ON a_key.key = b.key WHERE TRUE
      ON CONFLICT (a_row) DO UPDATE SET b_n = b_n + 1`)
  const last = readNumber(db, 'SELECT max(row) FROM b')
  const partnerOf = new Uint32Array(last + 1)
  const matched = db.prepare('SELECT b_row, a_row FROM found WHERE a_n = 1 AND b_n = 1')
  matched.setReturnArrays(true)
  for (const [row, partner] of matched.iterate() as unknown as Iterable<[number, number]>)
    partnerOf[row] = partner
  const repeated = db.prepare('SELECT sum(a_n) AS a, sum(b_n) AS b FROM found WHERE a_n > 1 OR b_n > 1').get()
  const examples = db.prepare(
    `SELECT key FROM found CROSS JOIN b ON b.row = found.b_row WHERE a_n > 1 OR b_n > 1 ORDER BY b_row LIMIT 3`,
  )
  const count = (side: Side) => ({
    withoutKey: readNumber(db, `SELECT count(*) - count(key) FROM ${side}`),
    ambiguous: Number(repeated?.[side] ?? 0),
  })
  const ambiguousKeys = examples.all().map((example) => String(example['key']))
  return { partnerOf, of: { a: count('a'), b: count('b') }, ambiguousKeys }
}

/** Copies the key of each row; a retry's key replaces that of the run before it. */
function copyKeys(db: DatabaseSync, side: Side, { members }: RunFamily, key: RowKey): void {
  db.exec(`CREATE TABLE ${side} (row INTEGER PRIMARY KEY, key TEXT) STRICT`)
  for (const member of members) {
    attachJournal(db, 'm', member)
    const copy = db.prepare(
      `INSERT OR REPLACE INTO ${side} SELECT id, ${toKeySql(db, key)} FROM m.row WHERE id > ? AND id <= ?`,
    )
    const last = readNumber(db, 'SELECT max(id) FROM m.row')
    for (let after = 0; after < last; after += STEP_ROWS) copy.run(after, after + STEP_ROWS)
    db.exec('DETACH m')
  }
}

function toKeySql(db: DatabaseSync, key: RowKey): string {
  if (key.kind === 'row') return 'NULL'
  if (key.kind === 'cell') return `nullif(cells ->> ${key.column}, '')`
  const { read } = key
  db.function('row_key', (row: unknown, cells: unknown, kinds: unknown) =>
    read(Number(row), JSON.parse(String(cells)) as string[], kinds === null ? null : String(kinds)),
  )
  return 'row_key(id, cells, kinds)'
}
