import { findDiskTrouble } from '../../../../shared/messages/thrown.ts'
import type { SentBefore, SentOutcome } from '../../../../shared/run/sent-before.ts'
import { ReaderPool } from '../../journal/run-family.ts'
import type { RunRecord } from '../../journal/run-record.ts'
import type { Body } from '../../mapping/json-text.ts'
import { toHalf } from '../../mapping/split-row.ts'
import type { DatabaseSync } from '../../workspace/sqlite.ts'
import { type EarlierRun, findEarlierRuns, mapsAlike, RANKS, type SentWith } from './earlier-runs.ts'
import {
  createKeyReader,
  fromBytes,
  type ReadKey,
  type RowKeys,
  toBytes,
  toNotedHash,
  WantedHashes,
} from './row-keys.ts'

/** Rows that are looked up at once, at most: each lookup reads all hashes that were noted. */
const LOOKUP_ROWS = 65_536

/** A row that intake has checked. */
interface AskedRow {
  row: number
  cells: readonly string[]
  kinds?: string | null
  body?: Readonly<Body>
}

/** A key whose hashes were collected, and how rows are read by it. */
interface LookupKey {
  names: readonly string[]
  read: ReadKey
  /** By earlier run that has such keys: how its rows are read, whether the same cells give the same key, and its hashes. */
  ofRuns: Map<EarlierRun, { read: ReadKey; isAlike: boolean; lists: readonly number[] }>
}

/** Journals of earlier runs that are kept open. */
const OPEN_RUNS_MAX = 64

/**
 * Finds rows that earlier runs sent to the same service. Hashes say where to look, and stand in a temporary table, so that
 * memory does not grow with them; then the stored rows themselves are compared, so no row is taken for another.
 */
export class SentBeforeFinder {
  /** Rows that are looked up at once, at most. */
  readonly rowsMax = LOOKUP_ROWS
  readonly #db: DatabaseSync
  readonly #pool = new ReaderPool()
  readonly #runs: readonly EarlierRun[]
  readonly #keys: readonly LookupKey[]
  /** Ids of runs that cannot be read, so that nobody knows what they sent. */
  readonly unreadable = new Set<string>()
  /** Ids of runs to the same address that were sent with another key or another way, and of those of which that cannot be compared. */
  readonly withOtherKey: readonly string[]
  readonly withOtherConnection: readonly string[]
  readonly withUnknownKey: readonly string[]

  /** Reads the hashes of all candidates that sent to the same service. `record` has the columns of the source. */
  constructor(
    db: DatabaseSync,
    {
      workspace,
      record,
      sentWith,
      keys,
      candidates,
    }: {
      workspace: string
      record: RunRecord
      sentWith: SentWith
      keys: RowKeys['keys']
      candidates: readonly string[]
    },
  ) {
    this.#db = db
    db.exec('DROP TABLE IF EXISTS temp.earlier_key')
    db.exec(
      'CREATE TEMP TABLE earlier_key (id INTEGER PRIMARY KEY, base INTEGER NOT NULL, hashes BLOB NOT NULL)',
    )
    const insert = db.prepare('INSERT INTO temp.earlier_key (base, hashes) VALUES (?, ?)')
    const { operation } = record.plan
    this.#keys = keys.map((names) => ({
      names,
      read: createKeyReader(names, operation, record.columns) ?? (() => null),
      ofRuns: new Map(),
    }))
    // Each journal is opened once: a workspace may have thousands.
    const note = (run: EarlierRun) => {
      for (const { names, ofRuns } of this.#keys) {
        const read = run.createKeyReader(names)
        if (read === null) continue
        const lists: number[] = []
        run.listHashes(names, (base, hashes) => {
          lists.push(Number(insert.run(base, toBytes(hashes)).lastInsertRowid))
        })
        ofRuns.set(run, { read, isAlike: mapsAlike(record, run.record, names), lists })
      }
    }
    const asked = { record, sentWith }
    const { runs, unreadable, ...kept } = findEarlierRuns(this.#pool, workspace, asked, candidates, note)
    this.#runs = runs
    this.withOtherKey = kept.withOtherKey
    this.withOtherConnection = kept.withOtherConnection
    this.withUnknownKey = kept.withUnknownKey
    for (const id of unreadable) this.unreadable.add(id)
    this.#pool.makeRoomFor(Math.min(runs.length, OPEN_RUNS_MAX))
  }

  /** Whether any row can have been sent before. */
  get isEmpty(): boolean {
    return this.#runs.length === 0
  }

  /** What became of rows that were sent before, by their place among these; at most {@link rowsMax}. */
  find(rows: readonly AskedRow[]): Map<number, SentBefore> {
    if (rows.length > LOOKUP_ROWS) throw new Error(`${rows.length} rows are more than are looked up at once`)
    const found = new Map<number, SentBefore>()
    const left = rows.map((row) => row.body !== undefined)
    for (const lookup of this.#keys) this.#findBy(lookup, rows, left, found)
    return found
  }

  /** Lets go of the journals of earlier runs. */
  close(): void {
    this.#db.exec('DROP TABLE IF EXISTS temp.earlier_key')
    this.#pool.close()
  }

  /** Looks rows up by one key, those that fill it; these are not `left` for the next. */
  #findBy(
    lookup: LookupKey,
    rows: readonly AskedRow[],
    left: boolean[],
    found: Map<number, SentBefore>,
  ): void {
    const texts: string[] = []
    const wanted = new WantedHashes(rows.length)
    // Rows with the same key have the same answer: the first of them is looked up.
    const alike: [at: number, first: number][] = []
    const isLike = (one: AskedRow | undefined, other: AskedRow) =>
      one !== undefined && hasModelsOf(one.body, other.body) && isSameHalf(one, other)
    for (const [at, asked] of rows.entries()) {
      const { body = {}, cells } = asked
      const text = left[at] ? lookup.read({ body, cells }) : null
      texts.push(text ?? '')
      if (text === null) continue
      left[at] = false
      const hash = toNotedHash(text)
      const first = wanted.find(hash, (one) => texts[one] === text && isLike(rows[one], asked))
      if (first === -1) wanted.add(hash, at)
      else alike.push([at, first])
    }
    const outcomes = new Outcomes(found)
    const pairs = new Pairs()
    const list = this.#db.prepare('SELECT base, hashes FROM temp.earlier_key WHERE id = ?')
    for (const run of this.#runs) {
      outcomes.begin(run.record.runToken)
      for (const id of lookup.ofRuns.get(run)?.lists ?? []) {
        const { base, hashes } = list.get(id) ?? {}
        const first = Number(base)
        wanted.eachIn(fromBytes(hashes as Uint8Array), (at, index) => {
          if (!outcomes.isSettled(at)) pairs.add(first + index, at)
        })
      }
      const same = { rows, texts, pairs: pairs.take(), outcomes }
      if (same.pairs.length > 0) this.#tryReading(run, () => this.#compare(run, lookup, same))
    }
    outcomes.end()
    for (const [at, first] of alike) {
      const sent = found.get(first)
      if (sent !== undefined) found.set(at, sent)
    }
  }

  /** Reads of a run; one that is damaged is noted, and one that was deleted meanwhile is forgotten. */
  #tryReading(run: EarlierRun, read: () => void): void {
    try {
      read()
    } catch (error) {
      if (findDiskTrouble(error) === 'full') throw error
      if (run.isThere) this.unreadable.add(run.runId)
    }
  }

  /** Compares rows of an earlier run with those whose hashes are the same. */
  #compare(
    run: EarlierRun,
    { names, ofRuns }: LookupKey,
    {
      rows,
      texts,
      pairs,
      outcomes,
    }: {
      rows: readonly AskedRow[]
      texts: readonly string[]
      pairs: Float64Array
      outcomes: Outcomes
    },
  ): void {
    const theirs = ofRuns.get(run)
    if (theirs === undefined) return
    const originOf = createOrigins(run.runId, names.join('+'))
    let next = 0
    for (const earlier of run.readSent(listRows(pairs))) {
      while (toPairRow(pairs[next]) < earlier.row) next += 1
      // The row may come again, with other content.
      for (let pair = next; toPairRow(pairs[pair]) === earlier.row; pair += 1) {
        const at = toPairPlace(pairs[pair])
        const row = rows[at]
        if (row === undefined || !isSame(run, theirs, earlier, row, texts[at] ?? '')) continue
        const { outcome, number } = earlier
        outcomes.note(at, { origin: originOf(outcome), row: earlier.row, number })
      }
    }
  }
}

/** Gives the origin of rows of a run, the same for each outcome. */
function createOrigins(runId: string, by: string): (outcome: SentOutcome) => SentBefore['origin'] {
  const origins = new Map<SentOutcome, SentBefore['origin']>()
  return (outcome) => {
    const origin = origins.get(outcome) ?? { by, outcome, runId }
    origins.set(outcome, origin)
    return origin
  }
}

/** Whether an earlier row has the same key as a row. */
function isSame(
  run: EarlierRun,
  { read, isAlike }: { read: ReadKey; isAlike: boolean },
  earlier: { row: number; cellsText: string; kinds: string | null },
  asked: AskedRow,
  text: string,
): boolean {
  const { cells, kinds = null } = asked
  if (isAlike && kinds === earlier.kinds && JSON.stringify(cells) === earlier.cellsText) return true
  const keyed = run.toKeyed(earlier.row, earlier.cellsText, earlier.kinds)
  if (read(keyed) !== text || !hasModelsOf(keyed.body, asked.body)) return false
  return isSameHalf({ ...keyed, row: earlier.row, kinds: earlier.kinds }, asked)
}

/** Whether a row stands for what another one sends, if one of them is half of a record: the halves may share their key. */
function isSameHalf(a: AskedRow, b: AskedRow): boolean {
  const halves = [a, b].flatMap(({ row, kinds = null }) => toHalf(row, kinds) ?? [])
  return halves.every(({ content }) => [a, b].every(({ body }) => body?.[content] !== undefined))
}

/** Whether two rows are for the same models, one by one. */
function hasModelsOf(a: Readonly<Body> = {}, b: Readonly<Body> = {}): boolean {
  const [ofA, ofB] = [a['models'], b['models']]
  return ofA === ofB || JSON.stringify(ofA) === JSON.stringify(ofB)
}

/** More than there are rows in a lookup. */
const PLACES = 2 ** 17

function toPairRow(pair = Infinity): number {
  return Math.floor(pair / PLACES)
}

function toPairPlace(pair = 0): number {
  return pair % PLACES
}

/** Rows of an earlier run, each with the place of a row that may be the same. */
class Pairs {
  #pairs = new Float64Array(1_024)
  #size = 0

  add(row: number, at: number): void {
    if (this.#size === this.#pairs.length) {
      const grown = new Float64Array(this.#size * 2)
      grown.set(this.#pairs)
      this.#pairs = grown
    }
    this.#pairs[this.#size] = row * PLACES + at
    this.#size += 1
  }

  /** All pairs in the order of the earlier rows; there are none then. They hold until the next one is added. */
  take(): Float64Array {
    const taken = this.#pairs.subarray(0, this.#size).sort()
    this.#size = 0
    return taken
  }
}

function listRows(pairs: Float64Array): number[] {
  const rows: number[] = []
  for (const pair of pairs) if (toPairRow(pair) !== rows.at(-1)) rows.push(toPairRow(pair))
  return rows
}

/**
 * Puts together what several runs say of a row: of a run and its retries the newest that has it; else what the service took
 * before what nobody knows, and that before what it did not take. Runs come whole by whole, the newest first.
 */
class Outcomes {
  readonly #found: Map<number, SentBefore>
  #token = ''
  /** What the whole says so far, by the place of the row that is asked about, then the row of the whole. */
  readonly #whole = new Map<number, SentBefore | Map<number, SentBefore>>()

  constructor(found: Map<number, SentBefore>) {
    this.#found = found
  }

  /** The next run belongs to this whole. */
  begin(token: string): void {
    if (token === this.#token) return
    this.end()
    this.#token = token
  }

  /** Whether no other run can say anything else of a row. */
  isSettled(at: number): boolean {
    return this.#found.get(at)?.origin.outcome === 'taken'
  }

  note(at: number, sent: SentBefore): void {
    const before = this.#whole.get(at)
    if (before === undefined || (!(before instanceof Map) && before.row === sent.row))
      this.#whole.set(at, sent)
    else if (before instanceof Map) before.set(sent.row, sent)
    else this.#whole.set(at, new Map([before, sent].map((one) => [one.row, one])))
  }

  /** The whole has no other run. */
  end(): void {
    for (const [at, said] of this.#whole) {
      for (const sent of said instanceof Map ? said.values() : [said]) {
        const before = this.#found.get(at)
        if (before === undefined || RANKS[sent.origin.outcome] > RANKS[before.origin.outcome])
          this.#found.set(at, sent)
      }
    }
    this.#whole.clear()
  }
}
