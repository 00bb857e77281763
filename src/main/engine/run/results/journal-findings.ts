import { hash } from 'node:crypto'
import { isAsync } from '../../../../shared/operations/operations.ts'
import type { RowState } from '../../../../shared/run/item-state.ts'
import { type FacetOf, listFacetKinds } from '../../../../shared/run/row-filters.ts'
import { readTaskFindings, type TaskFindings } from '../../../../shared/service/answer-findings.ts'
import type { RunView } from '../../journal/run-family.ts'
import { createFieldMapper } from '../../mapping/row-mapper.ts'
import { ECHO_MISMATCH_CODE } from '../../service/echoes.ts'
import { parseJson } from '../../service/judgement.ts'
import type { DatabaseSync, SQLInputValue } from '../../workspace/sqlite.ts'
import { readStoredBody } from '../journal/stored-bodies.ts'
import { RowKinds, readRows, toStretch } from './row-kinds.ts'
import { RowScores, RowValues } from './row-values.ts'

/** Row numbers looked at in one step: some milliseconds, also where each answer has to be unpacked and parsed. */
const STEP_ROWS = 1_000

/** Most classes whose scores are kept, at least 2 bytes a row each; of further ones no row can be found by its score. */
export const CLASSES_MAX = 200

/** Most values of a column of the source whose cells are kept, and how many of the first columns may be. */
const CELL_VALUES_MAX = 1_000
const CELL_COLUMNS_MAX = 40

/** Which rows a journal says something of, and what; added up for each row. */
export const MARKS = {
  /** The journal has the row. */
  row: 1,
  /** The service answered it with a result of its own. */
  answered: 2,
  /** It was tried. */
  tried: 4,
  /** Its request says which variant and models it asks for. */
  sent: 8,
  /** Its answer was read. */
  read: 16,
  /** Its answer came from the service's cache. */
  cached: 32,
} as const

/** The facets whose values findings have of each row. */
export type FoundKind = FacetOf<'values'>

export const FOUND_KINDS: readonly FoundKind[] = listFacetKinds('values')

/** Where the values of a kind stand: in a field of the request, in the answer of a task, or there if it has any. */
export const FOUND: Record<FoundKind, { field?: string; read?: (found: TaskFindings) => readonly string[] }> =
  {
    language: { read: ({ languages }) => languages },
    model: { field: 'models', read: ({ models }) => models.map(({ model }) => model) },
    variant: { field: 'content_variant' },
  }

const ANSWERED = FOUND_KINDS.flatMap((kind) => {
  const { read } = FOUND[kind]
  return read === undefined ? [] : [{ kind, read }]
})

/** What {@link JournalFindings} hold by row number, ready to be stored. */
export interface FoundColumns {
  /** The last row number of the journal. */
  last: number
  /** Whether all classes found room. */
  hasAllClasses: boolean
  marks: Uint8Array
  attempts: Uint16Array
  /** Which try an answer was read of, so that it is not read again; 0 for none. */
  stamps: Uint16Array
  /** Milliseconds of the last try, and from the request to the callback; NaN where nothing was measured. */
  latencies: Float32Array
  callbackLatencies: Float32Array
  /** What facets say of it: its state, its error, its rules. */
  kinds: RowKinds
  values: Record<FoundKind, RowValues>
  scores: Map<string, RowScores>
  /** By its number, each column of the source in which few values occur, as labels do. */
  cells: Map<number, RowValues>
}

/**
 * What one journal says of each row: how it was answered, what it triggered and scored, and what its answer names. Read
 * a step at a time.
 */
export class JournalFindings {
  readonly columns: FoundColumns
  /** What {@link readFingerprint} said when reading began. */
  readonly fingerprint: string
  /** Findings of the same journal, whose answers are not read again where they have not changed. */
  #before: FoundColumns | null
  #mappers: Mappers | null = null
  #after = 0

  private constructor(columns: FoundColumns, fingerprint: string, before: FoundColumns | null) {
    this.columns = columns
    this.fingerprint = fingerprint
    this.#before = before
  }

  /** Findings that nothing was read for yet. */
  static begin(run: RunView, fingerprint: string, before: JournalFindings | null): JournalFindings {
    const last = Number(run.db.prepare('SELECT max(id) AS id FROM row').get()?.['id'] ?? 0)
    const known = before?.columns ?? null
    return new JournalFindings(createColumns(last, run.record.columns.length, known), fingerprint, known)
  }

  /** All findings of a small journal at once. */
  static build(run: RunView, fingerprint: string): JournalFindings {
    const findings = JournalFindings.begin(run, fingerprint, null)
    while (!findings.isComplete) findings.step(run)
    return findings
  }

  /** Findings that were stored whole. */
  static restore(columns: FoundColumns, fingerprint: string): JournalFindings {
    const findings = new JournalFindings(columns, fingerprint, null)
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
    const isTask = run.record.plan.operation.kind === 'task'
    this.#readTries(run, range)
    this.#readSent(run, range)
    if (isTask) {
      const hasRoom = addScores(run, range, this.columns.scores, {
        last: this.columns.last,
        most: CLASSES_MAX,
      })
      if (!hasRoom) this.columns.hasAllClasses = false
      this.#readAnswers(run, range)
    }
    if (this.isComplete) this.#before = null
  }

  #readTries(run: RunView, range: Range): void {
    const { marks, attempts, stamps, latencies, callbackLatencies, kinds } = this.columns
    for (const { id: row, kind, isAnswered, ...tried } of readRows(run, toStretch(...range))) {
      const isTried = tried.attempts > 0
      marks[row] = MARKS.row | (isAnswered ? MARKS.answered : 0) | (isTried ? MARKS.tried : 0)
      kinds.set(row, kind)
      if (!isTried) continue
      const { durationUs, callbackUs } = tried
      latencies[row] = durationUs === null ? Number.NaN : durationUs / 1000
      callbackLatencies[row] = callbackUs === null ? Number.NaN : callbackUs / 1000
      attempts[row] = Math.min(tried.attempts, 0xffff)
      stamps[row] = toStamp(tried.attempts, callbackUs !== null, OPEN_STATES.has(kind.state))
    }
  }

  /** What was sent: cells that few values occur in, the variant, and the models, which the answer's take the place of. */
  #readSent(run: RunView, range: Range): void {
    this.#mappers ??= createMappers(run)
    const mappers = this.#mappers
    const { marks, values: found, cells, last } = this.columns
    const isMapped = mappers.length > 0
    if (!isMapped && cells.size === 0) return
    const rows = readTuples<[number, string, string | null, number | null]>(
      run.db,
      'SELECT id, cells, kinds, item FROM row WHERE id > ? AND id <= ?',
      range,
    )
    for (const [row, text, kinds, item] of rows) {
      const own = JSON.parse(text) as string[]
      for (const [column, values] of cells) {
        values.set(row, toTexts(own[column]))
        if (values.sets.length > CELL_VALUES_MAX && last > CELL_VALUES_MAX) cells.delete(column)
      }
      if (!isMapped || item === null) continue
      marks[row] = (marks[row] ?? 0) | MARKS.sent
      for (const { kind, toValue } of mappers) found[kind].set(row, toTexts(toValue(row, own, kinds)))
    }
  }

  #readAnswers(run: RunView, [above, upTo]: Range): void {
    const { marks, stamps, values } = this.columns
    const before = this.#before
    let isAnyUnread = false
    const isUnread = (row: number) => before === null || before.stamps[row] !== stamps[row]
    for (let row = above + 1; row <= upTo; row += 1) {
      if (stamps[row] === 0) continue
      if (isUnread(row)) isAnyUnread = true
      else {
        marks[row] = (marks[row] ?? 0) | ((before?.marks[row] ?? 0) & (MARKS.read | MARKS.cached))
        for (const { kind } of ANSWERED) values[kind].of[row] = before?.values[kind].of[row] ?? 0
      }
    }
    if (!isAnyUnread) return
    for (const { row, text } of readBodies(run, [above, upTo])) {
      if (stamps[row] === 0 || !isUnread(row)) continue
      marks[row] = (marks[row] ?? 0) | MARKS.read
      if (!MENTIONS.test(text)) continue
      const found = readTaskFindings(parseJson(text))
      if (found.fromCache === true) marks[row] = (marks[row] ?? 0) | MARKS.cached
      for (const { kind, read } of ANSWERED) {
        const named = [...new Set(read(found))].sort()
        if (named.length > 0) values[kind].set(row, named)
      }
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

function createColumns(last: number, columns: number, before: FoundColumns | null): FoundColumns {
  const length = last + 1
  const nothing = () => new Float32Array(length).fill(Number.NaN)
  return {
    ...{ last, hasAllClasses: true, marks: new Uint8Array(length), attempts: new Uint16Array(length) },
    ...{ stamps: new Uint16Array(length), latencies: nothing(), callbackLatencies: nothing() },
    kinds: new RowKinds(length),
    // Answers that are not read again keep the numbers of what they name.
    values: toFoundValues((kind) => new RowValues(length, FOUND[kind].read && before?.values[kind].sets)),
    scores: new Map(),
    cells: new Map(
      Array.from({ length: Math.min(columns, CELL_COLUMNS_MAX) }, (_, column) => [
        column,
        new RowValues(length),
      ]),
    ),
  }
}

/** The values of every kind. */
export function toFoundValues(toValues: (kind: FoundKind) => RowValues): Record<FoundKind, RowValues> {
  return Object.fromEntries(FOUND_KINDS.map((kind) => [kind, toValues(kind)])) as Record<FoundKind, RowValues>
}

type Mappers = { kind: FoundKind; toValue: NonNullable<ReturnType<typeof createFieldMapper>> }[]

/** The run's functions for what requests say of a row, compiled once; without those of fields that nothing fills. */
function createMappers({ record: { plan, columns, runToken } }: RunView): Mappers {
  return FOUND_KINDS.flatMap((kind) => {
    const { field, read } = FOUND[kind]
    // What the answer of a task can name, only a task asks for.
    if (field === undefined || (read !== undefined && plan.operation.kind !== 'task')) return []
    const toValue = createFieldMapper(plan, columns, runToken, field)
    return toValue === null ? [] : [{ kind, toValue }]
  })
}

/** States of rows that may still be answered. */
const OPEN_STATES: ReadonlySet<RowState> = new Set([
  'acknowledged',
  'overdue',
  'pending',
  'sending',
  'unknown',
])

/** Tells the tries of a row apart; never 0. An open row may get its answer without another try. */
function toStamp(attempts: number, isCalledBack: boolean, isOpen: boolean): number {
  return (Math.min(attempts, 0x3ffe) << 2) | (isCalledBack ? 2 : 0) | (isOpen ? 1 : 0)
}

/** Most answers name neither a language nor a model, and need not be parsed. */
const MENTIONS = /"(?:language|model|from_cache)"/

/** Above the first row number, up to the second. */
type Range = readonly [above: number, upTo: number]

/** The bodies that decided rows: answers, in async callbacks. */
export function* readBodies({ db, record }: RunView, range: Range): Generator<{ row: number; text: string }> {
  const sql = isAsync(record.plan.operation)
    ? `SELECT item, body, content, bytes FROM callback LEFT JOIN long_callback ON long_callback.id = callback.id
       WHERE item > ? AND item <= ? AND effect = 'settled'`
    : `SELECT row, response, content, bytes FROM result LEFT JOIN long_answer ON long_answer.id = result.row
       WHERE row > ? AND row <= ? AND error_code IS NOT '${ECHO_MISMATCH_CODE}'`
  for (const [row, stored, content, bytes] of readTuples<[number, unknown, unknown, unknown]>(
    db,
    sql,
    range,
  )) {
    const body = readStoredBody(stored, content, bytes)
    if (body !== null) yield { row, text: body.text }
  }
}

/** Adds the scores that the rows of a range have. False where a class is left out, since there are too many. */
export function addScores(
  { db }: RunView,
  range: Range,
  scores: Map<string, RowScores>,
  { last, most = Number.POSITIVE_INFINITY }: { last: number; most?: number },
): boolean {
  let hasRoom = true
  const found = readTuples<[number, string, number]>(
    db,
    'SELECT row, class, score FROM row_class WHERE row > ? AND row <= ?',
    range,
  )
  for (const [row, className, score] of found) {
    let own = scores.get(className)
    if (own === undefined) {
      if (scores.size >= most) {
        hasRoom = false
        continue
      }
      own = new RowScores(last + 1)
      scores.set(className, own)
    }
    own.set(row, score)
  }
  return hasRoom
}

function toTexts(value: unknown): string[] {
  const values = Array.isArray(value) ? value : [value]
  return values.filter((text): text is string => typeof text === 'string' && text !== '').sort()
}

/** Arrays rather than objects, which take twice as long to make. */
function readTuples<Tuple>(db: DatabaseSync, sql: string, values: readonly SQLInputValue[]): Tuple[] {
  const statement = db.prepare(sql)
  statement.setReturnArrays(true)
  return statement.all(...values) as unknown as Tuple[]
}
