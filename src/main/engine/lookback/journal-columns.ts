import { readCells } from '../journal/cell-columns.ts'
import {
  createNameReader,
  createRuleReader,
  createSetReader,
  readScoreClasses,
} from '../journal/found-reader.ts'
import type { RunView } from '../journal/run-family.ts'
import { listRows } from '../run/results/row-outcomes.ts'
import { type DatabaseSync, readTuple, readTuples, toPlaces } from '../workspace/sqlite.ts'
import type { StretchColumns } from './stretch-columns.ts'

// Handing a row over from SQLite takes longer than finding it, so rows are read a column at a time, and small
// values come as a string with one character per row.

/** Rows that the service answered with a result of their own. */
const IS_ANSWERED = "state = 'succeeded' AND error_code IS NULL AND answer IS NOT 'no_result'"

// Places are encoded as characters, from 1.
const RESULTS = `SELECT count(*), group_concat(char(row - ?1), '') FILTER (WHERE NOT (${IS_ANSWERED}))
  FROM result NOT INDEXED WHERE row > ?1 AND row <= ?2`
const ANSWERED = `SELECT group_concat(char(row - ?1), '') FROM result NOT INDEXED
  WHERE row > ?1 AND row <= ?2 AND ${IS_ANSWERED}`
const STATED = `SELECT group_concat(char(row - ?1), '') FROM result NOT INDEXED
  WHERE row > ?1 AND row <= ?2 AND answer IS NOT NULL`

/** A stretch of rows, read from the journal itself. */
export class JournalColumns implements StretchColumns {
  readonly width: number
  readonly has: Uint8Array
  readonly answered: Uint8Array
  readonly #db: DatabaseSync
  readonly #range: readonly [above: number, upTo: number]
  #sets: Float64Array | null = null

  /** Covers the `width` rows after number `above`; a string must be able to hold a character for each. */
  constructor({ db }: Pick<RunView, 'db'>, above: number, width: number) {
    this.#db = db
    this.#range = [above, above + width]
    this.width = width
    this.has = new Uint8Array(width)
    this.answered = new Uint8Array(width)
    this.#readResults()
  }

  get outcomeStated(): Uint8Array {
    const stated = new Uint8Array(this.width)
    const [places] = readTuple<[string | null]>(this.#db, STATED, this.#range)
    for (const place of toPlaces(places)) stated[place] = 1
    return stated
  }

  get cached(): Uint8Array {
    return Uint8Array.from(this.#readNumbers('cached'))
  }

  get sets(): Float64Array {
    this.#sets ??= this.#readNumbers('rules')
    return this.#sets
  }

  ruleIdsOf(set: number): readonly string[] {
    if (set === 0) return []
    let toRuleIds = ruleReaders.get(this.#db)
    if (toRuleIds === undefined) {
      const toRule = createRuleReader(this.#db)
      toRuleIds = createSetReader(this.#db, (number) => toRule(number)?.ruleId)
      ruleReaders.set(this.#db, toRuleIds)
    }
    return toRuleIds(set)
  }

  names(kind: 'language' | 'model'): readonly string[] {
    const toNames = createNameReader(this.#db, kind)
    const texts = new Map([[0, '']])
    return Array.from(this.#readNumbers(kind), (number) => {
      const text = texts.get(number) ?? toNames(number).join('; ')
      texts.set(number, text)
      return text
    })
  }

  scores(classes: readonly string[]): readonly Float64Array[] {
    if (classes.length === 0) return []
    const found = classes.map(() => new Float64Array(this.width).fill(Number.NaN))
    const columnOf = this.#mapClasses()
    const columns = classes.map((className) => columnOf.get(className) ?? 'NULL')
    this.#visitScores(columns, (place, tuple, others) => {
      for (let at = 0; at < found.length; at += 1) {
        const score = tuple[SCORES_FROM + at] ?? others?.get(classes[at] ?? '')
        const own = found[at]
        if (own !== undefined && typeof score === 'number') own[place] = score
      }
    })
    return found
  }

  get highestScores(): Float64Array {
    const found = new Float64Array(this.width).fill(Number.NaN)
    this.#visitScores([toHighest([...this.#mapClasses().values()])], (place, tuple, others) => {
      let highest = Number(tuple[SCORES_FROM])
      if (others !== null) highest = Math.max(highest, ...others.values())
      if (highest !== Number.NEGATIVE_INFINITY) found[place] = highest
    })
    return found
  }

  cells(columns: readonly number[]): readonly (readonly string[])[] {
    const places = this.#listPlaces()
    return readCells(this.#db, this.#range, columns).map((texts) => {
      if (places.length === this.width && texts.length === this.width) return texts
      const own = Array.from<string>({ length: this.width }).fill('')
      for (const [index, text] of texts.entries()) own[places[index] ?? 0] = text
      return own
    })
  }

  #listPlaces(): number[] {
    return Array.from(this.has.keys()).filter((place) => this.has[place] === 1)
  }

  #readResults(): void {
    const [count, unanswered] = readTuple<[number, string | null]>(this.#db, RESULTS, this.#range)
    if (count === this.width) {
      this.has.fill(1)
      this.answered.fill(1)
      for (const place of toPlaces(unanswered)) this.answered[place] = 0
      return
    }
    for (const row of listRows(this.#db, this.#range)) this.has[row - this.#range[0] - 1] = 1
    if (count === 0) return
    const [answered] = readTuple<[string | null]>(this.#db, ANSWERED, this.#range)
    for (const place of toPlaces(answered)) this.answered[place] = 1
  }

  /** Reads one finding of each row as a number; 0 for none. */
  #readNumbers(column: 'rules' | 'cached' | 'language' | 'model'): Float64Array {
    const numbers = new Float64Array(this.width)
    this.#visitFound([column], `${column} <> 0`, (place, tuple) => {
      numbers[place] = Number(tuple[1])
    })
    return numbers
  }

  #mapClasses(): ReadonlyMap<string, string> {
    return new Map(readScoreClasses(this.#db).map(({ className, column }) => [className, column]))
  }

  /**
   * Calls `visit` for each row with scores: those in columns, and those of classes without a column if it has
   * any. Reads rules along with them, which costs little more.
   */
  #visitScores(
    columns: readonly string[],
    visit: (place: number, tuple: FoundTuple, others: ReadonlyMap<string, number> | null) => void,
  ): void {
    const sets = new Float64Array(this.width)
    this.#visitFound(['rules', 'further_scores', ...columns], 'TRUE', (place, tuple) => {
      const further = tuple[2]
      sets[place] = Number(tuple[1])
      visit(place, tuple, further == null ? null : new Map(JSON.parse(String(further)) as [string, number][]))
    })
    this.#sets = sets
  }

  #visitFound(
    columns: readonly string[],
    condition: string,
    visit: (place: number, tuple: FoundTuple) => void,
  ): void {
    const sql = `SELECT row, ${columns.join(', ')} FROM found NOT INDEXED
      WHERE row > ? AND row <= ? AND ${condition}`
    for (const tuple of readTuples<FoundTuple>(this.#db, sql, this.#range)) {
      visit(tuple[0] - this.#range[0] - 1, tuple)
    }
  }
}

/** A row of `found`: its number, then the requested columns. */
type FoundTuple = [row: number, ...values: (number | string | null)[]]

/** Scores come after the row, its rules and `further_scores`. */
const SCORES_FROM = 3

/** Most arguments given to an SQL function, well within its limit. */
const ARGUMENTS_MAX = 50

/** SQL for the highest of some columns, which may be empty; without columns, a value below every score. */
function toHighest(columns: readonly string[]): string {
  const values = columns.slice(0, ARGUMENTS_MAX).map((column) => `coalesce(${column}, -9e999)`)
  const others = columns.slice(ARGUMENTS_MAX)
  return `max(-9e999, ${[others.length === 0 ? '-9e999' : toHighest(others), ...values].join(', ')})`
}

/** By reader, the ids of the rules in a set; the numbers of sets never change. */
const ruleReaders = new WeakMap<DatabaseSync, (set: number) => string[]>()
