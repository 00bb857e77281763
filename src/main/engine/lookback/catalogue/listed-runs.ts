import type { RetainedRun } from '../../../../shared/lookback/retention.ts'
import type { FoundRuns, RunListQuery, RunPage } from '../../../../shared/lookback/run-list.ts'
import type { OperationKind } from '../../../../shared/operations/operations.ts'
import type { CallbackCounts, RunSummary } from '../../../../shared/run/run.ts'
import {
  type DatabaseSync,
  readNumber,
  readRows,
  readValues,
  type SQLInputValue,
} from '../../workspace/sqlite.ts'
import { type CataloguedRun, foldText } from './catalogued-run.ts'

const ORDERS: Record<NonNullable<RunListQuery['order']>, string> = {
  newest: 'whole.id DESC',
  oldest: 'whole.id',
  name: 'name, whole.id DESC',
  rows: 'rows DESC, whole.id DESC',
  p95: 'p95 DESC NULLS LAST, whole.id DESC',
  size: 'size_bytes DESC, whole.id DESC',
}

const STATES: Record<NonNullable<RunListQuery['states']>[number], string> = {
  running: "state = 'running'",
  completed: "state = 'completed' AND load_failure IS NULL",
  stopped: "state = 'stopped'",
  interrupted: "state = 'interrupted'",
  ready: "state = 'ready'",
  paused: "state = 'paused'",
  awaiting: "state = 'awaiting'",
  'threshold-failed': "load_failure = 'threshold failed'",
  'no-success': "load_failure = 'no success'",
}

/** A condition and the values it binds. */
interface Condition {
  sql: string
  values: SQLInputValue[]
}

/** The runs and retries that a page shows, including those that cannot be read. */
export function listShown(db: DatabaseSync, query: RunListQuery): string[] {
  const { order = 'newest', offset = 0, limit = -1 } = query
  const { sql, values } = toCondition(query)
  return readValues(
    db,
    `SELECT id FROM run WHERE error IS NOT NULL OR first IN
     (SELECT id FROM whole WHERE ${sql} ORDER BY ${ORDERS[order]} LIMIT ? OFFSET ?)`,
    ...[...values, limit, offset],
  )
}

/** Reads a page of runs while `unread` journals are left. Throws a `SyntaxError` for a damaged summary. */
export function readRunPage(db: DatabaseSync, query: RunListQuery, unread: number): RunPage {
  const { order = 'newest', offset = 0, limit = -1 } = query
  const { sql, values } = toCondition(query)
  const found = readRows<{ document: string; sizeBytes: number; course: string }>(
    db,
    `SELECT document, size_bytes AS sizeBytes, course FROM whole JOIN summary USING (id) WHERE ${sql}
     ORDER BY ${ORDERS[order]} LIMIT ? OFFSET ?`,
    ...[...values, limit, offset],
  )
  return {
    runs: found.map(({ document }) => JSON.parse(document) as RunSummary),
    figures: found.map(({ sizeBytes, course }) => ({ sizeBytes, courseMs: JSON.parse(course) as number[] })),
    choices: {
      tags: readValues(db, 'SELECT DISTINCT tag FROM tag ORDER BY tag'),
      connections: readValues(db, 'SELECT DISTINCT coalesce(connection, base_url) FROM whole ORDER BY 1'),
    },
    total: readNumber(db, `SELECT count(*) FROM whole WHERE ${sql}`, ...values),
    all: readNumber(db, 'SELECT count(*) FROM whole'),
    unread,
    unreadable: readRows(
      db,
      'SELECT id AS runId, error AS message FROM run WHERE error IS NOT NULL ORDER BY id DESC',
    ),
  }
}

function toCondition(query: RunListQuery): Condition {
  const { search = '', product, operations, states, failed, connection, target, tags = [] } = query
  const { fromMs, beforeMs } = query
  const conditions: Condition[] = foldText(search)
    .split(/\s+/)
    .filter((word) => word !== '')
    .map((word) => ({ sql: 'instr(search, ?)', values: [word] }))
  const add = (sql: string, ...values: SQLInputValue[]) => conditions.push({ sql, values })
  const addOneOf = (column: string, values: readonly string[]) =>
    add(`${column} IN (${values.map(() => '?').join()})`, ...values)
  if (product !== undefined) add('product = ?', product)
  if (operations !== undefined) addOneOf('operation', operations)
  if (states !== undefined) add(states.map((state) => STATES[state]).join(' OR ') || 'false')
  if (failed !== undefined) add('has_failed = ?', Number(failed))
  if (connection !== undefined) {
    add('? IN (connection, base_url, task_base_url)', connection)
  }
  if (target !== undefined) add('target = ?', target)
  for (const tag of tags) add('EXISTS (SELECT 1 FROM tag WHERE tag.id = whole.id AND tag = ?)', tag)
  if (fromMs !== undefined) add('created_at >= ?', fromMs)
  if (beforeMs !== undefined) add('created_at < ?', beforeMs)
  return {
    sql: conditions.map(({ sql }) => `(${sql})`).join(' AND ') || 'true',
    values: conditions.flatMap(({ values }) => values),
  }
}

/** A run or retry of certain operations, or one that cannot be read and may have done them. */
export interface OperationRun {
  id: string
  /** Changes with its files; null if they may be changing now. */
  fingerprint: string | null
}

/** The runs and retries of these operations, oldest first, and those that cannot be read. */
export function listRunsOf(db: DatabaseSync, operations: readonly OperationKind[]): OperationRun[] {
  return readRows(
    db,
    `SELECT run.id, run.fingerprint FROM run LEFT JOIN whole ON whole.id = run.first
     WHERE whole.operation IS NULL OR whole.operation IN (${operations.map(() => '?').join()}) ORDER BY run.id`,
    ...operations,
  )
}

export interface CallbackRun
  extends Pick<CataloguedRun, 'id' | 'runToken' | 'inboxRead' | 'overdueAtMs' | 'lastOverdueAtMs'> {
  /** First run of its whole; `name`, `awaiting` and `counts` are the whole's. */
  first: string
  name: string
  awaiting: number
  counts: CallbackCounts | null
}

/** The runs and retries that get callbacks, and those of the tokens. */
export function readCallbackRuns(db: DatabaseSync, tokens: readonly string[]): CallbackRun[] {
  const rows = readRows<Omit<CallbackRun, 'counts'> & { counts: string | null }>(
    db,
    `SELECT run.id, first, run_token AS runToken, inbox_read AS inboxRead, overdue_at AS overdueAtMs,
     last_overdue_at AS lastOverdueAtMs, document ->> '$.name' AS name,
     document ->> '$.rows.awaiting' AS awaiting, document -> '$.callbacks' AS counts
     FROM run JOIN summary ON summary.id = first
     WHERE inbox_read IS NOT NULL OR run_token IN (SELECT value FROM json_each(?)) ORDER BY run.id`,
    JSON.stringify(tokens),
  )
  return rows.map(({ counts, ...run }) => ({
    ...run,
    counts: counts === null ? null : (JSON.parse(counts) as CallbackCounts),
  }))
}

/** Most ids listed among those that fit a reference. */
const FOUND_MAX = 5

/** Prefix of a run's name in a reference to the newest run of that name. */
const LATEST_OF = 'latest:'

/**
 * The runs that a person's reference means: an id, or `latest`; else those whose id begins with it and those
 * with that name. `latest:NAME` is the run with that name that was started last or has the newest retry with
 * its own id.
 */
export function findRuns(db: DatabaseSync, reference: string): FoundRuns {
  const read = (sql: string, ...values: SQLInputValue[]) => readValues<string>(db, sql, ...values)
  const unreadable = readNumber(db, 'SELECT count(*) FROM run WHERE error IS NOT NULL')
  const [newest = null] = read('SELECT id FROM whole ORDER BY id DESC LIMIT 1')
  const toFound = (ids: string[], matching = ids.length): FoundRuns => ({
    ids,
    matching,
    newest,
    unreadable,
  })
  // A retry makes its run the latest.
  if (reference === 'latest') return toFound(read('SELECT id FROM whole ORDER BY newest DESC LIMIT 1'))
  const exact = read('SELECT id FROM run WHERE id = ?', reference)
  if (exact.length > 0 || reference === '') return toFound(exact)
  const isLatest = reference.startsWith(LATEST_OF)
  const name = isLatest ? reference.slice(LATEST_OF.length) : reference
  const named = read(
    "SELECT id FROM whole JOIN summary USING (id) WHERE document ->> '$.name' = ? ORDER BY newest DESC",
    name,
  )
  if (isLatest) return toFound(named.slice(0, 1))
  const begun = read(
    'SELECT id FROM run WHERE first IS NOT NULL AND substr(id, 1, ?) = ? ORDER BY id DESC',
    reference.length,
    reference,
  )
  const found = [...new Set([...begun, ...named])]
  return toFound(found.slice(0, FOUND_MAX), found.length)
}

/** Reads what retention needs of every run; `protectedIds` are the runs and retries to keep. */
export function readRetainedRuns(db: DatabaseSync, protectedIds: ReadonlySet<string>): RetainedRun[] {
  const inUse = new Set<string>()
  const needed = new Set<string>()
  for (const row of db.prepare('SELECT id, first, is_held FROM run WHERE first IS NOT NULL').iterate()) {
    if (row['is_held'] === 1) inUse.add(String(row['first']))
    if (protectedIds.has(String(row['id']))) needed.add(String(row['first']))
  }
  const sql = `SELECT id AS run_id, ended_at, size_bytes, document ->> '$.name' AS name FROM whole JOIN summary USING (id) ORDER BY id`
  const runs = readRows<Omit<RetainedRun, 'ended_at' | 'kept_as'> & { ended_at: number }>(db, sql)
  return runs.map(({ ended_at: endedAtMs, ...run }) => {
    const isRunning = inUse.has(run.run_id)
    return {
      ...run,
      ended_at: new Date(endedAtMs).toISOString(),
      kept_as: isRunning ? 'running' : needed.has(run.run_id) ? 'protected' : null,
    }
  })
}
