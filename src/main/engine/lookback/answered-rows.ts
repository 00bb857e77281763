import {
  createNameReader,
  createRuleReader,
  createSetReader,
  readScoreClasses,
} from '../journal/found-reader.ts'
import type { RunFamily, RunView } from '../journal/run-family.ts'
import { parseTexts } from '../journal/stored-cells.ts'
import { readLastRow } from '../run/results/row-search.ts'
import type { DatabaseSync, SQLInputValue, StatementSync } from '../workspace/sqlite.ts'

// Handing a row over from SQLite takes longer than finding it. So rows are read a column at a time, and what is of few
// bits comes as a string with a character for each row.

/** Row numbers of a step: a statement takes some milliseconds, and the place of a row in its step is a character. */
const STEP_ROWS = 2_000

/** Above the first row number, up to the second. */
type Range = readonly [above: number, upTo: number]

/** What the service answered with a result of its own. */
const IS_ANSWERED = "state = 'succeeded' AND error_code IS NULL"

// The characters of places count from 1.
const RESULTS = `SELECT count(*), group_concat(char(row - ?1), '') FILTER (WHERE NOT (${IS_ANSWERED}))
  FROM result NOT INDEXED WHERE row > ?1 AND row <= ?2`
const ROWS = `SELECT group_concat(char(id - ?1), '') FROM row WHERE id > ?1 AND id <= ?2`
const ANSWERED = `SELECT group_concat(char(row - ?1), '') FROM result NOT INDEXED
  WHERE row > ?1 AND row <= ?2 AND ${IS_ANSWERED}`
const SAID = `SELECT group_concat(char(row - ?1), '') FROM result NOT INDEXED
  WHERE row > ?1 AND row <= ?2 AND answer IS NOT NULL`

/**
 * Reads every row of a run and its retries in the order of the source, each with what its newest run says of it. No read
 * stays open behind a step. Cells of `columns` are read together as soon as one of them is asked for.
 */
export function* readAnsweredSteps(
  family: RunFamily,
  columns: readonly number[] = [],
): Generator<AnsweredStep, void, undefined> {
  const members = family.members.map((view) => ({ view, last: readLastRow(view) }))
  const last = Math.max(0, ...members.map((member) => member.last))
  for (let above = 0; above < last; above += STEP_ROWS) {
    yield new AnsweredStep(members, above, Math.min(STEP_ROWS, last - above), columns)
  }
}

interface Member {
  view: RunView
  last: number
}

/**
 * Some rows of a run and its retries, column by column: making an object of each row would take longer than all that is
 * done with it. Columns are indexed by place, from 0 for the row after `above`. To be read before the next step.
 */
export class AnsweredStep {
  readonly above: number
  readonly width: number
  /** One more than the number of the member that says what became of the row; 0 if the run does not have it. */
  readonly owner: Uint16Array
  /** 1 if the service answered the row with a result of its own. */
  readonly answered: Uint8Array
  readonly #members: readonly Member[]
  readonly #columns: readonly number[]
  /** The places of the rows that each member has; a number if these are so many from the first on. */
  readonly #placesOf: (Uint16Array | number)[]
  readonly #cells = new Map<number, readonly string[]>()
  readonly #whole = new Map<number, ReadonlyMap<number, WholeRow>>()
  #sets: Float64Array | null = null

  constructor(members: readonly Member[], above: number, width: number, columns: readonly number[]) {
    this.above = above
    this.width = width
    this.owner = new Uint16Array(width)
    this.answered = new Uint8Array(width)
    this.#members = members
    this.#columns = columns
    // Each stands for the rows that it took over from those before it.
    this.#placesOf = members.map((member, number) => this.#readResults(member, number + 1))
  }

  rowAt(place: number): number {
    return this.above + place + 1
  }

  /** The number of each row's set of rules as its journal has it, 0 for none. */
  get #rules(): Float64Array {
    this.#sets ??= this.#readNumbers('rules')
    return this.#sets
  }

  /** A number for which rules a row triggered, which other rows of the step with the same rules mostly share. */
  decisionAt(place: number): number {
    return (this.#rules[place] ?? 0) * OWNERS_MAX + (this.owner[place] ?? 0)
  }

  /** Ids of the rules that a row triggered. */
  ruleIdsAt(place: number): readonly string[] {
    const set = this.#rules[place] ?? 0
    const owner = this.owner[place] ?? 0
    const db = this.#members[owner - 1]?.view.db
    if (set === 0 || db === undefined) return NONE
    let toRuleIds = ruleReaders.get(db)
    if (toRuleIds === undefined) {
      const toRule = createRuleReader(db)
      toRuleIds = createSetReader(db, (number) => toRule(number)?.ruleId)
      ruleReaders.set(db, toRuleIds)
    }
    return toRuleIds(set)
  }

  /** 1 if the answer came from the service's cache. */
  get cached(): Float64Array {
    return this.#readNumbers('cached')
  }

  /** 1 if the service said what became of the row in a word. */
  get said(): Uint8Array {
    const said = new Uint8Array(this.width)
    for (const [number, { view }] of this.#members.entries()) {
      const [places] = readTuple<[string | null]>(view.db, SAID, [this.above, this.above + this.width])
      for (const place of toPlaces(places)) if (this.owner[place] === number + 1) said[place] = 1
    }
    return said
  }

  /** A function that says what the answer to the row at a place names; '' for nothing. */
  names(kind: 'language' | 'model'): (place: number) => string {
    const numbers = this.#readNumbers(kind)
    const known = this.#members.map(({ view }) => ({
      toNames: createNameReader(view.db, kind),
      texts: new Map<number, string>(),
    }))
    return (place) => {
      const number = numbers[place] ?? 0
      const own = known[(this.owner[place] ?? 0) - 1]
      if (number === 0 || own === undefined) return ''
      const text = own.texts.get(number) ?? own.toNames(number).join('; ')
      own.texts.set(number, text)
      return text
    }
  }

  /** The scores of each class, NaN where a row has none. */
  scores(classes: readonly string[]): readonly Float64Array[] {
    if (classes.length === 0) return []
    const found = classes.map(() => new Float64Array(this.width).fill(Number.NaN))
    const toColumns = (columnOf: ReadonlyMap<string, string>) =>
      classes.map((className) => columnOf.get(className) ?? 'NULL')
    this.#visitScores(toColumns, (place, tuple, others) => {
      for (let at = 0; at < found.length; at += 1) {
        const score = tuple[SCORES_FROM + at] ?? others?.get(classes[at] ?? '')
        const own = found[at]
        if (own !== undefined && typeof score === 'number') own[place] = score
      }
    })
    return found
  }

  /** The highest score of all classes, NaN where a row has none. */
  get highestScores(): Float64Array {
    const found = new Float64Array(this.width).fill(Number.NaN)
    const toColumns = (columnOf: ReadonlyMap<string, string>) => [toHighest([...columnOf.values()])]
    this.#visitScores(toColumns, (place, tuple, others) => {
      let highest = Number(tuple[SCORES_FROM])
      if (others !== null) highest = Math.max(highest, ...others.values())
      if (highest !== Number.NEGATIVE_INFINITY) found[place] = highest
    })
    return found
  }

  /** The cells of a column, '' where a row has none. */
  cells(column: number): readonly string[] {
    const known = this.#cells.get(column)
    if (known !== undefined) return known
    const columns = [...new Set([...this.#columns.filter((own) => !this.#cells.has(own)), column])]
    const found = columns.map(() => Array.from<string>({ length: this.width }).fill(''))
    for (const [number, { view, last }] of this.#members.entries()) {
      const places = this.#placesOf[number] ?? 0
      if (places === 0) continue
      const range: Range = [this.above, Math.min(last, this.above + this.width)]
      for (const [at, texts] of readCells(view.db, range, columns).entries()) {
        const isEach = typeof places === 'number' && places === texts.length
        const among = isEach || typeof places !== 'number' ? places : readRowPlaces(view, range)
        const own = found[at]
        for (let index = 0; own !== undefined && index < texts.length; index += 1) {
          const place = typeof among === 'number' ? index : (among[index] ?? 0)
          if (this.owner[place] === number + 1) own[place] = texts[index] ?? ''
        }
      }
    }
    for (const [at, own] of columns.entries()) this.#cells.set(own, found[at] ?? NONE)
    return this.#cells.get(column) ?? NONE
  }

  /** All cells of a row, and what each of them is in a JSON source; null where all are text. */
  wholeAt(place: number): WholeRow {
    const owner = this.owner[place] ?? 0
    const view = this.#members[owner - 1]?.view
    if (view === undefined) return NOTHING
    const read = this.#whole.get(owner) ?? readWhole(view.db, [this.above, this.above + this.width])
    this.#whole.set(owner, read)
    return read.get(this.rowAt(place)) ?? NOTHING
  }

  /** Marks the rows of a member, and returns their places. */
  #readResults({ view, last }: Member, owner: number): Uint16Array | number {
    if (last <= this.above) return 0
    const range: Range = [this.above, Math.min(last, this.above + this.width)]
    const [count, unanswered] = readTuple<[number, string | null]>(view.db, RESULTS, range)
    if (count === range[1] - range[0]) {
      this.owner.fill(owner, 0, count)
      this.answered.fill(1, 0, count)
      for (const place of toPlaces(unanswered)) this.answered[place] = 0
      return count
    }
    const places = readRowPlaces(view, range)
    for (const place of places) {
      this.owner[place] = owner
      this.answered[place] = 0
    }
    if (count > 0) {
      const [answered] = readTuple<[string | null]>(view.db, ANSWERED, range)
      for (const place of toPlaces(answered)) if (this.owner[place] === owner) this.answered[place] = 1
    }
    return places.length === 0 ? 0 : places
  }

  /** What was found of each row as a number of its journal, 0 for none. */
  #readNumbers(column: 'rules' | 'cached' | 'language' | 'model'): Float64Array {
    const numbers = new Float64Array(this.width)
    this.#visitFound(
      () => [column],
      `${column} <> 0`,
      (place, tuple) => {
        numbers[place] = Number(tuple[1])
      },
    )
    return numbers
  }

  /**
   * Calls back with the scores of each row in columns, and with those of classes without a column if it has any. Rules are
   * read with them: it costs little more.
   */
  #visitScores(
    toColumns: (columnOf: ReadonlyMap<string, string>) => string[],
    visit: (place: number, tuple: FoundTuple, others: ReadonlyMap<string, number> | null) => void,
  ): void {
    const sets = new Float64Array(this.width)
    const toAll = (db: DatabaseSync) => [
      ...['rules', 'further_scores'],
      ...toColumns(new Map(readScoreClasses(db).map(({ className, column }) => [className, column]))),
    ]
    this.#visitFound(toAll, 'TRUE', (place, tuple) => {
      const further = tuple[2]
      sets[place] = Number(tuple[1])
      visit(place, tuple, further == null ? null : new Map(JSON.parse(String(further)) as [string, number][]))
    })
    this.#sets = sets
  }

  #visitFound(
    toColumns: (db: DatabaseSync) => readonly string[],
    condition: string,
    visit: (place: number, tuple: FoundTuple) => void,
  ): void {
    for (const [number, { view }] of this.#members.entries()) {
      if (this.#placesOf[number] === 0) continue
      const { db } = view
      const sql = `SELECT row, ${toColumns(db).join(', ')} FROM found NOT INDEXED
        WHERE row > ? AND row <= ? AND ${condition}`
      for (const tuple of readTuples<FoundTuple>(db, sql, [this.above, this.above + this.width])) {
        const place = tuple[0] - this.above - 1
        if (this.owner[place] === number + 1) visit(place, tuple)
      }
    }
  }
}

/** An owner is kept in 16 bits. */
const OWNERS_MAX = 0x10000

/** A row of `found`: its number, then the columns that were asked for. */
type FoundTuple = [row: number, ...values: (number | string | null)[]]

/** Behind the row, its rules and `further_scores`. */
const SCORES_FROM = 3

/** What a journal says of a row in the source. */
interface WholeRow {
  cells: string[]
  kinds: string | null
}

const NONE: readonly string[] = []
const NOTHING: WholeRow = { cells: [], kinds: null }

/** Most arguments of a function of SQL, and few enough. */
const ARGUMENTS_MAX = 50

/** The highest of some columns, which may be empty; without any, what is below every score. */
function toHighest(columns: readonly string[]): string {
  const values = columns.slice(0, ARGUMENTS_MAX).map((column) => `coalesce(${column}, -9e999)`)
  const others = columns.slice(ARGUMENTS_MAX)
  return `max(-9e999, ${[others.length === 0 ? '-9e999' : toHighest(others), ...values].join(', ')})`
}

/** The places that characters stand for. */
function toPlaces(characters: string | null): Uint16Array {
  const places = new Uint16Array(characters?.length ?? 0)
  for (let at = 0; at < places.length; at += 1) places[at] = (characters?.charCodeAt(at) ?? 0) - 1
  return places
}

function readRowPlaces({ db }: RunView, range: Range): Uint16Array {
  const [rows] = readTuple<[string | null]>(db, ROWS, range)
  return toPlaces(rows).sort()
}

/**
 * The cells of some columns, each an array in the order of the rows, '' where a row has none. The texts of a stretch come
 * as one JSON array, which takes less than one by one, and has what only JavaScript can hold.
 */
function readCells(db: DatabaseSync, range: Range, columns: readonly number[]): string[][] {
  const each = columns.map(
    (column) => `'[' || group_concat(coalesce(cells -> '$[${column}]', '""'), ',') || ']'`,
  )
  const sql = `SELECT ${each.join(', ')} FROM (SELECT cells FROM row WHERE id > ? AND id <= ? ORDER BY id)`
  let texts: (string | null)[]
  try {
    texts = readTuple<(string | null)[]>(db, sql, range)
  } catch (error) {
    // Long cells may be more than one string can hold.
    if (range[1] - range[0] <= 1) throw error
    const middle = Math.floor((range[0] + range[1]) / 2)
    const rest = readCells(db, [middle, range[1]], columns)
    return readCells(db, [range[0], middle], columns).map((own, at) => own.concat(rest[at] ?? []))
  }
  return texts.map((text) => (text === null ? [] : parseTexts(text)))
}

function readWhole(db: DatabaseSync, range: Range): ReadonlyMap<number, WholeRow> {
  const rows = readTuples<[row: number, text: string, kinds: string | null]>(
    db,
    'SELECT id, cells, kinds FROM row WHERE id > ? AND id <= ?',
    range,
  )
  return new Map(rows.map(([row, text, kinds]) => [row, { cells: JSON.parse(text) as string[], kinds }]))
}

/** Of each reader the ids of the rules in a set, which stay as they were numbered. */
const ruleReaders = new WeakMap<DatabaseSync, (set: number) => string[]>()

/** The statements of each reader, which a step has in common with the next. */
const prepared = new WeakMap<DatabaseSync, Map<string, StatementSync>>()

/** Statements of a reader that are kept. */
const PREPARED_MAX = 30

/** Arrays rather than objects, which take twice as long to make. */
function prepare(db: DatabaseSync, sql: string): StatementSync {
  const own = prepared.get(db) ?? new Map<string, StatementSync>()
  prepared.set(db, own)
  let statement = own.get(sql)
  if (statement === undefined) {
    statement = db.prepare(sql)
    statement.setReturnArrays(true)
    if (own.size >= PREPARED_MAX) own.clear()
    own.set(sql, statement)
  }
  return statement
}

function readTuples<Tuple>(db: DatabaseSync, sql: string, values: readonly SQLInputValue[]): Tuple[] {
  return prepare(db, sql).all(...values) as unknown as Tuple[]
}

function readTuple<Tuple extends unknown[]>(
  db: DatabaseSync,
  sql: string,
  values: readonly SQLInputValue[],
): Tuple {
  return prepare(db, sql).get(...values) as unknown as Tuple
}
