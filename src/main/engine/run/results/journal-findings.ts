import { hash } from 'node:crypto'
import type { RowState } from '../../../../shared/run/item-state.ts'
import { type FacetOf, listFacetKinds } from '../../../../shared/run/row-filters.ts'
import { readCells } from '../../journal/cell-columns.ts'
import {
  createNameReader,
  createRuleReader,
  createSetReader,
  readScoreClasses,
} from '../../journal/found-reader.ts'
import type { RunView } from '../../journal/run-family.ts'
import { parseCells } from '../../journal/stored-cells.ts'
import { createFieldMapper } from '../../mapping/row-mapper.ts'
import { type DatabaseSync, readTuples } from '../../workspace/sqlite.ts'
import { createFileReader } from '../journal/intake-writer.ts'
import { RowCells } from './row-cells.ts'
import { RowKinds, readRows } from './row-kinds.ts'
import { listRows, readOutcomes } from './row-outcomes.ts'
import { RowScores, RowValues } from './row-values.ts'

/** Row numbers looked at in one step: some milliseconds. */
const STEP_ROWS = 1_000

/** Columns of the source whose cells may be kept, the first of them: each takes 2 bytes a row. */
const CELL_COLUMNS_MAX = 24

/** Most kinds of answered rows that are known by their rules and answer. */
const ANSWERED_MAX = 60_000

/** Which rows a journal says something of, and what; added up for each row. */
export const MARKS = {
  /** The journal has the row. */
  row: 1,
  /** It was tried. */
  tried: 2,
  /** Its request says which variant and models it asks for. */
  sent: 4,
  /** Its answer was read. */
  read: 8,
  /** The service answered it with a result of its own. */
  answered: 16,
  /** Its answer came from the service's cache. */
  cached: 32,
} as const

/** The facets whose values findings have of each row. */
export type FoundKind = FacetOf<'values'>

export const FOUND_KINDS: readonly FoundKind[] = listFacetKinds('values')

/**
 * Where the values of a kind stand: in a field of the request, in the answer of a task, or there if it has any. The file
 * is that of the row.
 */
export const FOUND: Record<FoundKind, { field?: string; named?: 'language' | 'model' }> = {
  file: {},
  language: { named: 'language' },
  model: { field: 'models', named: 'model' },
  variant: { field: 'content_variant' },
}

/** The kinds that answers name, as the journal's columns are called. */
const FOUND_NAMES = FOUND_KINDS.flatMap((kind) => FOUND[kind].named ?? [])

/** What {@link JournalFindings} hold by row number, ready to be stored. */
export interface FoundColumns {
  /** The last row number of the journal. */
  last: number
  marks: Uint8Array
  attempts: Uint16Array
  /** Milliseconds of the last try, and from the request to the callback; NaN if nothing was measured. */
  latencies: Float32Array
  callbackLatencies: Float32Array
  /** What facets say of it: its state, its error, its rules. */
  kinds: RowKinds
  values: Record<FoundKind, RowValues>
  /** Of the classes whose scores have columns in the journal. */
  scores: Map<string, RowScores>
  /** The cells of columns of the source in which few values occur, by the number of the column. */
  cells: Map<number, RowCells>
}

/**
 * What one journal says of each row: how it was answered, what it triggered and scored, and what its answer names. Read
 * a step at a time.
 */
export class JournalFindings {
  readonly columns: FoundColumns
  /** What {@link readFingerprint} said when reading began. */
  readonly fingerprint: string
  #mappers: Mappers | null = null
  /** The number of the kind of answered rows, by their rules and their answer. */
  readonly #answered = new Map<number | string, number>()
  #readers: Readers | null = null
  #after = 0

  private constructor(columns: FoundColumns, fingerprint: string) {
    this.columns = columns
    this.fingerprint = fingerprint
  }

  /** Findings that nothing was read for yet. */
  static begin(run: RunView, fingerprint: string): JournalFindings {
    const last = Number(run.db.prepare('SELECT max(id) AS id FROM row').get()?.['id'] ?? 0)
    return new JournalFindings(createColumns(last, run.record.columns.length), fingerprint)
  }

  /** All findings of a small journal at once. */
  static build(run: RunView, fingerprint: string): JournalFindings {
    const findings = JournalFindings.begin(run, fingerprint)
    while (!findings.isComplete) findings.step(run)
    return findings
  }

  /** Findings that were stored whole. */
  static restore(columns: FoundColumns, fingerprint: string): JournalFindings {
    const findings = new JournalFindings(columns, fingerprint)
    findings.#after = columns.last
    return findings
  }

  /** Whether every row was looked at. */
  get isComplete(): boolean {
    return this.#after >= this.columns.last
  }

  /** The last row that was looked at. */
  get lastRead(): number {
    return this.#after
  }

  /** Looks at the next few hundred rows. */
  step(run: RunView): void {
    const range = [this.#after, Math.min(this.columns.last, this.#after + STEP_ROWS)] as const
    this.#after = range[1]
    this.#readSent(run, range)
    const rows = this.#readRows(run, range)
    this.#readFiles(run, rows)
    this.#readCells(run, range, rows)
  }

  /** The file of each row; none if the source is a single one. */
  #readFiles({ db }: RunView, rows: readonly number[]): void {
    const toFile = createFileReader(db)
    if (toFile === null) return
    for (const row of rows) this.columns.values.file.set(row, [toFile(row)])
  }

  /** Cells of columns that turn out to have too many different ones are given up. */
  #readCells({ db }: RunView, range: Range, rows: readonly number[]): void {
    const { cells, last } = this.columns
    let read: readonly (readonly string[])[] = []
    try {
      read = readCells(db, range, [...cells.keys()])
    } catch {
      // Whoever asks for damaged cells reads the journal, and gets the error.
      cells.clear()
    }
    for (const [at, [column, own]] of [...cells].entries()) {
      const texts = read[at] ?? []
      for (let index = 0; index < texts.length; index += 1) own.set(rows[index] ?? 0, texts[index] ?? '')
      if (!own.isWhole || (this.isComplete && !own.isWorthKeeping(last))) cells.delete(column)
    }
  }

  /**
   * What became of rows, and what their answers say; models that these name take the place of those asked for. Returns
   * the rows that there are, ascending.
   */
  #readRows(run: RunView, range: Range): number[] {
    const { marks, attempts, latencies, callbackLatencies } = this.columns
    const rows = listRows(run.db, range)
    const sets = this.#readFound(run, range)
    const { durations, others } = readOutcomes(run.db, range)
    const unanswered: number[] = []
    for (const row of rows) {
      const place = row - range[0] - 1
      const set = sets[place] ?? NO_SET
      const plainUs = durations[place] ?? Number.NaN
      if (!Number.isNaN(plainUs)) {
        marks[row] = (marks[row] ?? 0) | PLAIN_MARKS
        latencies[row] = plainUs / 1000
        attempts[row] = 1
        this.#setAnswered(run, row, set, null)
        continue
      }
      const result = others.get(row)
      marks[row] = (marks[row] ?? 0) | MARKS.row | (set === NO_SET ? 0 : MARKS.read)
      if (result === undefined) {
        unanswered.push(row)
        continue
      }
      const [, state, code, answer, tries, durationUs, callbackUs] = result
      if (state === 'succeeded' && code === null) {
        marks[row] |= MARKS.answered
        this.#setAnswered(run, row, set, answer)
      } else unanswered.push(row)
      if (tries === 0) continue
      marks[row] |= MARKS.tried | (DECIDED_STATES.has(state) ? MARKS.read : 0)
      latencies[row] = durationUs === null ? Number.NaN : durationUs / 1000
      callbackLatencies[row] = callbackUs === null ? Number.NaN : callbackUs / 1000
      attempts[row] = Math.min(tries, 0xffff)
    }
    this.#setUnanswered(run, unanswered)
    return rows
  }

  /** What answers say of the rows after a number. Returns the number of each one's set of rules. */
  #readFound(run: RunView, range: Range): Float64Array {
    const { marks } = this.columns
    const { names } = this.#readersOf(run)
    const classes = readScoreClasses(run.db)
    const scores = classes.map(({ className }) => this.#scoresOf(className))
    const found = readTuples<FoundRow>(
      run.db,
      `SELECT row, rules, ${['cached', ...FOUND_NAMES, ...classes.map(({ column }) => column)].join(', ')}
       FROM found NOT INDEXED WHERE row > ? AND row <= ? ORDER BY row`,
      range,
    )
    const sets = new Float64Array(range[1] - range[0]).fill(NO_SET)
    for (const tuple of found) {
      const [row, set, cached] = tuple
      sets[row - range[0] - 1] = set
      if (cached !== null) marks[row] = (marks[row] ?? 0) | MARKS.cached
      let at = NAMES_FROM
      for (const { values, toNames } of names) {
        const number = tuple[at++] ?? null
        if (number !== null) values.set(row, toNames(number))
      }
      for (const own of scores) {
        const score = tuple[at++] ?? null
        if (score !== null) own.set(row, score)
      }
    }
    return sets
  }

  #readersOf({ db }: RunView): Readers {
    if (this.#readers?.db === db) return this.#readers
    const toRule = createRuleReader(db)
    this.#readers = {
      db,
      toRules: createSetReader(db, (number) => toRule(number)?.ruleId),
      names: FOUND_NAMES.map((kind) => ({
        values: this.columns.values[kind],
        toNames: createNameReader(db, kind),
      })),
    }
    return this.#readers
  }

  #scoresOf(className: string): RowScores {
    const { scores, last } = this.columns
    const own = scores.get(className) ?? new RowScores(last + 1)
    scores.set(className, own)
    return own
  }

  /** Sets the kind of a row that was answered, which depends on its rules and its answer alone. */
  #setAnswered(run: RunView, row: number, set: number, answer: string | null): void {
    const { kinds } = this.columns
    const key = answer === null ? set : `${set} ${answer}`
    const known = this.#answered.get(key)
    if (known !== undefined) {
      kinds.of[row] = known
      return
    }
    const rules = set <= 0 ? [] : this.#readersOf(run).toRules(set)
    kinds.set(row, { state: 'succeeded', answer, errorCode: null, causes: [], rules })
    if (this.#answered.size < ANSWERED_MAX) this.#answered.set(key, kinds.of[row] ?? 0)
  }

  /** Sets the kinds of all other rows. */
  #setUnanswered(run: RunView, rows: readonly number[]): void {
    if (rows.length === 0) return
    const among = { sql: (row: string) => `${row} IN (SELECT value FROM json_each(?))` }
    for (const { id, kind } of readRows(run, { ...among, params: [JSON.stringify(rows)] })) {
      this.columns.kinds.set(id, kind)
    }
  }

  /** What was sent: the variant, and the models. */
  #readSent(run: RunView, range: Range): void {
    this.#mappers ??= createMappers(run)
    const mappers = this.#mappers
    const { marks, values: found } = this.columns
    if (mappers.length === 0) return
    const rows = readTuples<[number, string, string | null]>(
      run.db,
      'SELECT id, cells, kinds FROM row WHERE id > ? AND id <= ? AND item IS NOT NULL',
      range,
    )
    for (const [row, text, kinds] of rows) {
      const own = parseCells(text)
      marks[row] = (marks[row] ?? 0) | MARKS.sent
      for (const { kind, toValue } of mappers) found[kind].set(row, toTexts(toValue(row, own, kinds)))
    }
  }
}

/**
 * Differs once anything was recorded that findings are made of: what a journal counts changes with each answer, callback
 * and settled row, in the same transaction.
 */
export function readFingerprint({ db }: Pick<RunView, 'db'>): string {
  const run = db
    .prepare(
      `SELECT run_id, run_token, plan, columns, state, rows_read, items, claimed, claimed_rows, inbox_read,
         started_at, ended_at, sending_ms FROM run`,
    )
    .get()
  const counted = readTuples(db, 'SELECT kind, value, n FROM facet ORDER BY kind, value', [])
  const callback = db.prepare('SELECT max(id) AS id FROM callback').get()
  return hash('sha256', JSON.stringify([run, counted, callback]), 'base64url')
}

/** States of rows whose last answer or callback says all that there is; others keep what an earlier run said of them. */
const DECIDED_STATES: ReadonlySet<RowState> = new Set(['succeeded', 'rejected'])

function createColumns(last: number, columns: number): FoundColumns {
  const length = last + 1
  const nothing = () => new Float32Array(length).fill(Number.NaN)
  return {
    last,
    marks: new Uint8Array(length),
    attempts: new Uint16Array(length),
    latencies: nothing(),
    callbackLatencies: nothing(),
    kinds: new RowKinds(length),
    values: toFoundValues(() => new RowValues(length)),
    scores: new Map(),
    cells: new Map(
      Array.from({ length: Math.min(columns, CELL_COLUMNS_MAX) }, (_, column) => [
        column,
        new RowCells(length),
      ]),
    ),
  }
}

export function toFoundValues(toValues: (kind: FoundKind) => RowValues): Record<FoundKind, RowValues> {
  return Object.fromEntries(FOUND_KINDS.map((kind) => [kind, toValues(kind)])) as Record<FoundKind, RowValues>
}

type Mappers = { kind: FoundKind; toValue: NonNullable<ReturnType<typeof createFieldMapper>> }[]

/** The run's functions for what requests say of a row, compiled once; without those of fields that nothing fills. */
function createMappers({ record: { plan, columns, runToken } }: RunView): Mappers {
  return FOUND_KINDS.flatMap((kind) => {
    const { field, named } = FOUND[kind]
    // What the answer of a task can name, only a task asks for.
    if (field === undefined || (named !== undefined && plan.operation.kind !== 'task')) return []
    const toValue = createFieldMapper(plan, columns, runToken, field)
    return toValue === null ? [] : [{ kind, toValue }]
  })
}

/** What a reader of the journal has in common for all steps. */
interface Readers {
  db: DatabaseSync
  toRules: (set: number) => string[]
  names: { values: RowValues; toNames: (number: number) => string[] }[]
}

/** What the answer of a row says: behind the mark of the cache the numbers of names, then scores. */
type FoundRow = [row: number, rules: number, cached: number | null, ...said: (number | null)[]]

const NAMES_FROM = 3

/** What is true of a row that was answered at the first try. */
const PLAIN_MARKS = MARKS.row | MARKS.tried | MARKS.read | MARKS.answered

/** Stands for the set of rules of a row whose answer says nothing. */
const NO_SET = -1

/** Above the first row number, up to the second. */
type Range = readonly [above: number, upTo: number]

function toTexts(value: unknown): string[] {
  const values = Array.isArray(value) ? value : [value]
  return values.filter((text): text is string => typeof text === 'string' && text !== '').sort()
}
