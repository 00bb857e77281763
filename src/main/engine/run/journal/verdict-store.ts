import { DatabaseSync } from 'node:sqlite'
import {
  describeVerdict,
  type GivenVerdict,
  type NewVerdict,
  type PlacedVerdict,
  type RowVerdict,
  type Verdict,
  type VerdictReplacement,
} from '../../../../shared/lookback/verdict.ts'
import { SluiceError } from '../../../../shared/messages/errors.ts'
import { formatRow, toSourcePlace } from '../../../../shared/plan/source-place.ts'
import type { RunFamily } from '../../journal/run-family.ts'
import { closeDatabaseFile } from '../../workspace/file-permissions.ts'
import { isThere } from '../../workspace/is-there.ts'
import { underLease } from '../../workspace/lease.ts'
import { type OwnSchema, refuseForeignSchema, takeSchemaSteps } from '../../workspace/own-schema.ts'
import { toStoreError } from '../../workspace/store-error.ts'
import { toVerdictsFile } from '../../workspace/workspace-files.ts'
import { pickRows } from '../results/family-counts.ts'
import { readPlace, readPlaces } from '../results/row-places.ts'

/** As in the journal's `migrations.ts`: a step that has shipped is never edited. */
const SCHEMA: OwnSchema = {
  steps: [
    `
  -- What persons said of rows. Rules are '' where a verdict is of none; times are Unix milliseconds.
  CREATE TABLE verdict (
    row INTEGER NOT NULL,
    verdict TEXT NOT NULL,
    rule TEXT NOT NULL,
    note TEXT,
    given_at INTEGER NOT NULL,
    stratum TEXT,
    stratum_rows INTEGER,
    PRIMARY KEY (row, rule)
  ) STRICT, WITHOUT ROWID;
  `,
  ],
}

/** How long a statement waits for another process's short lock before it fails, milliseconds. */
const BUSY_TIMEOUT_MS = 5_000

/**
 * File of a run's verdicts: next to the journal of the first run of its whole, whose rows all retries share,
 * and never in a journal, which is evidence.
 */
export function findVerdictsFile({ whole, workspace, record }: RunFamily): string {
  return toVerdictsFile(workspace, whole[0]?.record.runId ?? record.runId)
}

/** Reads the verdicts of a run and its retries, by row. Throws `WORKSPACE_UNUSABLE`. */
export function readVerdicts(family: RunFamily): Verdict[] {
  const file = findVerdictsFile(family)
  if (!isThere(file)) return []
  return withDatabase(file, (db) =>
    db.prepare('SELECT * FROM verdict ORDER BY row, rule').all().map(toVerdict),
  )
}

/** Reads the same with places of the rows. Throws `WORKSPACE_UNUSABLE`. */
export function readPlacedVerdicts(family: RunFamily): PlacedVerdict[] {
  const verdicts = readVerdicts(family)
  const places = readPlaces(family, [...new Set(verdicts.map(({ row }) => row))])
  return verdicts.map((verdict) => ({
    ...verdict,
    place: places.get(verdict.row) ?? toSourcePlace(verdict.row, undefined),
  }))
}

/** Whether there are verdicts on rows of a run and its retries. Throws `WORKSPACE_UNUSABLE`. */
export function hasVerdicts(family: RunFamily): boolean {
  const file = findVerdictsFile(family)
  return (
    isThere(file) &&
    withDatabase(file, (db) => db.prepare('SELECT 1 FROM verdict LIMIT 1').get() !== undefined)
  )
}

interface OpenVerdicts {
  /** The verdicts on some rows, by row. Throws `WORKSPACE_UNUSABLE`. */
  read: (rows: readonly number[]) => ReadonlyMap<number, Verdict[]>
  close: () => void
}

/** Opens the verdicts of a run and its retries; null if there are none. Throws `WORKSPACE_UNUSABLE`. */
export function openVerdicts(family: RunFamily): OpenVerdicts | null {
  if (!hasVerdicts(family)) return null
  const file = findVerdictsFile(family)
  const db = openDatabase(file)
  const find = db.prepare(
    'SELECT * FROM verdict WHERE row IN (SELECT value FROM json_each(?)) ORDER BY row, rule',
  )
  return {
    read(rows) {
      try {
        return Map.groupBy(find.all(JSON.stringify(rows)).map(toVerdict), ({ row }) => row)
      } catch (error) {
        throw toStoreError('verdicts_unusable', file, error)
      }
    },
    close: () => db.close(),
  }
}

function toVerdict(found: Record<string, unknown>): Verdict {
  return {
    row: Number(found['row']),
    verdict: found['verdict'] as Verdict['verdict'],
    rule: found['rule'] === '' ? null : String(found['rule']),
    note: found['note'] === null ? null : String(found['note']),
    given_at: new Date(Number(found['given_at'])).toISOString(),
    stratum: found['stratum'] === null ? null : String(found['stratum']),
    stratum_rows: found['stratum_rows'] === null ? null : Number(found['stratum_rows']),
  }
}

export interface JudgedRows {
  all: ReadonlySet<number>
  by: ReadonlyMap<Verdict['verdict'], ReadonlySet<number>>
}

/** Reads which rows of a run and its retries have which verdicts. Throws `WORKSPACE_UNUSABLE`. */
export function readJudgedRows(family: RunFamily): JudgedRows {
  const verdicts = readOwnVerdicts(family)
  const by = new Map<Verdict['verdict'], Set<number>>()
  for (const { row, verdict } of verdicts) by.set(verdict, (by.get(verdict) ?? new Set()).add(row))
  return { all: new Set(verdicts.map(({ row }) => row)), by }
}

/** A retry has only some rows of the judged whole. */
function readOwnVerdicts(family: RunFamily): Verdict[] {
  const verdicts = readVerdicts(family)
  if (family.record.parentRunId === null) return verdicts
  const judged = verdicts.map(({ row }) => row)
  const own = new Set(family.members.flatMap((member) => pickRows(member, judged)))
  return verdicts.filter(({ row }) => own.has(row))
}

/**
 * Stores verdicts, all or none. A verdict on a rule is stored next to those on other rules of its row; any
 * other replaces all verdicts on the row. Throws `BAD_USAGE` if the run has no such row, and
 * `WORKSPACE_UNUSABLE`.
 */
export function storeVerdicts(family: RunFamily, verdicts: readonly NewVerdict[], nowMs = Date.now()): void {
  refuseMissingRows(
    family,
    verdicts.map(({ row }) => row),
  )
  writeVerdicts(family, (db) => addVerdicts(db, verdicts, nowMs))
}

function addVerdicts(db: DatabaseSync, verdicts: readonly NewVerdict[], nowMs: number): void {
  const removeAll = db.prepare('DELETE FROM verdict WHERE row = ?')
  const removeWhole = db.prepare("DELETE FROM verdict WHERE row = ? AND rule = ''")
  const insert = db.prepare('INSERT OR REPLACE INTO verdict VALUES (?, ?, ?, ?, ?, ?, ?)')
  for (const { row, verdict, rule, note, stratum, stratum_rows } of verdicts) {
    if (rule === null) removeAll.run(row)
    else removeWhole.run(row)
    insert.run(row, verdict, rule ?? '', note, nowMs, stratum, stratum_rows)
  }
}

/** A row with other verdicts than it is given. */
interface DifferingRow {
  row: number
  known: RowVerdict[]
  given: RowVerdict[]
}

/**
 * Stores verdicts in the place of all others on their rows, and returns the rows that had others. If there
 * are any, nothing is stored unless `replaces`. Throws as {@link storeVerdicts} does.
 */
export function importRowVerdicts(
  family: RunFamily,
  verdicts: readonly NewVerdict[],
  replaces: boolean,
): DifferingRow[] {
  const rows = [...new Set(verdicts.map(({ row }) => row))].sort((a, b) => a - b)
  refuseMissingRows(family, rows)
  return writeVerdicts(family, (db) => {
    const ofRow = db.prepare('SELECT * FROM verdict WHERE row = ? ORDER BY rule')
    const list = () => rows.map((row) => ofRow.all(row).map(toVerdict))
    const before = list()
    const remove = db.prepare('DELETE FROM verdict WHERE row = ?')
    for (const row of rows) remove.run(row)
    addVerdicts(db, verdicts, Date.now())
    const after = list()
    const differing = rows.flatMap((row, at) => {
      const [known = [], given = []] = [before[at], after[at]]
      return known.length === 0 || isSame(known, given) ? [] : [{ row, known, given }]
    })
    if (differing.length > 0 && !replaces) db.exec('ROLLBACK; BEGIN')
    return differing
  })
}

/** The stratum of a sample and its number of rows. */
export type VerdictStratum = Pick<Verdict, 'stratum' | 'stratum_rows'>

/**
 * Replaces all verdicts on a row, and returns the old and the new ones. Without a `stratum` the row keeps its
 * own, or gets back the one that it is restored with. Throws as {@link storeVerdicts} does, and `BAD_USAGE`
 * if the row has other verdicts than `before`.
 */
export function replaceVerdicts(
  family: RunFamily,
  row: number,
  verdicts: readonly GivenVerdict[],
  options: {
    stratum?: VerdictStratum | undefined
    before?: readonly RowVerdict[] | undefined
    nowMs?: number
  } = {},
): VerdictReplacement {
  const { stratum, before: expected, nowMs = Date.now() } = options
  refuseMissingRows(family, [row])
  return writeVerdicts(family, (db) => {
    const ofRow = db.prepare('SELECT * FROM verdict WHERE row = ? ORDER BY rule')
    const before = ofRow.all(row).map(toVerdict)
    if (expected !== undefined) refuseChanged(formatRow(readPlace(family, row)), before, expected)
    const { stratum: name = null, stratum_rows: rows = null } = stratum ?? before[0] ?? verdicts[0] ?? {}
    db.prepare('DELETE FROM verdict WHERE row = ?').run(row)
    const insert = db.prepare('INSERT OR REPLACE INTO verdict VALUES (?, ?, ?, ?, ?, ?, ?)')
    for (const { verdict, rule, note, given_at } of verdicts) {
      const same = before.find((one) => one.verdict === verdict && one.rule === rule && one.note === note)
      const givenAt = same?.given_at ?? given_at
      insert.run(
        row,
        verdict,
        rule ?? '',
        note,
        givenAt === undefined ? nowMs : Date.parse(givenAt),
        name,
        rows,
      )
    }
    return { before, after: ofRow.all(row).map(toVerdict) }
  })
}

/**
 * Makes verdicts on the rows of a new sample count for their strata, and all others for their own rows only:
 * two samples together would represent every row twice.
 */
export function placeVerdicts(family: RunFamily, strata: ReadonlyMap<number, VerdictStratum>): void {
  const verdicts = readVerdicts(family)
  if (verdicts.length === 0) return
  writeVerdicts(family, (db) => {
    const place = db.prepare('UPDATE verdict SET stratum = ?, stratum_rows = ? WHERE row = ?')
    for (const row of new Set(verdicts.map((verdict) => verdict.row))) {
      const { stratum, stratum_rows } = strata.get(row) ?? { stratum: null, stratum_rows: null }
      place.run(stratum, stratum_rows, row)
    }
  })
}

function refuseMissingRows(family: RunFamily, rows: readonly number[]): void {
  const missing = new Set(rows)
  for (const member of family.members) for (const row of pickRows(member, [...missing])) missing.delete(row)
  const [row] = missing
  if (row !== undefined) {
    throw new SluiceError({ id: 'record_not_found', runId: family.record.runId, record: row })
  }
}

/** Throws if a row's verdicts are not those that the person saw, because somebody has changed them. */
function refuseChanged(row: string, found: readonly RowVerdict[], expected: readonly RowVerdict[]): void {
  if (isSame(found, expected)) return
  throw new SluiceError({ id: 'verdict_changed', row, now: found.map(describeVerdict) })
}

function isSame(some: readonly RowVerdict[], others: readonly RowVerdict[]): boolean {
  const [one, other] = [some, others].map((verdicts) =>
    JSON.stringify(
      verdicts.map(({ verdict, rule, note }) => JSON.stringify([rule, verdict, note])).toSorted(),
    ),
  )
  return one === other
}

function writeVerdicts<Result>(family: RunFamily, write: (db: DatabaseSync) => Result): Result {
  const file = findVerdictsFile(family)
  return underLease(file, `the verdict file of run ${family.record.runId}`, () =>
    withDatabase(file, (db) => {
      db.exec('BEGIN IMMEDIATE')
      const result = write(db)
      db.exec('COMMIT')
      return result
    }),
  )
}

/** Opens the file for one operation. */
function withDatabase<Result>(file: string, work: (db: DatabaseSync) => Result): Result {
  const db = openDatabase(file)
  try {
    return work(db)
  } catch (error) {
    throw toStoreError('verdicts_unusable', file, error)
  } finally {
    db.close()
  }
}

/** A rollback journal keeps it in one file; it is rarely written. */
function openDatabase(file: string): DatabaseSync {
  let db: DatabaseSync | null = null
  try {
    db = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS })
    closeDatabaseFile(file)
    refuseForeignSchema(db, file, SCHEMA)
    db.exec('PRAGMA synchronous = FULL')
    takeSchemaSteps(db, SCHEMA, (version) => new Error(`it is from a newer version (${version})`))
    return db
  } catch (error) {
    db?.close()
    throw toStoreError('verdicts_unusable', file, error)
  }
}
