import { createRuleReader, createSetReader, readScoreClasses } from '../journal/found-reader.ts'
import type { RunFamily, RunView } from '../journal/run-family.ts'
import { type FoundColumns, MARKS } from '../run/results/journal-findings.ts'
import type { RowFindings } from '../run/results/row-findings.ts'
import type { RowValues } from '../run/results/row-values.ts'
import type { DatabaseSync, SQLInputValue } from '../workspace/sqlite.ts'

/** A row as looking back reads it: what it was, and what the service decided. */
export interface AnsweredRow {
  row: number
  /** Read when they are asked for. */
  readonly cells: string[]
  /** What each cell is in a JSON source; null where all are text. Read when it is asked for. */
  readonly kinds: string | null
  /** One of its cells, '' where it has none: faster than all of them. */
  cell(column: number): string
  /** The service answered it with a result of its own. */
  isAnswered: boolean
  /** Ids of the rules that it triggered. */
  ruleIds: readonly string[]
  /** Its scores as they were asked for; null where it has none. */
  scores: readonly (number | null)[]
  /** The run whose answer it is. */
  member: RunView
}

/** The scores of each row that are read: of some classes, in that order, or the highest of all its classes alone. */
export type WantedScores = readonly string[] | 'highest'

/** Row numbers read in one step: so few that most of what is read is garbage before it is moved to old space. */
const STEP_ROWS = 1_000

/** Above the first row number, up to the second. */
type Range = readonly [above: number, last: number]

/**
 * Reads every row of a run and its retries in the order of the source, a thousand at a time, each with its newest
 * answer. No read stays open behind it. With complete `findings` of the run, answers are not read from the journals.
 */
export function* readAnsweredRows(
  family: RunFamily,
  wanted: WantedScores = [],
  findings: RowFindings | null = null,
): Generator<AnsweredRow[], void, undefined> {
  const last = Math.max(...family.members.map(readLastRow))
  const readers = family.members.map((member) => {
    const found = findings?.ofJournal(member.file)?.columns
    return found !== undefined && isWhole(found)
      ? createFoundReader(member, found, wanted)
      : createStepReader(member, wanted)
  })
  for (let above = 0; above < last; above += STEP_ROWS) {
    yield mergeSteps(readers.map((readStep) => readStep([above, above + STEP_ROWS])))
  }
}

/** Whether findings have all that rows can have, however much it is. */
function isWhole({ kinds, hasAllClasses }: FoundColumns): boolean {
  return kinds.isWhole && hasAllClasses
}

/** The rows of all members in their order, each from the newest that has it; members come oldest first. */
function mergeSteps(steps: readonly AnsweredRow[][]): AnsweredRow[] {
  const [first = [], ...newer] = steps.filter(({ length }) => length > 0)
  if (newer.length === 0) return first
  const newest = new Map([first, ...newer].flat().map((row) => [row.row, row]))
  return [...newest.values()].sort((a, b) => a.row - b.row)
}

function createFoundReader(
  member: RunView,
  { marks, kinds, scores, cells, last }: FoundColumns,
  wanted: WantedScores,
): (range: Range) => AnsweredRow[] {
  const ofWanted = wanted === 'highest' ? [...scores.values()] : wanted.map((name) => scores.get(name))
  const readScores = (row: number) =>
    ofWanted.map((own) => {
      const score = own?.at(row) ?? Number.NaN
      return Number.isNaN(score) ? null : score
    })
  return ([above, upTo]) => {
    const source = new StepCells(member, [above, upTo], cells)
    const rows: AnsweredRow[] = []
    for (let row = above + 1; row <= Math.min(upTo, last); row += 1) {
      const mark = marks[row] ?? 0
      if ((mark & MARKS.row) === 0) continue
      const read = new StoredRow(member, source, row, (mark & MARKS.answered) !== 0)
      read.ruleIds = kinds.rulesAt(row)
      if (wanted === 'highest') read.scores = [toHighest(readScores(row))]
      else if (wanted.length > 0) read.scores = readScores(row)
      rows.push(read)
    }
    return rows
  }
}

function toHighest(scores: readonly (number | null)[]): number | null {
  let highest: number | null = null
  for (const score of scores)
    if (score !== null && score > (highest ?? Number.NEGATIVE_INFINITY)) highest = score
  return highest
}

function createStepReader(member: RunView, wanted: WantedScores): (range: Range) => AnsweredRow[] {
  return (range) => {
    const { db } = member
    const columnOf = new Map(readScoreClasses(db).map(({ className, column }) => [className, column]))
    const classes = wanted === 'highest' ? [...columnOf.keys()] : wanted
    const columns = classes.map((className) => columnOf.get(className) ?? 'NULL')
    const found = readTuples<FoundRow>(
      db,
      `SELECT ${['row.id', IS_ANSWERED, 'coalesce(found.rules, 0)', 'found.further_scores', ...columns].join(', ')}
       FROM row LEFT JOIN result ON result.row = row.id LEFT JOIN found ON found.row = row.id
       WHERE row.id > ? AND row.id <= ? ORDER BY row.id`,
      range,
    )
    const source = new StepCells(member, range, NO_CELLS)
    const toRule = createRuleReader(db)
    const toRules = createSetReader(db, (number) => toRule(number)?.ruleId)
    return found.map(([row, isAnswered, set, further, ...scores]) => {
      const read = new StoredRow(member, source, row, isAnswered === 1)
      if (set !== 0) read.ruleIds = toRules(set)
      const others = further === null ? NO_SCORES : (JSON.parse(further) as [string, number][])
      if (wanted === 'highest') read.scores = [toHighest([...scores, ...others.map(([, score]) => score)])]
      else if (wanted.length > 0)
        read.scores = others.length === 0 ? scores : addOthers(scores, classes, others)
      return read
    })
  }
}

const IS_ANSWERED = "result.state = 'succeeded' AND result.error_code IS NULL"

type FoundRow = [
  row: number,
  isAnswered: number | null,
  rules: number,
  further: string | null,
  ...scores: (number | null)[],
]

const NO_SCORES: readonly [string, number][] = []

/** The scores of classes without columns, in the places of these. */
function addOthers(
  scores: readonly (number | null)[],
  classes: readonly string[],
  others: readonly (readonly [string, number])[],
): (number | null)[] {
  const known = new Map(others)
  return scores.map((score, at) => score ?? known.get(classes[at] ?? '') ?? null)
}

interface WholeRow {
  text: string
  kinds: string | null
}

/** The cells of the rows of a step, read when the first of them is asked for, which many questions never do. */
class StepCells {
  readonly #member: RunView
  readonly #range: Range
  readonly #known: ReadonlyMap<number, RowValues>
  #whole: ReadonlyMap<number, WholeRow> | null = null
  readonly #columns = new Map<number, (string | undefined)[]>()

  /** `known` are columns whose cells are at hand. */
  constructor(member: RunView, range: Range, known: ReadonlyMap<number, RowValues>) {
    this.#member = member
    this.#range = range
    this.#known = known
  }

  /** One cell of a row; undefined where it has none. Reads that column alone. */
  cell(row: number, column: number): string | undefined {
    const known = this.#known.get(column)
    if (known !== undefined) return known.at(row)[0]
    let cells = this.#columns.get(column)
    if (cells === undefined) {
      cells = this.#readColumn(column)
      this.#columns.set(column, cells)
    }
    return cells[row - this.#range[0]]
  }

  cells(row: number): string[] {
    return JSON.parse(this.#read().get(row)?.text ?? '[]') as string[]
  }

  kinds(row: number): string | null {
    return this.#read().get(row)?.kinds ?? null
  }

  #readColumn(column: number): (string | undefined)[] {
    const cells: (string | undefined)[] = []
    // Escapes by number may stand for what only JavaScript can hold.
    const found = readTuples<[row: number, cell: string | null, text: string | null]>(
      this.#member.db,
      `SELECT id, CASE WHEN isPlain THEN cells ->> ? END, CASE WHEN NOT isPlain THEN cells END
       FROM (SELECT id, cells, instr(cells, '\\u') = 0 AS isPlain FROM row WHERE id > ? AND id <= ?)`,
      [`$[${column}]`, ...this.#range],
    )
    for (const [row, cell, text] of found) {
      cells[row - this.#range[0]] =
        text === null ? (cell ?? undefined) : (JSON.parse(text) as string[])[column]
    }
    return cells
  }

  #read(): ReadonlyMap<number, WholeRow> {
    this.#whole ??= new Map(
      readTuples<[row: number, text: string, kinds: string | null]>(
        this.#member.db,
        'SELECT id, cells, kinds FROM row WHERE id > ? AND id <= ?',
        this.#range,
      ).map(([row, text, kinds]) => [row, { text, kinds }]),
    )
    return this.#whole
  }
}

/** A row as it stands in the journal. */
class StoredRow implements AnsweredRow {
  readonly row: number
  readonly isAnswered: boolean
  readonly member: RunView
  ruleIds: readonly string[] = NONE
  scores: (number | null)[] = []
  readonly #source: StepCells

  constructor(member: RunView, source: StepCells, row: number, isAnswered: boolean) {
    this.row = row
    this.isAnswered = isAnswered
    this.member = member
    this.#source = source
  }

  get cells(): string[] {
    return this.#source.cells(this.row)
  }

  get kinds(): string | null {
    return this.#source.kinds(this.row)
  }

  cell(column: number): string {
    return this.#source.cell(this.row, column) ?? ''
  }
}

const NONE: readonly string[] = []
const NO_CELLS: ReadonlyMap<number, RowValues> = new Map()

/** Arrays rather than objects, which take twice as long to make. */
function readTuples<Tuple>(db: DatabaseSync, sql: string, values: readonly SQLInputValue[]): Tuple[] {
  const statement = db.prepare(sql)
  statement.setReturnArrays(true)
  return statement.all(...values) as unknown as Tuple[]
}

function readLastRow({ db }: RunView): number {
  return Number(db.prepare('SELECT max(id) AS id FROM row').get()?.['id'] ?? 0)
}
