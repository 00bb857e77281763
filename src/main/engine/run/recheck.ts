import type { PlanWarning } from '../../../shared/messages/problem-messages.ts'
import { findNeeds } from '../../../shared/messages/problem-traits.ts'
import type { Journal } from '../journal/journal.ts'
import type { RunRecord } from '../journal/run-record.ts'
import { parseCells } from '../journal/stored-cells.ts'
import { type MapRow, resolveMapping } from '../mapping/row-mapper.ts'
import { createItemRequests } from '../sending/item-requests.ts'
import { readValues } from '../workspace/sqlite.ts'
import { createIntakeWriter, createRowCheck, type ReadRow, RowSplitter } from './intake.ts'
import { type IntakeRow, type IntakeWriter, toRepeated } from './journal/intake-writer.ts'
import {
  PROBLEM_COLUMNS,
  READER_CODES,
  readCauseKey,
  toJson,
  toStoredProblem,
} from './journal/stored-problems.ts'

/** Rows read and checked at once. */
const PAGE_ROWS = 2_000

/**
 * Checks the rows that a correcting retry takes over as intake checks a source: first the table of candidates
 * is filled, then {@link Recheck.checkAll} writes them into the journal.
 */
export class Recheck {
  readonly #journal: Journal
  readonly #mapRow: MapRow
  /** Maps rows of the whole outside the candidates, as they were sent. */
  readonly #mapOther: MapRow
  readonly #check: (row: ReadRow) => IntakeRow
  readonly #writer: IntakeWriter
  readonly #splitter: RowSplitter

  /**
   * Removes what an interrupted attempt left in the journal. `record` has the columns of the source, `whole`
   * is the run whose journal has every row.
   */
  constructor(journal: Journal, record: RunRecord, whole: RunRecord, workspace: string) {
    const plan = { ...record.plan, mapping: resolveMapping(record.plan, record.columns) }
    this.#journal = journal
    this.#mapRow = createItemRequests({ ...record, plan }, workspace).mapRow
    this.#mapOther = createItemRequests(whole, workspace).mapRow
    this.#check = createRowCheck(plan, record.columns, this.#mapRow)
    const splitter = new RowSplitter(plan, record.columns, this.#mapRow)
    this.#splitter = splitter
    this.#writer = createIntakeWriter(journal, { plan, columns: record.columns }, this.#mapRow, {
      onWritten: (row, isSent) => splitter.noteHalf(row, isSent),
    })
    journal.db.exec(
      `CREATE TEMP TABLE candidate (id INTEGER PRIMARY KEY, cells TEXT NOT NULL, item INTEGER, kinds TEXT);
       CREATE TEMP TABLE candidate_problem AS SELECT ${PROBLEM_COLUMNS} FROM problem WHERE FALSE;
       CREATE INDEX temp.candidate_problem_by_row ON candidate_problem (row)`,
    )
  }

  /** Copies the readers' findings about candidates from the attached journal that these came from. */
  takeProblems(): void {
    this.#journal.db.exec(
      `INSERT INTO temp.candidate_problem SELECT ${PROBLEM_COLUMNS} FROM parent.problem
       WHERE code IN (${READER_CODES}) AND row IN (SELECT id FROM temp.candidate)
       AND row NOT IN (SELECT row FROM temp.candidate_problem)`,
    )
  }

  /** Checks all candidates; `wholeFile` is the journal of the whole's first run, which has all other rows. */
  checkAll(wholeFile: string): void {
    const { repeats, lastRow, ofSource } = this.#readWhole(wholeFile)
    for (const page of this.#pages()) {
      this.#writer.writeRows(page, (row) => {
        const checked = this.#check(this.#splitter.toFirstHalf(row))
        const other = repeats.get(row.row)
        if (other === undefined || checked.uniqueKey === null) return checked
        return { ...checked, problems: [...checked.problems, toRepeated(row.row, other, checked.uniqueKey)] }
      })
    }
    let behind = lastRow + 1
    for (const records of this.#splitter.takeSplit()) {
      this.#writer.writeSecondHalves(records, behind, this.#check)
      behind += records.length
    }
    for (const half of this.#splitter.findSentAlone()) this.#writer.writeFoundTogether(half, 1)
    for (const warning of ofSource) this.#writer.writeCommonProblem(warning)
  }

  /** Ends the check; `alongside` writes in the transaction that makes the run ready. */
  finish(columns: readonly string[], header: readonly string[] | null, alongside: () => void): void {
    this.#journal.db.exec('DROP TABLE temp.candidate; DROP TABLE temp.candidate_problem')
    this.#writer.finish(columns, header, alongside)
  }

  /**
   * The candidates whose corrected id belongs to another row of the whole that was or will be sent, each with
   * that row; the last row's number; and the warnings of the source as a whole that need confirmation, which
   * no row shows again.
   */
  #readWhole(wholeFile: string): {
    repeats: ReadonlyMap<number, number>
    lastRow: number
    ofSource: readonly PlanWarning[]
  } {
    const { db } = this.#journal
    db.prepare('ATTACH ? AS whole').run(wholeFile)
    try {
      const last = db
        .prepare('SELECT max((SELECT max(id) FROM whole.row), (SELECT max(id) FROM temp.candidate)) AS id')
        .get()
      const ofSource = this.#findWarningsOfSource()
      return { repeats: this.#findRepeats(), lastRow: Number(last?.['id'] ?? 0), ofSource }
    } finally {
      db.exec('DETACH whole')
    }
  }

  #findWarningsOfSource(): PlanWarning[] {
    const { db } = this.#journal
    const isOfRows = db.prepare(
      'SELECT 1 FROM whole.problem WHERE code = ? AND field IS ? AND args IS ? LIMIT 1',
    )
    return readValues<string>(
      db,
      "SELECT DISTINCT value FROM whole.facet WHERE kind IN ('problem', 'unasked')",
    )
      .map(readCauseKey)
      .filter((cause) => findNeeds(cause) !== null)
      .filter(({ code, field, args }) => isOfRows.get(code, field, toJson(args)) === undefined)
      .map(({ field, ...cause }) => ({ ...cause, ...(field !== null && { field }) }) as PlanWarning)
  }

  #findRepeats(): ReadonlyMap<number, number> {
    const { db } = this.#journal
    const repeats = new Map<number, number>()
    db.exec('CREATE TEMP TABLE wanted (key TEXT PRIMARY KEY, row INTEGER NOT NULL) WITHOUT ROWID')
    const want = db.prepare('INSERT OR IGNORE INTO temp.wanted VALUES (?, ?)')
    let wanted = 0
    for (const page of this.#pages()) {
      for (const { row, cells, kinds = null, isNew } of page) {
        const { uniqueKey, corrections = [] } = this.#mapRow(row, cells, kinds)
        if (uniqueKey === null) continue
        if (!isNew && !corrections.some(({ field }) => field === uniqueKey.field)) continue
        want.run(uniqueKey.value, row)
        wanted += 1
      }
    }
    if (wanted > 0) {
      const find = db.prepare('SELECT row FROM temp.wanted WHERE key = ?')
      for (const { row, cells, kinds } of this.#readOthers()) {
        const key = this.#mapOther(row, cells, kinds).uniqueKey?.value
        const found = key === undefined ? undefined : find.get(key)
        if (found !== undefined) repeats.set(Number(found['row']), row)
      }
    }
    db.exec('DROP TABLE temp.wanted')
    return repeats
  }

  *#readOthers(): Generator<ReturnType<typeof toRow>> {
    const page = this.#journal.db.prepare(
      `SELECT id, cells, kinds FROM whole.row WHERE id > ? AND item IS NOT NULL
       AND id NOT IN (SELECT id FROM temp.candidate) ORDER BY id LIMIT ${PAGE_ROWS}`,
    )
    for (let rows = page.all(0); rows.length > 0; rows = page.all(Number(rows.at(-1)?.['id']))) {
      yield* rows.map(toRow)
    }
  }

  /** The candidates in order, each with the readers' findings; `isNew` if it was never sent. */
  *#pages(): Generator<(ReadRow & { isNew: boolean })[]> {
    const { db } = this.#journal
    const page = db.prepare(
      `SELECT id, cells, item, kinds FROM temp.candidate WHERE id > ? ORDER BY id LIMIT ${PAGE_ROWS}`,
    )
    const problemsOf = db.prepare(`SELECT ${PROBLEM_COLUMNS} FROM temp.candidate_problem WHERE row = ?`)
    for (let rows = page.all(0); rows.length > 0; rows = page.all(Number(rows.at(-1)?.['id']))) {
      yield rows.map((row) => ({
        ...toRow(row),
        isNew: row['item'] === null,
        problems: problemsOf.all(Number(row['id'])).map(toStoredProblem) as ReadRow['problems'],
      }))
    }
  }
}

function toRow({ id, cells, kinds }: Record<string, unknown>) {
  return {
    row: Number(id),
    cells: parseCells(String(cells)),
    kinds: kinds === null ? null : String(kinds),
  }
}
