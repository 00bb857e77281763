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
  const known = scores.filter((score) => score !== null)
  return known.length === 0 ? null : Math.max(...known)
}

function createStepReader(member: RunView, wanted: WantedScores): (range: Range) => AnsweredRow[] {
  const ruleIds = readRuleIds(member)
  return (range) => {
    const { db } = member
    const found = readTuples<[row: number, isAnswered: number | null]>(
      db,
      `SELECT row.id, result.state = 'succeeded' AND result.error_code IS NULL
       FROM row LEFT JOIN result ON result.row = row.id WHERE row.id > ? AND row.id <= ? ORDER BY row.id`,
      range,
    )
    const source = new StepCells(member, range, NO_CELLS)
    const rows = found.map(([row, isAnswered]) => new StoredRow(member, source, row, isAnswered === 1))
    if (rows.length === 0) return rows
    addRules(rows, db, range, ruleIds)
    if (wanted === 'highest') addHighestScores(rows, db, range)
    else if (wanted.length > 0) addScores(rows, db, range, wanted)
    return rows
  }
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

function addRules(
  rows: readonly StoredRow[],
  db: DatabaseSync,
  range: Range,
  ruleIds: ReadonlyMap<number, string>,
): void {
  const triggered = readTuples<[row: number, rule: number]>(
    db,
    'SELECT row, rule FROM row_rule INDEXED BY row_rule_by_row WHERE row > ? AND row <= ? ORDER BY row, rule',
    range,
  )
  matchRows(rows, triggered, (row, [, rule]) => {
    const ruleId = ruleIds.get(rule)
    if (ruleId !== undefined) row.ruleIds = [...row.ruleIds, ruleId]
  })
}

function addHighestScores(rows: readonly StoredRow[], db: DatabaseSync, range: Range): void {
  const highest = readTuples<[row: number, score: number]>(
    db,
    'SELECT row, max(score) FROM row_class WHERE row > ? AND row <= ? GROUP BY row ORDER BY row',
    range,
  )
  for (const row of rows) row.scores = [null]
  matchRows(rows, highest, (row, [, score]) => {
    row.scores[0] = score
  })
}

function addScores(
  rows: readonly StoredRow[],
  db: DatabaseSync,
  range: Range,
  classes: readonly string[],
): void {
  const places = classes.map(() => '?').join(', ')
  const found = readTuples<[row: number, score: number, className: string]>(
    db,
    `SELECT row, score, class FROM row_class WHERE row > ? AND row <= ? AND class IN (${places}) ORDER BY row`,
    [...range, ...classes],
  )
  for (const row of rows) row.scores = classes.map(() => null)
  matchRows(rows, found, (row, [, score, className]) => {
    for (const [index, name] of classes.entries()) if (name === className) row.scores[index] = score
  })
}

/** Hands over each of what was found of rows, ascending like these, with its row. */
function matchRows<Found extends readonly [row: number, ...unknown[]]>(
  rows: readonly StoredRow[],
  found: readonly Found[],
  add: (row: StoredRow, found: Found) => void,
): void {
  let at = 0
  for (const one of found) {
    while ((rows[at]?.row ?? Number.POSITIVE_INFINITY) < one[0]) at += 1
    const row = rows[at]
    if (row?.row === one[0]) add(row, one)
  }
}

/** Arrays rather than objects, which take twice as long to make. */
function readTuples<Tuple>(db: DatabaseSync, sql: string, values: readonly SQLInputValue[]): Tuple[] {
  const statement = db.prepare(sql)
  statement.setReturnArrays(true)
  return statement.all(...values) as unknown as Tuple[]
}

function readRuleIds({ db }: RunView): Map<number, string> {
  const rules = db.prepare('SELECT id, rule_id FROM rule').all()
  return new Map(rules.map(({ id, rule_id }) => [Number(id), String(rule_id)]))
}

function readLastRow({ db }: RunView): number {
  return Number(db.prepare('SELECT max(id) AS id FROM row').get()?.['id'] ?? 0)
}
