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

/** Rows read in one step, which takes some milliseconds. */
const STEP_ROWS = 1_000

/** Most source columns whose cells may be kept, the first ones: each takes 2 bytes a row. */
const CELL_COLUMNS_MAX = 24

/** Most kinds of answered rows remembered by rules and answer. */
const ANSWERED_MAX = 60_000

/** What a journal has of each row, as bits that are added up. */
export const MARKS = {
  /** The journal has the row. */
  row: 1,
  tried: 2,
  /** Its request was read for its variant and models, if it has any. */
  sent: 4,
  read: 8,
  /** The service answered it with a result of its own. */
  answered: 16,
  /** Its answer came from the service's cache. */
  cached: 32,
} as const

/** The facets whose values findings hold for each row. */
export type FoundKind = FacetOf<'values'>

export const FOUND_KINDS: readonly FoundKind[] = listFacetKinds('values')

/**
 * Where the values of a kind are: in a field of the request, in the answer of a task, or, with both, in the
 * answer if it has any, else in the field. The file is the row's.
 */
export const FOUND: Record<FoundKind, { field?: string; named?: 'language' | 'model' }> = {
  file: {},
  language: { named: 'language' },
  model: { field: 'models', named: 'model' },
  variant: { field: 'content_variant' },
}

/** The kinds named in answers, by the journal's column names. */
const FOUND_NAMES = FOUND_KINDS.flatMap((kind) => FOUND[kind].named ?? [])

/** The contents of {@link JournalFindings} by row number, ready to be stored. */
export interface FoundColumns {
  /** The last row number of the journal. */
  last: number
  marks: Uint8Array
  attempts: Uint16Array
  /** Milliseconds of the last try, and from request to callback; NaN if not measured. */
  latencies: Float32Array
  callbackLatencies: Float32Array
  /** State, error and rules of each row, for facets. */
  kinds: RowKinds
  values: Record<FoundKind, RowValues>
  /** Scores of the classes with columns in the journal. */
  scores: Map<string, RowScores>
  /** Cells of source columns with few distinct values, by column number. */
  cells: Map<number, RowCells>
}

/**
 * What one journal says about each row: how it was answered, what it triggered and scored, and what its
 * answer names. Read a step at a time.
 */
export class JournalFindings {
  readonly columns: FoundColumns
  /** {@link readFingerprint} when reading began. */
  readonly fingerprint: string
  #mappers: Mappers | null = null
  /** Numbers of the kinds of answered rows, by rules and answer. */
  readonly #answered = new Map<number | string, number>()
  #readers: Readers | null = null
  #after = 0

  private constructor(columns: FoundColumns, fingerprint: string) {
    this.columns = columns
    this.fingerprint = fingerprint
  }

  /** Empty findings, before anything was read. */
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

  /** Restores complete stored findings. */
  static restore(columns: FoundColumns, fingerprint: string): JournalFindings {
    const findings = new JournalFindings(columns, fingerprint)
    findings.#after = columns.last
    return findings
  }

  /** Whether every row was read. */
  get isComplete(): boolean {
    return this.#after >= this.columns.last
  }

  get lastRead(): number {
    return this.#after
  }

  /** Reads the next {@link STEP_ROWS} rows. */
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

  /** Drops cells of columns that turn out to have too many distinct ones. */
  #readCells({ db }: RunView, range: Range, rows: readonly number[]): void {
    const { cells, last } = this.columns
    let read: readonly (readonly string[])[] = []
    try {
      read = readCells(db, range, [...cells.keys()])
    } catch {
      // Asking for damaged cells reads the journal, and gets the error.
      cells.clear()
    }
    for (const [at, [column, own]] of [...cells].entries()) {
      const texts = read[at] ?? []
      for (let index = 0; index < texts.length; index += 1) own.set(rows[index] ?? 0, texts[index] ?? '')
      if (!own.isWhole || (this.isComplete && !own.isWorthKeeping(last))) cells.delete(column)
    }
  }

  /**
   * Reads outcomes and answers of rows; models named there replace the requested ones. Returns the existing
   * rows, ascending.
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
        marks[row] |= answer === 'no_result' ? 0 : MARKS.answered
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

  /** Reads the answers of the rows after a number. Returns the number of each row's set of rules. */
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

  /** Sets the kind of an answered row, which depends only on its rules and answer. */
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

  /** Reads what was sent: the variant and the models. */
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
 * Changes with anything recorded that findings are made from: a journal's counters change with each answer,
 * callback and settled row, in the same transaction.
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

/** States in which the last answer or callback is complete; other rows keep what an earlier run found. */
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

/** The functions that read a row's request fields, compiled once; without fields that nothing fills. */
function createMappers({ record: { plan, columns, runToken } }: RunView): Mappers {
  return FOUND_KINDS.flatMap((kind) => {
    const { field, named } = FOUND[kind]
    // Only a task asks for what a task's answer can name.
    if (field === undefined || (named !== undefined && plan.operation.kind !== 'task')) return []
    const toValue = createFieldMapper(plan, columns, runToken, field)
    return toValue === null ? [] : [{ kind, toValue }]
  })
}

/** What all steps of reading a journal share. */
interface Readers {
  db: DatabaseSync
  toRules: (set: number) => string[]
  names: { values: RowValues; toNames: (number: number) => string[] }[]
}

/** The findings of a row's answer: the cache's mark, then the numbers of names, then scores. */
type FoundRow = [row: number, rules: number, cached: number | null, ...said: (number | null)[]]

const NAMES_FROM = 3

/** Marks of a row answered at the first try. */
const PLAIN_MARKS = MARKS.row | MARKS.tried | MARKS.read | MARKS.answered

/** Represents the rules of a row whose answer has none recorded. */
const NO_SET = -1

/** Above the first row number, up to the second. */
type Range = readonly [above: number, upTo: number]

function toTexts(value: unknown): string[] {
  const values = Array.isArray(value) ? value : [value]
  return values.filter((text): text is string => typeof text === 'string' && text !== '').sort()
}
