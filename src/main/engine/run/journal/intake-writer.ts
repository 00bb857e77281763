import type { StatementSync } from 'node:sqlite'
import { showUnseen } from '../../../../shared/mapping/id-text.ts'
import type { FoundProblem, PlanWarning, RowRange } from '../../../../shared/messages/problem-messages.ts'
import { findCounted, findNeeds } from '../../../../shared/messages/problem-traits.ts'
import type { Correction } from '../../../../shared/plan/fixes.ts'
import { type RowPlace, type SourcePlace, toSourcePlace } from '../../../../shared/plan/source-place.ts'
import { listStates } from '../../../../shared/run/item-state.ts'
import { FOUND_BY_READERS, type Problem, toFound } from '../../../../shared/run/problem.ts'
import {
  CHANGED_KEY,
  type SentBefore,
  type SkipRule,
  saySkipped,
  toSentBeforeKey,
} from '../../../../shared/run/sent-before.ts'
import { CHECKPOINT_PAGES, checkpointEvery, type Journal } from '../../journal/journal.ts'
import { updateRunRecord } from '../../journal/run-record.ts'
import { parseCells } from '../../journal/stored-cells.ts'
import type { Body } from '../../mapping/json-text.ts'
import type { LeavesOut } from '../../mapping/row-fixer.ts'
import type { UniqueKey } from '../../mapping/row-mapper.ts'
import { markHalf, toHalf } from '../../mapping/split-row.ts'
import { BulkInsert, type DatabaseSync } from '../../workspace/sqlite.ts'
import { type FoundRows, findSent } from '../sent-before/asked-rows.ts'
import { HashLists, type ReadKey, toBytes } from '../sent-before/row-keys.ts'
import { NotedRows } from './noted-rows.ts'
import { RowInsert } from './row-insert.ts'
import { SeenIds, toHash } from './seen-ids.ts'
import {
  createProblemInsert,
  PROBLEM_COLUMNS,
  READER_CODES,
  toCauseKey,
  toStoredProblem,
} from './stored-problems.ts'

/** A row that intake has read, mapped and validated. */
export interface IntakeRow {
  row: number
  cells: readonly string[]
  /** The kind of each cell of a JSON source, a letter each; null if all are text. */
  kinds?: string | null
  /**
   * The value that must be unique in the source, and its field; null if no check is needed. `shown` is the
   * value as in the row if case does not count.
   */
  uniqueKey: UniqueKey | null
  problems: FoundProblem[]
  /** What the plan's fixes changed. */
  corrections?: readonly Correction[] | undefined
  /** Its part of a request, and the fields whose ids are reported as changed, for checks across rows. */
  body?: Readonly<Body>
  reported?: ReadonlySet<string>
}

/** Called for each row not left out: whether it can be sent, and whether it is skipped as sent before. */
export type OnWritten = (row: IntakeRow, isSent: boolean, isSkipped: boolean) => void

/** How to look up rows that were sent before, and what to do with them. */
export interface SentBeforeLookup {
  /** Most rows looked up at once. */
  rowsMax: number
  /** Finds what became of those `rows` that were sent before; `cells` are the cells of all rows, as JSON. */
  find(rows: readonly IntakeRow[], cells: readonly string[]): Promise<FoundRows>
  skips: SkipRule
}

/** Checked rows, the JSON of their cells, and their places. */
interface HeldRows {
  rows: IntakeRow[]
  cells: string[]
  places: RowPlace[]
}

interface IntakeOptions {
  rowsPerItem?: number
  leavesOut?: LeavesOut
  trialRows?: number | undefined
  onWritten?: OnWritten | undefined
  /** Keys that identify resent rows; their hashes are stored. */
  notedKeys?: readonly { name: string; read: ReadKey }[]
  sentBefore?: SentBeforeLookup | null
  problemsMax?: number
}

/**
 * Most problems stored of each severity; beyond that they are only counted, by cause. Problems that prevent
 * sending and that no later check finds again are always stored, or a correction would send their rows.
 */
const PROBLEMS_MAX = 100_000
const ALWAYS_KEPT: ReadonlySet<Problem['code']> = new Set(FOUND_BY_READERS)

/** Approximate rows per transaction: with fewer commits, fewer pages are written twice. */
const GROUP_ROWS = 5_000
/** Approximate characters of cells, as JSON, gathered before their rows are looked up. */
const LOOKUP_CHARACTERS = 16_000_000
/** Pages of the WAL, 32 MB: nothing waits for intake yet, and fewer checkpoints mean fewer disk waits. */
const INTAKE_CHECKPOINT_PAGES = 4 * CHECKPOINT_PAGES

/** Writes what intake reads. Memory does not grow with the source: seen post_ids are in a temporary table. */
export class IntakeWriter {
  readonly #journal: Journal
  readonly #insertRow: RowInsert
  readonly #insertProblem: ReturnType<typeof createProblemInsert>
  readonly #insertPlace: StatementSync
  readonly #insertFile: StatementSync
  /** The file of the last place, for a source of several. */
  #file: string | null = null
  readonly #seen: SeenIds
  readonly #looks: SeenIds
  /** Rows written in the open transaction. */
  #grouped = 0
  readonly #rowsPerItem: number
  readonly #leavesOut: LeavesOut
  readonly #problemsMax: number
  readonly #onWritten: OnWritten | undefined
  readonly #insertLeftOut: StatementSync
  readonly #findInvalid: StatementSync
  readonly #insertSkipped: BulkInsert
  readonly #keyLists: readonly { read: ReadKey; lists: HashLists }[]
  readonly #sentBefore: SentBeforeLookup | null
  /** Rows looked up before they are written: gathered ones, and those being looked up. */
  #held: HeldRows = { rows: [], cells: [], places: [] }
  #heldCharacters = 0
  /** Rows of the last batch; the next is expected to have as many. */
  #batchRows = 0
  #asked: (HeldRows & { found: Promise<FoundRows> }) | null = null
  /** Number of rows being written that were sent before. */
  readonly #sentCounts = new Map<SentBefore['origin'], number>()
  #rowsRead = 0
  #items = 0
  /** Rows of the trial not yet in an item. */
  #trialLeft: number
  /** The item being filled, and its rows so far. */
  readonly #item = { first: 0, rows: 0 }
  #problems = { errors: 0, warnings: 0 }
  readonly #stored: Record<Problem['severity'], number> = { error: 0, warning: 0 }

  /**
   * Starts afresh: removes what an interrupted intake left, since nothing of it was sent. `toUniqueKey` gives
   * the {@link IntakeRow.uniqueKey} of a row. Consecutive valid rows form items of `rowsPerItem`. `leavesOut`
   * decides which rows a person wants left out, given their problems. No item mixes the first `trialRows`
   * valid rows with others.
   */
  constructor(
    journal: Journal,
    toUniqueKey: (row: number, cells: string[], kinds: string | null) => UniqueKey | null,
    {
      rowsPerItem = 1,
      leavesOut = () => false,
      trialRows = Infinity,
      onWritten,
      notedKeys = [],
      sentBefore = null,
      problemsMax = PROBLEMS_MAX,
    }: IntakeOptions = {},
  ) {
    this.#problemsMax = problemsMax
    this.#sentBefore = sentBefore
    this.#onWritten = onWritten
    this.#trialLeft = trialRows
    this.#journal = journal
    this.#rowsPerItem = rowsPerItem
    this.#leavesOut = leavesOut
    const { db, counters } = journal
    for (const kind of ['state', 'problem', 'unasked', 'corrected', 'sent_before'] as const) {
      for (const [value, n] of counters.entries(kind)) counters.add(kind, value, -n)
    }
    journal.transact('process', () => {
      db.exec(
        'DELETE FROM row; DELETE FROM result; DELETE FROM problem; DELETE FROM row_place; DELETE FROM source_file; DELETE FROM row_key',
      )
      updateRunRecord(db, { rows_read: 0, items: 0 })
    })
    checkpointEvery(db, INTAKE_CHECKPOINT_PAGES)
    db.exec('CREATE TEMP TABLE seen (id TEXT PRIMARY KEY, row INTEGER NOT NULL) WITHOUT ROWID')
    this.#insertRow = new RowInsert(db)
    this.#insertPlace = db.prepare('INSERT INTO row_place (row, sheet_row, line) VALUES (?, ?, ?)')
    this.#insertFile = db.prepare('INSERT INTO source_file (row, name) VALUES (?, ?)')
    this.#insertProblem = createProblemInsert(db)
    const see = db.prepare('INSERT OR IGNORE INTO temp.seen (id, row) VALUES (?, ?)')
    const seenAt = db.prepare('SELECT row FROM temp.seen WHERE id = ?')
    this.#insertLeftOut = db.prepare("INSERT INTO result (row, state, attempts) VALUES (?, 'left_out', 0)")
    this.#findInvalid = db.prepare(
      'SELECT 1 FROM row WHERE id = ? AND item IS NULL AND NOT EXISTS (SELECT 1 FROM result WHERE result.row = row.id)',
    )
    this.#insertSkipped = new BulkInsert(
      db,
      'INSERT INTO result (row, state, attempts, message)',
      "(?, 'skipped', 0, ?)",
    )
    const insertKeys = db.prepare('INSERT INTO row_key (keys, base, hashes) VALUES (?, ?, ?)')
    this.#keyLists = notedKeys.map(({ name, read }) => ({
      read,
      lists: new HashLists((base, hashes) => insertKeys.run(name, base, toBytes(hashes))),
    }))
    const cellsOf = db.prepare('SELECT cells, kinds FROM row WHERE id = ?')
    const keyOf = (row: number) => {
      this.#insertRow.flush()
      const { cells, kinds = null } = cellsOf.get(row) ?? {}
      return toUniqueKey(row, parseCells(String(cells)), kinds === null ? null : String(kinds))
    }
    const spill = (id: string, row: number) =>
      see.run(id, row).changes === 1 ? null : Number(seenAt.get(id)?.['row'])
    this.#seen = new SeenIds({ idOf: (row) => keyOf(row)?.value ?? '', spill })
    this.#looks = new SeenIds({
      idOf: (row) => keyOf(row)?.looks ?? '',
      // A prefix that no value has keeps both kinds apart.
      spill: (looks, row) => spill(`\ud800${looks}`, row),
    })
  }

  get rowsRead(): number {
    return this.#rowsRead
  }

  get items(): number {
    return this.#items
  }

  get problems(): { errors: number; warnings: number } {
    return this.#problems
  }

  /**
   * Checks and writes a batch row by row, with its places in the source; some thousand rows share a
   * transaction. Rows to look up first are held until {@link writeHeld}. Throws `DISK_FULL`.
   */
  writeRows<Read>(
    rows: readonly Read[],
    check: (row: Read) => IntakeRow,
    places: readonly RowPlace[] = [],
  ): void {
    if (this.#sentBefore === null) {
      this.#writeBatch(rows, (row) => this.#writeRow(check(row)), places)
      return
    }
    const held = this.#held
    for (const row of rows) {
      const checked = check(row)
      const cells = JSON.stringify(checked.cells)
      held.rows.push(checked)
      held.cells.push(cells)
      this.#heldCharacters += cells.length
    }
    held.places.push(...places)
    this.#batchRows = rows.length
  }

  /**
   * Looks up the held rows once they are many, and writes those looked up before, so that reading continues
   * meanwhile. Await this after each batch. Throws `DISK_FULL`.
   */
  async writeLookedUp(): Promise<void> {
    const { rowsMax = Infinity } = this.#sentBefore ?? {}
    const isFull = this.#held.rows.length + this.#batchRows > rowsMax
    if (isFull || this.#heldCharacters >= LOOKUP_CHARACTERS) await this.#ask()
  }

  /** Writes all held rows. Await this before anything reads them, and at the end. Throws `DISK_FULL`. */
  async writeHeld(): Promise<void> {
    await this.#ask()
    await this.#writeAsked()
  }

  async #ask(): Promise<void> {
    const { rows, cells, places } = this.#held
    if (this.#sentBefore === null || rows.length === 0) return
    this.#held = { rows: [], cells: [], places: [] }
    this.#heldCharacters = 0
    const { rowsMax } = this.#sentBefore
    for (let from = 0; from < rows.length; from += rowsMax) {
      const part = { rows: rows.slice(from, from + rowsMax), cells: cells.slice(from, from + rowsMax) }
      const found = this.#sentBefore.find(part.rows, part.cells)
      // It is awaited later, and may have failed by then.
      found.catch(() => {})
      await this.#writeAsked()
      this.#asked = { ...part, places: from === 0 ? places : [], found }
    }
  }

  async #writeAsked(): Promise<void> {
    const asked = this.#asked
    this.#asked = null
    if (asked === null) return
    const { rows, cells, places } = asked
    const found = await asked.found
    for (let from = 0; from < rows.length; from += GROUP_ROWS) {
      const write = (row: IntakeRow, at: number) =>
        this.#writeRow(row, cells[from + at], findSent(found, from + at))
      this.#writeBatch(rows.slice(from, from + GROUP_ROWS), write, from === 0 ? places : [])
    }
    for (const [origin, n] of this.#sentCounts)
      this.#journal.counters.add('sent_before', toSentBeforeKey(origin), n)
    this.#sentCounts.clear()
  }

  #writeBatch<Row>(
    rows: readonly Row[],
    write: (row: Row, at: number) => void,
    places: readonly RowPlace[],
  ): void {
    const journal = this.#journal
    if (this.#grouped === 0) journal.begin('process')
    const before = this.#rowsRead
    journal.attempt(() => {
      for (const place of places) this.#writePlace(place)
      for (const [at, row] of rows.entries()) write(row, at)
      this.#insertRow.flush()
      this.#insertSkipped.flush()
    })
    this.#grouped += this.#rowsRead - before
    if (this.#grouped >= GROUP_ROWS) this.#commitGroup()
  }

  #writePlace({ row, sheetRow, line, file }: RowPlace): void {
    this.#insertPlace.run(row, sheetRow, line)
    if (file === undefined || file === this.#file) return
    this.#insertFile.run(row, file)
    this.#file = file
  }

  /**
   * Writes the url halves of these records, numbered from `firstRow` on. The records themselves are already
   * written; what their reader found wrong keeps both halves from being sent.
   */
  writeSecondHalves(
    records: readonly number[],
    firstRow: number,
    check: (read: ReadHalf) => IntakeRow,
  ): void {
    const { db } = this.#journal
    const toPlace = createPlaceReader(db)
    const find = db.prepare('SELECT cells, kinds FROM row WHERE id = ?')
    const findErrors = db.prepare(
      `SELECT ${PROBLEM_COLUMNS} FROM problem WHERE row = ? AND severity = 'error' AND code IN (${READER_CODES})`,
    )
    const places: RowPlace[] = []
    const halves = records.map((of, index): ReadHalf => {
      const row = firstRow + index
      const { row: sheetRow, line, file } = toPlace(of, null)
      places.push({ row, sheetRow, line: line ?? sheetRow, ...(file !== undefined && { file }) })
      const { cells, kinds = null } = find.get(of) ?? {}
      const marked = markHalf(kinds === null ? null : String(kinds), { content: 'url', of })
      const problems = findErrors
        .all(of)
        .map((stored) => ({ ...toStoredProblem(stored), row }) as FoundProblem)
      return { row, cells: parseCells(String(cells)), kinds: marked, problems }
    })
    this.writeRows(halves, check, places)
    this.#journal.counters.add('corrected', 'split', halves.length)
  }

  /**
   * Notes a problem common to these rows (default: every row), once instead of once a row. A warning covers
   * at most the rows that can be sent, of those `among`, unless it counts others.
   */
  writeCommonProblem(problem: PlanWarning, rows = this.#rowsRead, among?: readonly RowRange[]): void {
    const { counters } = this.#journal
    const countsAll = problem.severity === 'error' || findCounted(problem) !== 'sent'
    const counted = countsAll ? rows : Math.min(rows, this.#countSent(among))
    this.#problems[problem.severity === 'error' ? 'errors' : 'warnings'] += counted
    counters.add('problem', toCauseKey(problem), counted)
    if (counted === 0 && findNeeds(problem) !== null) counters.add('unasked', toCauseKey(problem), rows)
  }

  /** The number of rows that can be sent, of all or of some ranges. */
  #countSent(among: readonly RowRange[] | undefined): number {
    const { counters, db } = this.#journal
    if (among === undefined) {
      const unsent = listStates('unsent').reduce((sum, state) => sum + counters.get('state', state), 0)
      return this.#rowsRead - unsent
    }
    const count = db.prepare('SELECT count(*) AS n FROM row WHERE id BETWEEN ? AND ? AND item IS NOT NULL')
    return among.reduce((sum, { from, to }) => sum + Number(count.get(from, to)?.['n']), 0)
  }

  /** Notes a warning that only all rows together show, with the first row concerned. */
  writeFoundTogether(example: FoundProblem, rows: number): void {
    this.writeCommonProblem(example, rows)
    this.#journal.attempt(() => this.#store(example, true))
  }

  /** Notes warnings of fixes that name a row: each counts, even if that row is not sent or does not exist. */
  writeFixProblems(found: readonly FoundProblem[]): void {
    const { counters } = this.#journal
    this.#journal.attempt(() => {
      for (const problem of found) {
        this.#problems.warnings += 1
        counters.add('problem', toCauseKey(problem), 1)
        this.#store(problem, true)
      }
    })
  }

  /** Ends the open transaction, before the thread does anything else with the journal. */
  #commitGroup(): void {
    if (this.#grouped === 0) return
    this.#grouped = 0
    const { db } = this.#journal
    this.#journal.attempt(() => updateRunRecord(db, { rows_read: this.#rowsRead, items: this.#items }))
    this.#journal.commit()
  }

  /**
   * Ends intake: the run is ready to send. `header` has the source's own names of `columns`; `alongside`
   * writes in the same transaction.
   */
  finish(
    columns: readonly string[],
    header: readonly string[] | null = null,
    alongside: () => void = () => {},
  ): void {
    if (this.#held.rows.length > 0 || this.#asked !== null)
      throw new Error('rows are held that are not written')
    this.#commitGroup()
    this.#journal.transact('power', () => {
      for (const { lists } of this.#keyLists) lists.flush()
      updateRunRecord(this.#journal.db, {
        state: 'ready',
        columns: JSON.stringify(columns),
        header: header === null ? null : JSON.stringify(header),
        rows_read: this.#rowsRead,
        items: this.#items,
      })
      alongside()
    })
    this.#journal.db.exec('DROP TABLE temp.seen')
    checkpointEvery(this.#journal.db, CHECKPOINT_PAGES)
  }

  #writeRow(read: IntakeRow, cells = JSON.stringify(read.cells), sent?: SentBefore): void {
    const { row, kinds = null, uniqueKey, problems, corrections } = read
    this.#rowsRead += 1
    const { counters } = this.#journal
    const isLeftOut = this.#leavesOut(read, problems)
    // The unique value mostly also identifies the row.
    const hash = uniqueKey === null ? 0 : toHash(uniqueKey.value)
    // A left-out row does not take a value from another.
    const repeated = isLeftOut ? null : this.#findRepeated(row, uniqueKey, hash)
    const found = repeated === null ? problems : [...problems, repeated]
    if (isLeftOut || (repeated !== null && this.#leavesOut(read, [repeated]))) {
      counters.add('state', 'left_out', 1)
      this.#insertRow.add(row, cells, null, kinds)
      this.#insertLeftOut.run(row)
      // Stored only as the reason; they do not count as problems of the run.
      const isFew = counters.get('state', 'left_out') <= this.#problemsMax
      for (const problem of found) if (isFew || isAlwaysKept(problem)) this.#insertProblem(problem)
      return
    }
    const isSkipped = sent !== undefined && this.#noteSentBefore(sent, found)
    const isDoubtful = sent?.origin.outcome === 'unknown' && !isSkipped && this.#sentBefore?.skips !== 'none'
    const told = isDoubtful ? [...found, toMaybeSent(row, sent)] : found
    if (isSkipped) {
      this.#onWritten?.(read, false, true)
      counters.add('state', 'skipped', 1)
      this.#insertRow.add(row, cells, null, kinds)
      this.#insertSkipped.add(row, saySkipped(sent))
      return
    }
    const valid = told.length === 0 || this.#writeProblems(told)
    this.#onWritten?.(read, valid, false)
    if (valid) this.#noteKeys(read, hash)
    if (!valid) counters.add('state', 'invalid', 1)
    if (corrections !== undefined) {
      counters.add('corrected', 'rows', 1)
      for (const { field } of corrections) counters.add('corrected', `cell ${field}`, 1)
    }
    this.#insertRow.add(row, cells, valid ? this.#toItem(row) : null, kinds)
  }

  /** Counts a row that was sent before, if it could be sent now; returns whether it is skipped. */
  #noteSentBefore(sent: SentBefore, found: readonly Problem[]): boolean {
    if (found.some(({ severity }) => severity === 'error')) return false
    this.#sentCounts.set(sent.origin, (this.#sentCounts.get(sent.origin) ?? 0) + 1)
    const skips = this.#sentBefore?.skips ?? 'none'
    const { outcome } = sent.origin
    const isSkipped =
      skips !== 'none' && (outcome === 'taken' || (outcome === 'unknown' && skips === 'taken_or_unknown'))
    if (sent.isChanged && (isSkipped || (skips === 'none' && outcome !== 'not_taken'))) {
      this.#journal.counters.add('sent_before', CHANGED_KEY, 1)
    }
    return isSkipped
  }

  /** `hash` belongs to the row's unique key. */
  #noteKeys({ row, cells, body, uniqueKey }: IntakeRow, hash: number): void {
    if (body === undefined) return
    for (const { read, lists } of this.#keyLists) {
      const key = read({ body, cells })
      if (key === null) continue
      if (key === uniqueKey?.value) lists.add(key, row, hash)
      else lists.add(key, row)
    }
  }

  #findRepeated(row: number, uniqueKey: IntakeRow['uniqueKey'], hash: number): FoundProblem | null {
    if (uniqueKey === null) return null
    const first = this.#seen.add(uniqueKey.value, row, hash)
    const { field, value, shown, looks } = uniqueKey
    if (first !== null) return toRepeated(row, first, uniqueKey, this.#isInvalid(first))
    const alike = looks === undefined || looks === '' ? null : this.#looks.add(looks, row)
    return alike === null ? null : toLookAlike(row, alike, field, shown ?? value)
  }

  /** Whether an earlier row is not sent because of an error. */
  #isInvalid(row: number): boolean {
    this.#insertRow.flush()
    this.#insertSkipped.flush()
    return this.#findInvalid.get(row) !== undefined
  }

  #toItem(row: number): number {
    if (this.#item.rows === 0 || this.#item.rows >= this.#rowsPerItem || this.#trialLeft === 0) {
      this.#item.first = row
      this.#item.rows = 0
      this.#items += 1
    }
    this.#item.rows += 1
    this.#trialLeft -= 1
    return this.#item.first
  }

  /** Writes the problems of a row; returns whether it can be sent. */
  #writeProblems(found: readonly Problem[]): boolean {
    const valid = found.every(({ severity }) => severity !== 'error')
    const causes = new Set<string>()
    for (const problem of found) this.#writeProblem(problem, causes, valid)
    return valid
  }

  /**
   * `causes` are those of the row's earlier problems, since a row counts once for each. Warnings of invalid
   * rows are counted separately.
   */
  #writeProblem(problem: Problem, causes: Set<string>, isSent: boolean): void {
    const counts = isSent || problem.severity === 'error'
    const cause = toCauseKey(problem, !counts)
    if (!causes.has(cause)) this.#journal.counters.add('problem', cause, 1)
    causes.add(cause)
    if (counts) this.#problems[problem.severity === 'error' ? 'errors' : 'warnings'] += 1
    this.#store(problem, counts)
  }

  #store(problem: Problem, counts: boolean): void {
    this.#stored[problem.severity] += 1
    const isOneOfFew = this.#stored[problem.severity] <= this.#problemsMax
    if (isOneOfFew || isAlwaysKept(problem)) this.#insertProblem(problem, counts)
  }
}

function isAlwaysKept({ severity, code }: Problem): boolean {
  return severity === 'error' && ALWAYS_KEPT.has(code)
}

/** A half of a split row that is about to be checked. */
type ReadHalf = Required<Pick<IntakeRow, 'row' | 'problems' | 'kinds'>> & { cells: string[] }

/** The problem of a row whose unique value an earlier row has, which may be invalid itself. */
export function toRepeated(
  row: number,
  first: number,
  { field, value, shown, effect }: UniqueKey,
  isInvalid = false,
): FoundProblem {
  const details = { row: first, ...(isInvalid && { isInvalid }) }
  if (effect !== undefined) {
    const found = toFound(value)
    return { row, severity: 'warning', code: 'same_item', field, args: { effect }, details, found }
  }
  return {
    row,
    severity: 'error',
    code: 'not_unique',
    field,
    args: { ignoresCase: shown !== undefined },
    details,
    found: toFound(shown ?? value),
  }
}

/** The warning for a row that an earlier run may have sent, in a run meant to send only what is new. */
function toMaybeSent(row: number, { origin: { runId, by }, number }: SentBefore): FoundProblem {
  return { row, severity: 'warning', code: 'maybe_sent', args: { by }, details: { runId, number } }
}

function toLookAlike(row: number, first: number, field: string, value: string): FoundProblem {
  const found = toFound(showUnseen(value))
  return {
    row,
    severity: 'warning',
    code: 'look_alike',
    field,
    args: { of: 'term' },
    details: { row: first },
    found,
  }
}

/**
 * Creates a function that gives the place of a row in its source; it looks up the row's `kinds` if they are
 * not given. Do not keep it while rows are still read.
 */
export function createPlaceReader(db: DatabaseSync): (row: number, kinds?: string | null) => SourcePlace {
  const places = new NotedRows(db, 'SELECT row, sheet_row, line FROM row_place', toPlace)
  const toFile = createFileReader(db)
  const findKinds = db.prepare('SELECT kinds FROM row WHERE id = ?')
  const readKinds = (row: number) => (findKinds.get(row)?.['kinds'] ?? null) as string | null
  return (row, kinds = readKinds(row)) => {
    const noFile = toSourcePlace(row, places.findFor(row))
    const place = toFile === null ? noFile : { ...noFile, file: toFile(row) }
    const half = toHalf(row, kinds)?.content
    return half === undefined ? place : { ...place, half }
  }
}

/** The name of the file that a row is from; null if the source is a single file. */
export function createFileReader(db: DatabaseSync): ((row: number) => string) | null {
  if (!hasSeveralFiles(db)) return null
  const files = new NotedRows(db, 'SELECT row, name FROM source_file', ({ row, name }) => ({
    row: Number(row),
    name: String(name),
  }))
  return (row) => files.findFor(row)?.name ?? ''
}

export function hasSeveralFiles(db: DatabaseSync): boolean {
  return db.prepare('SELECT 1 FROM source_file LIMIT 1').get() !== undefined
}

function toPlace(noted: Record<string, unknown>): RowPlace {
  return {
    row: Number(noted['row']),
    sheetRow: Number(noted['sheet_row']),
    line: noted['line'] === null ? null : Number(noted['line']),
  }
}
