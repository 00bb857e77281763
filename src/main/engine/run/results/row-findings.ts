import { statSync } from 'node:fs'
import { SCORE_COLUMNS_MAX } from '../../journal/found-writer.ts'
import type { RunFamily, RunView } from '../../journal/run-family.ts'
import { type DatabaseSync, readVersion } from '../../workspace/sqlite.ts'
import { areFindingsStored, loadFindings, storeFindings } from './findings-file.ts'
import {
  FOUND,
  type FoundColumns,
  type FoundKind,
  JournalFindings,
  MARKS,
  readFingerprint,
} from './journal-findings.ts'
import { RowScores, RowValues, type ScoreBands } from './row-values.ts'

/** Findings of smaller journals are not stored: reading them takes some milliseconds. */
export const STORED_FROM_ROWS = 5_000

/** Steps of a journal taken together, since the run is reopened before each: some milliseconds. */
const STEPS = 4

/**
 * Findings of the journals of a run and its retries, by row number: about 20 bytes a row, and 2 or 8 per
 * class. They are built a step at a time and stored next to each journal; then all rows can be filtered,
 * counted and sorted within milliseconds. A row is described by the newest run that tried it.
 */
export class RowFindings {
  readonly #storedFromRows: number
  /** The findings that these replace. */
  #before: RowFindings | null
  /** For each run whose tries a row shows, oldest first. */
  #journals: FoundJournal[] | null = null
  #length = 0
  #readFrom: Source | null = null
  /** Values merged from several journals, once all are read. */
  readonly #merged = new Map<string, unknown>()

  /**
   * Empty findings; a journal's are stored if it has at least `storedFromRows` rows. Journals unchanged since
   * `before` are not read again.
   */
  constructor(before: RowFindings | null = null, storedFromRows = STORED_FROM_ROWS) {
    this.#before = before
    this.#storedFromRows = storedFromRows
  }

  /** All findings at once, for a thread with nothing else to answer. */
  static build(family: RunFamily): RowFindings {
    const findings = new RowFindings()
    while (!findings.isComplete) findings.step(family)
    return findings
  }

  /**
   * The stored findings of a run; null if they must be read. Small journals, whose findings are not stored,
   * are read at once.
   */
  static load(family: RunFamily): RowFindings | null {
    const readFrom = readSource(family)
    const stored = listTriers(family).map((run) => {
      const fingerprint = readFingerprint(run)
      return { run, fingerprint, findings: loadFindings(run, fingerprint) }
    })
    const missing = stored.filter(({ findings }) => findings === null)
    if (
      missing.length === stored.length ||
      missing.some(({ run }) => run.record.rowsRead >= STORED_FROM_ROWS)
    ) {
      return null
    }
    const loaded = new RowFindings()
    loaded.#setJournals(
      readFrom,
      stored.map(({ run, fingerprint, findings }) => ({
        file: run.file,
        findings: findings ?? JournalFindings.build(run, fingerprint),
      })),
    )
    return loaded
  }

  /** Whether the findings of every journal of a run are stored. */
  static areStored(family: RunFamily): boolean {
    return listTriers(family).every((run) => areFindingsStored(run, readFingerprint(run)))
  }

  /** Whether every row was read. */
  get isComplete(): boolean {
    return this.#journals?.every(({ findings }) => findings.isComplete) === true
  }

  /** Whether every row that was read has its kind, however many kinds there are. */
  get isWhole(): boolean {
    return this.#columns.every(({ kinds }) => kinds.isWhole)
  }

  /** The last row up to which all rows were read. */
  get lastRead(): number {
    const growing = (this.#journals ?? []).filter(({ findings }) => !findings.isComplete)
    if (this.#journals === null) return 0
    return growing.length === 0
      ? this.#length - 1
      : Math.min(...growing.map(({ findings }) => findings.lastRead))
  }

  /** Whether a journal has changed since the findings were begun. */
  isOutdated(family: RunFamily): boolean {
    return this.#readFrom !== null && !isSame(this.#readFrom, readSource(family))
  }

  /** Reads the next few thousand rows. */
  step(family: RunFamily): void {
    const triers = this.#journals === null ? this.#begin(family) : listTriers(family)
    const growing = (this.#journals ?? []).filter(({ findings }) => !findings.isComplete)
    const next = growing.toSorted((a, b) => a.findings.lastRead - b.findings.lastRead)[0]
    const run = triers.find(({ file }) => file === next?.file)
    // A retry deleted meanwhile contributes nothing any more.
    if (next !== undefined && run === undefined) this.#journals = null
    if (next === undefined || run === undefined) return
    for (let step = 0; step < STEPS && !next.findings.isComplete; step += 1) next.findings.step(run)
    if (next.findings.isComplete && next.findings.columns.last >= this.#storedFromRows && !run.isHeld) {
      storeFindings(run, next.findings)
    }
    if (this.isComplete) this.#before = null
  }

  #begin(family: RunFamily): readonly RunView[] {
    const triers = listTriers(family)
    const readFrom = readSource(family)
    const journals = triers.map((run) => {
      const fingerprint = readFingerprint(run)
      const before = this.#before?.ofJournal(run.file) ?? null
      const findings =
        (before?.fingerprint === fingerprint && before.isComplete ? before : null) ??
        loadFindings(run, fingerprint) ??
        JournalFindings.begin(run, fingerprint)
      return { file: run.file, findings }
    })
    this.#setJournals(readFrom, journals)
    return triers
  }

  #setJournals(readFrom: Source, journals: FoundJournal[]): void {
    this.#readFrom = readFrom
    this.#journals = journals
    this.#length = Math.max(0, ...journals.map(({ findings }) => findings.columns.last)) + 1
  }

  /** The findings of one journal; null if its tries show in no row. */
  ofJournal(file: string): JournalFindings | null {
    return this.#journals?.find((journal) => journal.file === file)?.findings ?? null
  }

  valuesOf(kind: FoundKind): RowValues {
    return this.#merge(
      kind,
      ({ values }) => values[kind],
      () => this.#mergeValues(kind),
    )
  }

  /** The classes with scores, in alphabetical order. */
  get classes(): string[] {
    const classes = this.#columns.flatMap(({ scores }) => [...scores.keys()])
    return [...new Set(classes)].sort().slice(0, SCORE_COLUMNS_MAX)
  }

  /** The bands of a class, and the band of each score. Only for complete findings. */
  bandsOf(className: string): ScoreBands {
    return this.scoresOf(className)?.toBands() ?? { bands: [], bandOf: new Uint8Array(0), numbers: null }
  }

  /** Milliseconds of each row's last try, NaN if nothing was measured. */
  get latencies(): Float32Array {
    return this.#merge(
      'latencies',
      ({ latencies }) => latencies,
      () => this.#mergeNumbers(Number.NaN, ({ latencies }, row) => latencies[row] ?? Number.NaN),
    )
  }

  /** Milliseconds from each row's request to its callback, NaN if none came. */
  get callbackLatencies(): Float32Array {
    return this.#merge(
      'callback latencies',
      ({ callbackLatencies }) => callbackLatencies,
      () => this.#mergeNumbers(Number.NaN, (columns, row) => columns.callbackLatencies[row] ?? Number.NaN),
    )
  }

  get attempts(): Float32Array {
    return this.#merge(
      'attempts',
      ({ attempts }) => Float32Array.from(attempts),
      () => this.#mergeNumbers(0, ({ attempts }, row, before) => before + (attempts[row] ?? 0)),
    )
  }

  get #columns(): FoundColumns[] {
    return (this.#journals ?? []).map(({ findings }) => findings.columns)
  }

  /** The value of the only journal, or merged from several; kept once nothing changes any more. */
  #merge<Value>(name: string, readOnly: (columns: FoundColumns) => Value, merge: () => Value): Value {
    const known = this.#merged.get(name)
    if (known !== undefined) return known as Value
    const [only, ...others] = this.#columns
    const value = only !== undefined && others.length === 0 ? readOnly(only) : merge()
    if (this.isComplete) this.#merged.set(name, value)
    return value
  }

  /** The scores of a class; null if no row has one. */
  scoresOf(className: string): RowScores | null {
    return this.#merge(
      `score ${className}`,
      ({ scores }) => scores.get(className) ?? null,
      () => {
        const merged = new RowScores(this.#length)
        this.#visit(MARKS.tried, ({ scores }, row) =>
          merged.set(row, scores.get(className)?.at(row) ?? Number.NaN),
        )
        return merged
      },
    )
  }

  #mergeNumbers(
    none: number,
    read: (columns: FoundColumns, row: number, before: number) => number,
  ): Float32Array {
    const merged = new Float32Array(this.#length).fill(none)
    this.#visit(MARKS.tried, (columns, row) => {
      merged[row] = read(columns, row, merged[row] ?? none)
    })
    return merged
  }

  #mergeValues(kind: FoundKind): RowValues {
    const { field, named } = FOUND[kind]
    const merged = new RowValues(this.#length)
    const isOfRow = field === undefined && named === undefined
    const decidedBy = isOfRow
      ? MARKS.row
      : (field === undefined ? 0 : MARKS.sent) | (named === undefined ? 0 : MARKS.read)
    this.#visit(decidedBy, (columns, row) => {
      const values = columns.values[kind].at(row)
      // An answer that names none leaves the requested ones.
      const isKept =
        field !== undefined && values.length === 0 && ((columns.marks[row] ?? 0) & MARKS.sent) === 0
      if (!isKept) merged.set(row, values)
    })
    return merged
  }

  /** Calls back with each row that has any of the marks, journal by journal, oldest first. */
  #visit(marks: number, visit: (columns: FoundColumns, row: number) => void): void {
    for (const columns of this.#columns) {
      for (let row = 1; row <= columns.last; row += 1) {
        if (((columns.marks[row] ?? 0) & marks) !== 0) visit(columns, row)
      }
    }
  }
}

interface FoundJournal {
  file: string
  findings: JournalFindings
}

/** The runs whose tries a row shows, oldest first: those of the whole up to its last member. */
function listTriers({ whole, members }: RunFamily): readonly RunView[] {
  const lastId = members.at(-1)?.record.runId
  return whole.slice(0, whole.findIndex(({ record }) => record.runId === lastId) + 1)
}

/** What the findings were read from: each journal's reader, its version for that reader, and its files. */
interface Source {
  readers: { db: DatabaseSync; version: number }[]
  files: string
}

function readSource(family: RunFamily): Source {
  const runs = listTriers(family)
  return {
    readers: runs.map(({ db }) => ({ db, version: readVersion(db) })),
    files: runs.map(({ file }) => `${describeFile(file)} ${describeFile(`${file}-wal`)}`).join('\n'),
  }
}

function describeFile(file: string): string {
  const found = statSync(file, { throwIfNoEntry: false })
  return found === undefined || found.size === 0 ? '' : `${found.size} ${found.mtimeMs}`
}

/** A reader closed meanwhile, to make room for another run's, cannot tell; the files do. */
function isSame(one: Source, now: Source): boolean {
  if (one.readers.length !== now.readers.length) return false
  return one.readers.every(({ db, version }, index) => {
    const other = now.readers[index]
    return db === other?.db ? version === other.version : one.files === now.files
  })
}
