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
import { readTuples } from '../../workspace/sqlite.ts'
import { RowCells } from './row-cells.ts'
import { RowKinds, readRows } from './row-kinds.ts'
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

/** Where the values of a kind stand: in a field of the request, in the answer of a task, or there if it has any. */
export const FOUND: Record<FoundKind, { field?: string; named?: 'language' | 'model' }> = {
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
  /** Milliseconds of the last try, and from the request to the callback; NaN where nothing was measured. */
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
  readonly #answered = new Map<string, number>()
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
    this.#readCells(run, range, rows)
  }

  /** Cells of columns that turn out to have too many different ones are given up. */
  #readCells({ db }: RunView, range: Range, rows: readonly number[]): void {
    const { cells, last } = this.columns
    let read: readonly (readonly string[])[] = []
    try {
      read = readCells(db, range, [...cells.keys()])
    } catch {
      // Cells that are damaged are told of where they are needed.
      cells.clear()
    }
    for (const [at, [column, own]] of [...cells].entries()) {
      for (const [index, text] of (read[at] ?? []).entries()) own.set(rows[index] ?? 0, text)
      if (!own.isWhole || (this.isComplete && !own.isWorthKeeping(last))) cells.delete(column)
    }
  }

  /**
   * What became of rows, and what their answers say; models that these name take the place of those asked for. Returns
   * the rows that there are, ascending.
   */
  #readRows(run: RunView, range: Range): number[] {
    const { db } = run
    const { marks, attempts, latencies, callbackLatencies, values } = this.columns
    const classes = readScoreClasses(db).map(({ className, column }) => ({
      column,
      scores: this.#scoresOf(className),
    }))
    const names = FOUND_NAMES.map((kind) => ({ values: values[kind], toNames: createNameReader(db, kind) }))
    const found = readTuples<StoredRow>(
      db,
      `SELECT row.id, state, error_code, answer, attempts, duration_us, callback_us, rules, cached,
       ${[...FOUND_NAMES, ...classes.map(({ column }) => column)].join(', ')}
       FROM row LEFT JOIN result ON result.row = row.id LEFT JOIN found ON found.row = row.id
       WHERE row.id > ? AND row.id <= ? ORDER BY row.id`,
      range,
    )
    const toKinds = this.#createKindReader(run)
    for (const [row, state, code, answer, tries, durationUs, callbackUs, set, cached, ...said] of found) {
      const isAnswered = state === 'succeeded' && code === null
      const isTried = tries !== null && tries > 0
      const isRead = set !== null || (isTried && state !== null && DECIDED_STATES.has(state))
      marks[row] =
        (marks[row] ?? 0) |
        MARKS.row |
        (isTried ? MARKS.tried : 0) |
        (isRead ? MARKS.read : 0) |
        (isAnswered ? MARKS.answered : 0) |
        (cached !== null ? MARKS.cached : 0)
      toKinds.add(row, isAnswered, set ?? 0, answer)
      if (isTried) {
        latencies[row] = durationUs === null ? Number.NaN : durationUs / 1000
        callbackLatencies[row] = callbackUs === null ? Number.NaN : callbackUs / 1000
        attempts[row] = Math.min(tries, 0xffff)
      }
      if (set === null) continue
      for (const [at, { values: own, toNames }] of names.entries()) {
        const number = said[at] ?? null
        if (number !== null) own.set(row, toNames(number))
      }
      for (const [at, { scores }] of classes.entries()) {
        const score = said[names.length + at] ?? null
        if (score !== null) scores.set(row, score)
      }
    }
    toKinds.finish()
    return found.map(([row]) => row)
  }

  #scoresOf(className: string): RowScores {
    const { scores, last } = this.columns
    const own = scores.get(className) ?? new RowScores(last + 1)
    scores.set(className, own)
    return own
  }

  /** Rows that were answered are told apart by few values; what became of others is looked at more closely. */
  #createKindReader(run: RunView) {
    const { kinds } = this.columns
    const toRule = createRuleReader(run.db)
    const toRules = createSetReader(run.db, (number) => toRule(number)?.ruleId)
    const others: number[] = []
    return {
      add: (row: number, isAnswered: boolean, set: number, answer: string | null) => {
        if (!isAnswered) {
          others.push(row)
          return
        }
        const key = `${set} ${answer ?? ''}`
        const known = this.#answered.get(key)
        if (known !== undefined) kinds.of[row] = known
        else {
          const rules = set === 0 ? [] : toRules(set)
          kinds.set(row, { state: 'succeeded', answer, errorCode: null, causes: [], rules })
          if (this.#answered.size < ANSWERED_MAX) this.#answered.set(key, kinds.of[row] ?? 0)
        }
      },
      finish() {
        if (others.length === 0) return
        const among = { sql: (row: string) => `${row} IN (SELECT value FROM json_each(?))` }
        for (const { id, kind } of readRows(run, { ...among, params: [JSON.stringify(others)] })) {
          kinds.set(id, kind)
        }
      },
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
    ...{ last, marks: new Uint8Array(length), attempts: new Uint16Array(length) },
    ...{ latencies: nothing(), callbackLatencies: nothing() },
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

/** A row with what became of it and what its answer says: then the numbers of names, and scores. */
type StoredRow = [
  row: number,
  state: RowState | null,
  errorCode: string | null,
  answer: string | null,
  attempts: number | null,
  durationUs: number | null,
  callbackUs: number | null,
  rules: number | null,
  cached: number | null,
  ...said: (number | null)[],
]

/** Above the first row number, up to the second. */
type Range = readonly [above: number, upTo: number]

function toTexts(value: unknown): string[] {
  const values = Array.isArray(value) ? value : [value]
  return values.filter((text): text is string => typeof text === 'string' && text !== '').sort()
}
