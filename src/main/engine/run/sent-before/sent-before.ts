import { findDiskTrouble } from '../../../../shared/messages/thrown.ts'
import type { SentBefore, SentOutcome } from '../../../../shared/run/sent-before.ts'
import { ReaderPool } from '../../journal/run-family.ts'
import type { RunRecord } from '../../journal/run-record.ts'
import { openScratchDatabase } from '../../workspace/scratch-database.ts'
import {
  type AskedRows,
  areSameHalf,
  CONTENTS,
  type FoundRows,
  hashContent,
  isAnyHalf,
  LOOKUP_ROWS,
  toContents,
  toFoundRows,
  toModelsText,
} from './asked-rows.ts'
import { type EarlierRun, findEarlierRuns, mapsAlike, RANKS, type SentWith } from './earlier-runs.ts'
import { fromBytes, type ReadKey, type RowKeys, toBytes, toNotedHash, WantedHashes } from './row-keys.ts'

/** A key whose hashes were collected. */
interface LookupKey {
  names: readonly string[]
  /** By earlier run that has this key. */
  ofRuns: Map<EarlierRun, KeyOfRun>
}

/** How to read a run's rows, whether equal cells give the same key and contents, and its hashes. */
interface KeyOfRun {
  read: ReadKey
  isAlike: boolean
  hasSameContents: boolean
  lists: readonly number[]
}

/** The run whose rows are looked up, and where to search. */
export interface SearchTask {
  workspace: string
  /** Has the columns of the source. */
  record: RunRecord
  sentWith: SentWith
  keys: RowKeys['keys']
  /** Ids of runs that may have sent rows to the same service. */
  candidates: readonly string[]
}

/** Runs that reveal nothing, or nothing certain, about what was sent before. */
export interface UncertainRuns {
  /** Ids of unreadable runs, so that it is unknown what they sent. */
  unreadable: readonly string[]
  /**
   * Ids of runs to the same address: with another key, sent another way, and with a key that cannot be
   * compared.
   */
  withOtherKey: readonly string[]
  withOtherConnection: readonly string[]
  withUnknownKey: readonly string[]
  /** Ids of runs whose source lacks the columns that identify rows. */
  withoutColumn: readonly string[]
}

/** Page cache for the hashes, KiB: each lookup reads all of them in order. */
const CACHE_KIB = 1_024

/** Most journals of earlier runs kept open. */
const OPEN_RUNS_MAX = 64

/**
 * Finds rows that earlier runs sent to the same service. Hashes, in a separate database so that memory does
 * not grow with them, only say where to look; then the stored rows themselves are compared, so no row is
 * mistaken for another.
 */
export class SentBeforeFinder {
  readonly #db = openScratchDatabase({ cacheKib: CACHE_KIB })
  readonly #pool = new ReaderPool()
  readonly #runs: readonly EarlierRun[]
  readonly #keys: readonly LookupKey[]
  readonly #unreadable: Set<string>
  readonly #others: Omit<UncertainRuns, 'unreadable'>

  /** Reads the hashes of all candidates that sent to the same service. */
  constructor({ workspace, record, sentWith, keys, candidates }: SearchTask) {
    this.#db.exec(
      'CREATE TABLE earlier_key (id INTEGER PRIMARY KEY, base INTEGER NOT NULL, hashes BLOB NOT NULL)',
    )
    const insert = this.#db.prepare('INSERT INTO earlier_key (base, hashes) VALUES (?, ?)')
    this.#keys = keys.map((names) => ({ names, ofRuns: new Map() }))
    // Opens each journal once: a workspace may have thousands.
    const withoutColumn: string[] = []
    const note = (run: EarlierRun) => {
      for (const { names, ofRuns } of this.#keys) {
        const read = run.createKeyReader(names)
        if (read === null) continue
        const lists: number[] = []
        run.listHashes(names, (base, hashes) => {
          lists.push(Number(insert.run(base, toBytes(hashes)).lastInsertRowid))
        })
        const isAlike = mapsAlike(record, run.record, names)
        const hasSameContents = isAlike && mapsAlike(record, run.record, CONTENTS)
        ofRuns.set(run, { read, isAlike, hasSameContents, lists })
      }
      if (!this.#keys.some(({ ofRuns }) => ofRuns.has(run))) withoutColumn.push(run.runId)
    }
    const asked = { record, sentWith }
    const { runs, unreadable, ...others } = findEarlierRuns(this.#pool, workspace, asked, candidates, note)
    this.#runs = runs
    this.#others = { ...others, withoutColumn }
    this.#unreadable = new Set(unreadable)
    this.#pool.makeRoomFor(Math.min(runs.length, OPEN_RUNS_MAX))
  }

  /** Whether no row can have been sent before. */
  get isEmpty(): boolean {
    return this.#runs.length === 0
  }

  /** As known so far: a run may turn out to be damaged when its rows are read. */
  get uncertain(): UncertainRuns {
    return { ...this.#others, unreadable: [...this.#unreadable] }
  }

  /** Outcomes of rows sent before, for at most {@link LOOKUP_ROWS} rows. */
  find(asked: AskedRows): FoundRows {
    const rows = asked.texts.length
    if (rows > LOOKUP_ROWS) throw new Error(`${rows} rows are more than are looked up at once`)
    const found = new Map<number, SentBefore>()
    for (const [index, lookup] of this.#keys.entries()) this.#findBy(lookup, index, asked, found)
    return toFoundRows(found, rows)
  }

  /** Closes the journals of earlier runs. */
  close(): void {
    this.#db.close()
    this.#pool.close()
  }

  /** Looks up the rows identified by the key of this index. */
  #findBy(lookup: LookupKey, index: number, asked: AskedRows, found: Map<number, SentBefore>): void {
    const { texts, keys, kinds, models, contents, contentHashes } = asked
    const wanted = new WantedHashes(texts.length)
    // Rows with the same key have the same answer, so only the first is looked up.
    const alike: [at: number, first: number][] = []
    const isLike = (a: number, b: number) =>
      models?.[a] === models?.[b] &&
      CONTENTS.every(
        (_, i) => contentHashes[a * CONTENTS.length + i] === contentHashes[b * CONTENTS.length + i],
      ) &&
      (kinds === null ||
        areSameHalf([kinds[a] ?? null, kinds[b] ?? null], (contents[a] ?? 0) & (contents[b] ?? 0)))
    for (const [at, text] of texts.entries()) {
      if (keys[at] !== index) continue
      const hash = toNotedHash(text)
      const first = wanted.find(hash, (one) => texts[one] === text && isLike(one, at))
      if (first === -1) wanted.add(hash, at)
      else alike.push([at, first])
    }
    const outcomes = new Outcomes(found)
    const pairs = new Pairs()
    const list = this.#db.prepare('SELECT base, hashes FROM earlier_key WHERE id = ?')
    for (const run of this.#runs) {
      outcomes.begin(run.record.runToken)
      for (const id of lookup.ofRuns.get(run)?.lists ?? []) {
        const { base, hashes } = list.get(id) ?? {}
        const first = Number(base)
        wanted.eachIn(fromBytes(hashes as Uint8Array), (at, index) => {
          if (!outcomes.isSettled(at)) pairs.add(first + index, at)
        })
      }
      const taken = pairs.take()
      if (taken.length > 0) this.#tryReading(run, () => this.#compare(run, lookup, asked, taken, outcomes))
    }
    outcomes.end()
    for (const [at, first] of alike) {
      const sent = found.get(first)
      if (sent !== undefined) found.set(at, sent)
    }
  }

  /** Reads from a run; a damaged one is noted, a deleted one forgotten. */
  #tryReading(run: EarlierRun, read: () => void): void {
    try {
      read()
    } catch (error) {
      if (findDiskTrouble(error) === 'full') throw error
      if (run.isThere) this.#unreadable.add(run.runId)
    }
  }

  /** Compares rows of an earlier run with those of equal hashes. */
  #compare(
    run: EarlierRun,
    { names, ofRuns }: LookupKey,
    asked: AskedRows,
    pairs: Float64Array,
    outcomes: Outcomes,
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
        const isChanged = compareRows(run, theirs, earlier, asked, at)
        if (isChanged === null) continue
        const { outcome, number } = earlier
        outcomes.note(at, { origin: originOf(outcome), row: earlier.row, number, isChanged })
      }
    }
  }
}

/** Creates the origins of a run's rows, one object per outcome. */
function createOrigins(runId: string, by: string): (outcome: SentOutcome) => SentBefore['origin'] {
  const origins = new Map<SentOutcome, SentBefore['origin']>()
  return (outcome) => {
    const origin = origins.get(outcome) ?? { by, outcome, runId }
    origins.set(outcome, origin)
    return origin
  }
}

/** Whether an earlier row has other contents than the row at a place; null if its key differs. */
function compareRows(
  run: EarlierRun,
  { read, isAlike, hasSameContents }: KeyOfRun,
  earlier: { row: number; cellsText: string; kinds: string | null },
  { texts, cells, kinds, models, contents, contentHashes }: AskedRows,
  at: number,
): boolean | null {
  const itsKinds = kinds?.[at] ?? null
  const isAsStored = isAlike && itsKinds === earlier.kinds && cells[at] === earlier.cellsText
  if (isAsStored && hasSameContents) return false
  const { body, ...keyed } = run.toKeyed(earlier.row, earlier.cellsText, earlier.kinds)
  const both = [itsKinds, earlier.kinds]
  const isSame =
    isAsStored ||
    (read({ body, ...keyed }) === texts[at] &&
      toModelsText(body) === (models?.[at] ?? '') &&
      areSameHalf(both, (contents[at] ?? 0) & toContents(body)))
  if (!isSame) return null
  const isHalf = isAnyHalf(both)
  return CONTENTS.some((content, index) => {
    const now = contentHashes[at * CONTENTS.length + index] ?? 0
    const then = hashContent(body[content])
    return now !== then && now !== 0 && !(isHalf && then === 0)
  })
}

/** More than the rows in a lookup. */
const PLACES = 2 ** 17

function toPairRow(pair = Infinity): number {
  return Math.floor(pair / PLACES)
}

function toPairPlace(pair = 0): number {
  return pair % PLACES
}

/** Rows of an earlier run, each with the place of a possibly equal row. */
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

  /** Takes all pairs, in the order of the earlier rows. The result is valid until the next pair is added. */
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
 * Combines the outcomes of a row in several runs: of a run and its retries the newest that has it; otherwise
 * taken before unknown before not taken. Runs come whole by whole, the newest first.
 */
class Outcomes {
  readonly #found: Map<number, SentBefore>
  #token = ''
  /** The present whole's outcomes so far, by place of the requested row, then by row of the whole. */
  readonly #whole = new Map<number, SentBefore | Map<number, SentBefore>>()

  constructor(found: Map<number, SentBefore>) {
    this.#found = found
  }

  /** Begins the whole of the next run. */
  begin(token: string): void {
    if (token === this.#token) return
    this.end()
    this.#token = token
  }

  /** Whether no other run can change the outcome of a row. */
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

  /** Ends the present whole. */
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
