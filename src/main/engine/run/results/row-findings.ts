import { statSync } from 'node:fs'
import { isAsync } from '../../../../shared/plan/operation.ts'
import type { ScoreBand } from '../../../../shared/run/score-bands.ts'
import { readTaskFindings } from '../../../../shared/service/answer-findings.ts'
import type { RunFamily, RunView } from '../../journal/run-family.ts'
import { createFieldMapper } from '../../mapping/row-mapper.ts'
import { parseJson } from '../../service/judgement.ts'
import type { DatabaseSync, SQLInputValue } from '../../workspace/sqlite.ts'
import { readStoredBody } from '../journal/stored-bodies.ts'
import { RowScores, RowValues } from './row-values.ts'

/** Row numbers looked at in one step: some milliseconds, also where each answer has to be unpacked and parsed. */
const STEP_ROWS = 1_000

/** Most classes whose scores are kept, 4 bytes a row each; of further ones no row can be found by its score. */
const CLASSES_MAX = 32

/** What rows can have a value of: the language and the models of the answer, and the variant that was sent. */
export type FoundKind = 'language' | 'model' | 'variant'

/**
 * What the journal of a run and its retries says of each row beyond its state and its rules, by row number: about 20
 * bytes a row, and 4 for each class. It is built a step at a time; then it narrows, counts and sorts all rows within
 * milliseconds. A row is described by the newest run that has tried it.
 */
export class RowFindings {
  readonly #values: Record<FoundKind, RowValues>
  readonly #scores: Map<string, RowScores>
  /** Which try an answer was read of, so that it is not read again; 0 for none. */
  #stamps = new Uint16Array(0)
  #before: RowFindings | null
  #latencies = new Float32Array(0)
  #callbackLatencies = new Float32Array(0)
  #attempts = new Float32Array(0)
  readonly #mappers = new Map<string, Mappers>()
  #after = 0
  #last: number | null = null
  #readFrom: Source | null = null

  /** Empty findings. Answers that `before` has read, and that have not changed, are not read again. */
  constructor(before: RowFindings | null = null) {
    this.#before = before
    this.#values = {
      language: new RowValues(before?.valuesOf('language')),
      model: new RowValues(before?.valuesOf('model')),
      variant: new RowValues(before?.valuesOf('variant')),
    }
    this.#scores = new Map()
  }

  /** All findings at once, for a thread that has nothing else to answer. */
  static build(family: RunFamily): RowFindings {
    const findings = new RowFindings()
    while (!findings.isComplete) findings.step(family)
    return findings
  }

  /** Whether every row was looked at. */
  get isComplete(): boolean {
    return this.#last !== null && this.#after >= this.#last
  }

  /** The last row that was looked at. */
  get lastRead(): number {
    return this.#after
  }

  /** Whether a journal has changed since the findings were begun. */
  isOutdated(family: RunFamily): boolean {
    return this.#readFrom !== null && !isSame(this.#readFrom, readSource(family))
  }

  /** Looks at the next few hundred rows. */
  step(family: RunFamily): void {
    this.#readFrom ??= readSource(family)
    this.#last ??= this.#begin(Math.max(...family.members.map(readLastRow)))
    const range = [this.#after, Math.min(this.#last, this.#after + STEP_ROWS)] as const
    this.#after = range[1]
    for (const [index, run] of listTriers(family).entries()) this.#read(run, index, range)
    if (this.isComplete) this.#before = null
  }

  /** The values of a kind that rows have. */
  valuesOf(kind: FoundKind): RowValues {
    return this.#values[kind]
  }

  /** The classes that rows have scores of, in alphabetical order. */
  get classes(): string[] {
    return [...this.#scores.keys()].sort()
  }

  /** A class's score of each row, NaN where it has none. */
  scoresOf(className: string): Float32Array {
    return this.#scores.get(className)?.of ?? new Float32Array(this.#stamps.length).fill(Number.NaN)
  }

  /** The bands of a class, and the band of each row. Only of complete findings. */
  bandsOf(className: string): { bands: ScoreBand[]; of: Uint8Array } {
    return this.#scores.get(className)?.toBands() ?? { bands: [], of: new Uint8Array(0) }
  }

  /** Milliseconds of each row's last try, NaN where nothing was measured. */
  get latencies(): Float32Array {
    return this.#latencies
  }

  /** Milliseconds from each row's request to its callback, NaN where none came. */
  get callbackLatencies(): Float32Array {
    return this.#callbackLatencies
  }

  /** How often each row was tried. */
  get attempts(): Float32Array {
    return this.#attempts
  }

  #begin(last: number): number {
    const length = last + 1
    this.#stamps = new Uint16Array(length)
    this.#latencies = new Float32Array(length).fill(Number.NaN)
    this.#callbackLatencies = new Float32Array(length).fill(Number.NaN)
    this.#attempts = new Float32Array(length)
    for (const values of Object.values(this.#values)) values.begin(length)
    return last
  }

  #read(run: RunView, index: number, range: Range): void {
    const { db, record } = run
    const isTask = record.plan.operation.kind === 'task'
    const tried = readTuples<[number, number, number | null, number | null, number]>(
      db,
      `SELECT row, attempts, duration_us, callback_us, state IN ('acknowledged', 'overdue', 'pending', 'sending', 'unknown')
       FROM result WHERE row > ? AND row <= ? AND attempts > 0`,
      range,
    )
    const stampOf = new Map<number, number>()
    for (const [row, attempts, durationUs, callbackUs, isOpen] of tried) {
      this.#latencies[row] = durationUs === null ? Number.NaN : durationUs / 1000
      this.#callbackLatencies[row] = callbackUs === null ? Number.NaN : callbackUs / 1000
      this.#attempts[row] = (this.#attempts[row] ?? 0) + attempts
      if (!isTask) continue
      if (index > 0) for (const scores of this.#scores.values()) scores.of[row] = Number.NaN
      stampOf.set(row, toStamp(index, attempts, callbackUs !== null, isOpen === 1))
    }
    this.#readSentFields(run, range)
    if (!isTask) return
    this.#readScores(run, range, stampOf)
    this.#readAnswers(run, range, stampOf)
  }

  /** What the request says: the variant, and the models, which the answer's take the place of. */
  #readSentFields(run: RunView, range: Range): void {
    const { db } = run
    const { toVariant, toModels } = this.#findMappers(run)
    if (toVariant === null && toModels === null) return
    const rows = readTuples<[number, string, string | null]>(
      db,
      'SELECT id, cells, kinds FROM row WHERE id > ? AND id <= ? AND item IS NOT NULL',
      range,
    )
    for (const [row, text, kinds] of rows) {
      const cells = JSON.parse(text) as string[]
      this.#values.variant.set(row, toTexts(toVariant?.(row, cells, kinds)))
      this.#values.model.set(row, toTexts(toModels?.(row, cells, kinds)))
    }
  }

  /** The run's functions for the fields that requests have, compiled once. */
  #findMappers({ file, record }: RunView): Mappers {
    const known = this.#mappers.get(file)
    if (known !== undefined) return known
    const { plan, columns, runToken } = record
    const compile = (name: string) => createFieldMapper(plan, columns, runToken, name)
    const toModels = plan.operation.kind === 'task' ? compile('models') : null
    const mappers = { toVariant: compile('content_variant'), toModels }
    this.#mappers.set(file, mappers)
    return mappers
  }

  /** One tuple a row, of numbers alone: the classes that are known, and whether there are others. */
  #readScores(run: RunView, range: Range, tried: ReadonlyMap<number, unknown>): void {
    const { db } = run
    const classes = [...this.#scores]
    const cases = classes.map(() => 'max(CASE class WHEN ? THEN score END)')
    const isOther = classes.length === 0 ? '1' : `max(class NOT IN (${classes.map(() => '?').join(', ')}))`
    const names = classes.map(([name]) => name)
    const found = readTuples<[number, number, ...(number | null)[]]>(
      db,
      `SELECT ${['row', isOther, ...cases].join(', ')} FROM row_class WHERE row > ? AND row <= ? GROUP BY row`,
      [...names, ...names, ...range],
    )
    if (found.some(([, other]) => other === 1) && this.#addClasses(db, range)) {
      this.#readScores(run, range, tried)
      return
    }
    for (const tuple of found) {
      if (!tried.has(tuple[0])) continue
      for (const [at, [, scores]] of classes.entries()) {
        const score = tuple[at + 2]
        if (typeof score === 'number') scores.set(tuple[0], score)
      }
    }
  }

  /** Makes room for the classes of a range, as far as there is room; says whether there was any. */
  #addClasses(db: DatabaseSync, range: Range): boolean {
    const before = this.#scores.size
    const found = readTuples<[string]>(
      db,
      'SELECT DISTINCT class FROM row_class WHERE row > ? AND row <= ? ORDER BY class',
      range,
    )
    for (const [className] of found) {
      if (this.#scores.size === CLASSES_MAX) break
      if (!this.#scores.has(className)) this.#scores.set(className, new RowScores(this.#stamps.length))
    }
    return this.#scores.size > before
  }

  #readAnswers(run: RunView, range: Range, stampOf: ReadonlyMap<number, number>): void {
    const before = this.#before
    const unread: number[] = []
    for (const [row, stamp] of stampOf) {
      this.#stamps[row] = stamp
      if (before === null || before.#stamps[row] !== stamp) unread.push(row)
      else for (const kind of FOUND_IN_ANSWERS) this.#values[kind].copy(row, before.valuesOf(kind))
    }
    if (unread.length === 0) return
    const isWanted = new Set(unread)
    for (const { row, text } of readBodies(run, range)) {
      if (!isWanted.has(row)) continue
      const { languages, models } = MENTIONS.test(text) ? readTaskFindings(parseJson(text)) : NOTHING
      this.#values.language.set(row, languages)
      if (models.length > 0) this.#values.model.set(row, [...new Set(models.map(({ model }) => model))])
    }
  }
}

/** What requests say of a row; null where nothing fills the field. */
type Mappers = Record<'toVariant' | 'toModels', ReturnType<typeof createFieldMapper>>

/** Tells the tries of a row apart; never 0. An open row may get its answer without another try. */
function toStamp(run: number, attempts: number, isCalledBack: boolean, isOpen: boolean): number {
  return ((run & 0x3f) << 10) | (Math.min(attempts, 0xff) << 2) | (isCalledBack ? 2 : 0) | (isOpen ? 1 : 0)
}

const FOUND_IN_ANSWERS = ['language', 'model'] as const
const NOTHING = { languages: [], models: [] }

/** Most answers name neither a language nor a model, and need not be parsed. */
const MENTIONS = /"(?:language|model)"/

/** Above the first row number, up to the second. */
type Range = readonly [above: number, upTo: number]

/** The bodies that decided rows: answers, in async callbacks. */
function* readBodies({ db, record }: RunView, range: Range): Generator<{ row: number; text: string }> {
  const sql = isAsync(record.plan.operation)
    ? `SELECT item, body, content, bytes FROM callback LEFT JOIN long_callback ON long_callback.id = callback.id
       WHERE item > ? AND item <= ? AND effect = 'settled'`
    : `SELECT row, response, content, bytes FROM result LEFT JOIN long_answer ON long_answer.id = result.row
       WHERE row > ? AND row <= ?`
  for (const [row, stored, content, bytes] of readTuples<[number, unknown, unknown, unknown]>(
    db,
    sql,
    range,
  )) {
    const body = readStoredBody(stored, content, bytes)
    if (body !== null) yield { row, text: body.text }
  }
}

/** The runs whose tries a row shows, oldest first: those of the whole up to its last member. */
function listTriers({ whole, members }: RunFamily): readonly RunView[] {
  const lastId = members.at(-1)?.record.runId
  return whole.slice(0, whole.findIndex(({ record }) => record.runId === lastId) + 1)
}

function toTexts(value: unknown): string[] {
  const values = Array.isArray(value) ? value : [value]
  return values.filter((text): text is string => typeof text === 'string' && text !== '')
}

/** What the findings were read from: each journal's reader, its version for that reader, and its files. */
interface Source {
  readers: { db: DatabaseSync; version: number }[]
  files: string
}

function readSource(family: RunFamily): Source {
  const runs = listTriers(family)
  return {
    readers: runs.map(({ db }) => ({
      db,
      version: Number(db.prepare('PRAGMA data_version').get()?.['data_version']),
    })),
    files: runs.map(({ file }) => `${describeFile(file)} ${describeFile(`${file}-wal`)}`).join('\n'),
  }
}

function describeFile(file: string): string {
  const found = statSync(file, { throwIfNoEntry: false })
  return found === undefined || found.size === 0 ? '' : `${found.size} ${found.mtimeMs}`
}

/** A reader that was closed meanwhile, to make room for another run's, cannot say; then the files do. */
function isSame(one: Source, now: Source): boolean {
  if (one.readers.length !== now.readers.length) return false
  return one.readers.every(({ db, version }, index) => {
    const other = now.readers[index]
    return db === other?.db ? version === other.version : one.files === now.files
  })
}

function readLastRow({ db }: RunView): number {
  return Number(db.prepare('SELECT max(id) AS id FROM row').get()?.['id'] ?? 0)
}

/** Arrays rather than objects, which take twice as long to make. */
function readTuples<Tuple>(db: DatabaseSync, sql: string, values: readonly SQLInputValue[]): Tuple[] {
  const statement = db.prepare(sql)
  statement.setReturnArrays(true)
  return statement.all(...values) as unknown as Tuple[]
}
