import { decodeHistogram } from '../../../shared/load/latency-meter.ts'
import { COURSE_METRICS } from '../../../shared/load/metrics.ts'
import { SluiceError } from '../../../shared/messages/errors.ts'
import { isDamagedDatabase, toThrownText } from '../../../shared/messages/thrown.ts'
import type { DatabaseSync } from '../workspace/sqlite.ts'
import { toRunId } from '../workspace/workspace-files.ts'
import { hasSchema, openJournalReader } from './journal.ts'
import { readRunRecord } from './run-record.ts'
import { isReadableBody } from './stored-bodies.ts'

/** A cell of a journal that holds JSON. */
interface JsonCell {
  table: string
  column: string
  kind: 'array' | 'object'
  /** Required type of all array elements. */
  of?: 'text'
  /** The column that identifies the row, and the condition for rows that have JSON at all. */
  by: string
  where?: string
  say: (row: string) => string
}

const CELLS: JsonCell = {
  table: 'row',
  column: 'cells',
  kind: 'array',
  of: 'text',
  by: 'id',
  say: (row) => `the cells of record ${row}`,
}

const JSON_CELLS: readonly JsonCell[] = [
  CELLS,
  { table: 'problem', column: 'args', kind: 'object', by: 'row', say: (row) => `a problem of record ${row}` },
  {
    table: 'problem',
    column: 'details',
    kind: 'object',
    by: 'row',
    say: (row) => `a problem of record ${row}`,
  },
  {
    table: 'facet',
    column: 'value',
    kind: 'array',
    by: 'kind',
    where: "kind IN ('error', 'problem')",
    say: (kind) => `the cause of ${kind === 'error' ? 'an error' : 'a problem'}`,
  },
  {
    table: 'facet',
    column: 'value',
    kind: 'array',
    of: 'text',
    by: 'kind',
    where: "kind = 'rule_name'",
    say: () => 'a name of a rule',
  },
  {
    table: 'term',
    column: 'value',
    kind: 'array',
    by: 'kind',
    where: "kind <> 'class'",
    say: (kind) => (kind === 'rules' ? 'a set of rules' : `what answers name as ${kind}`),
  },
  {
    table: 'found',
    column: 'further_scores',
    kind: 'array',
    by: 'row',
    where: 'further_scores IS NOT NULL',
    say: (row) => `the scores of record ${row}`,
  },
  { table: 'load', column: 'state', kind: 'object', by: 'id', say: () => 'the state of the load test' },
  {
    table: 'sample',
    column: 'document',
    kind: 'object',
    by: 'slot',
    say: (slot) => `the kept request ${slot}`,
  },
  { table: 'second', column: 'extras', kind: 'object', by: 'at', say: (at) => `the figures of second ${at}` },
]

const HISTOGRAMS = [
  { table: 'second', columns: COURSE_METRICS, by: 'at', say: (at: string) => `a latency of second ${at}` },
  {
    table: 'latency',
    columns: ['histogram'],
    by: 'series',
    say: (series: string) => `the latency ${series}`,
  },
  {
    table: 'load_group',
    columns: ['histogram'],
    by: 'value',
    say: (label: string) => `the latency of ${label}`,
  },
] as const

const COMPRESSED_BODIES = [
  { from: 'long_answer', by: 'id', say: (row: string) => `the answer to record ${row}` },
  { from: 'try_answer', by: 'item', say: (row: string) => `an answer to record ${row}` },
  {
    from: 'long_callback JOIN callback USING (id)',
    by: 'item',
    say: (row: string) => `a callback of record ${row}`,
  },
] as const

/**
 * Returns the error to report for failed work on journals: `WORKSPACE_UNUSABLE` with the place if one of them
 * is damaged, else the failure itself. Journals are inspected only after a failure, since readers assume that
 * they are intact.
 */
export function explainFailure(error: unknown, files: readonly string[]): unknown {
  if (error instanceof SluiceError) return error
  for (const file of files) {
    try {
      const reason = findDamage(file) ?? (isDamagedDatabase(error) ? findDamagedPage(file) : null)
      const said = { file, runId: toRunId(file) }
      if (reason !== null)
        return new SluiceError({ id: 'journal_damaged', ...said, reason }, { cause: error })
    } catch (found) {
      // A failed inspection is not the original failure, unless it tells what is wrong with the file.
      if (found instanceof SluiceError) return found
    }
  }
  return error
}

/** Describes a journal's damage, such as `the cells of record 7 are not valid`; null if none was found. */
function findDamage(file: string): string | null {
  const db = openJournalReader(file)
  try {
    if (!hasSchema(db)) return null
    readRunRecord(db)
    return findDamagedJson(db) ?? findDamagedHistogram(db) ?? findDamagedBody(db)
  } catch (error) {
    if (isDamagedDatabase(error)) return toThrownText(error)
    throw error
  } finally {
    db.close()
  }
}

/**
 * Describes the damage of a journal that SQLite cannot read in places, such as an index, that hold none of
 * the values above; null if every page is whole. Reads the whole file.
 */
function findDamagedPage(file: string): string | null {
  const db = openJournalReader(file)
  try {
    const [found] = db.prepare('PRAGMA quick_check(1)').all()
    return found?.['quick_check'] === 'ok' ? null : 'some of its pages are malformed'
  } catch (error) {
    if (isDamagedDatabase(error)) return toThrownText(error)
    throw error
  } finally {
    db.close()
  }
}

/** Throws if cells that a retry has copied are damaged, in all or some rows: they must not be sent. */
export function refuseDamagedCells(
  db: DatabaseSync,
  table: 'main.row' | 'temp.candidate',
  where = 'true',
): void {
  if (findDamagedCell(db, { ...CELLS, table, where }) === null) return
  throw new SyntaxError('the cells of a row are not a list of texts')
}

function findDamagedJson(db: DatabaseSync): string | null {
  for (const cell of JSON_CELLS) {
    const found = findDamagedCell(db, cell)
    if (found !== null) return `${cell.say(found)} cannot be read`
  }
  return null
}

/** Identifies a row with an invalid cell; null if there is none. */
function findDamagedCell(
  db: DatabaseSync,
  { table, column, kind, of, by, where = 'true' }: JsonCell,
): string | null {
  const others =
    of === undefined ? 'false' : `EXISTS (SELECT 1 FROM json_each(${column}) WHERE type <> '${of}')`
  const found = db
    .prepare(
      `SELECT ${by} AS "row" FROM ${table} WHERE ${column} IS NOT NULL AND ${where} AND CASE
       WHEN NOT json_valid(${column}) THEN true WHEN json_type(${column}) <> '${kind}' THEN true ELSE ${others} END LIMIT 1`,
    )
    .get()
  return found === undefined ? null : String(found['row'])
}

function findDamagedHistogram(db: DatabaseSync): string | null {
  for (const { table, columns, by, say } of HISTOGRAMS) {
    for (const row of db.prepare(`SELECT * FROM ${table}`).iterate()) {
      for (const column of columns) {
        const encoded = row[column]
        if (typeof encoded === 'string' && !isHistogram(encoded))
          return `${say(String(row[by]))} cannot be read`
      }
    }
  }
  return null
}

function findDamagedBody(db: DatabaseSync): string | null {
  for (const { from, by, say } of COMPRESSED_BODIES) {
    const bodies = db.prepare(`SELECT ${by} AS "row", content, bytes FROM ${from} WHERE content IS NOT NULL`)
    for (const { row, content, bytes } of bodies.iterate()) {
      if (content instanceof Uint8Array && !isReadableBody(content, bytes))
        return `${say(String(row))} cannot be read`
    }
  }
  return null
}

function isHistogram(encoded: string): boolean {
  try {
    decodeHistogram(encoded)
    return true
  } catch {
    return false
  }
}
