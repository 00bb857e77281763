import { basename } from 'node:path'
import { listRunSources } from '../../../../shared/plan/source-paths.ts'
import { findLoadFailure, hasFailed, isLoadRun, type RunSummary } from '../../../../shared/run/run.ts'
import type { RunFamily, RunView } from '../../journal/run-family.ts'
import { readLatencyCourse } from '../../journal/seconds.ts'
import { summarizeRun } from '../../results/run-summary.ts'
import type { DatabaseSync } from '../../workspace/sqlite.ts'
import type { RunFilesState } from '../../workspace/workspace-files.ts'

export interface CataloguedRun {
  id: string
  /** The first run of the whole it belongs to; null if its journal cannot be read, or holds no run yet. */
  first: string | null
  /** Why it cannot be read; null if it can. */
  error: string | null
  fingerprint: string | null
  sizeBytes: number
  isOpen: boolean
  isHeld: boolean
  runToken: string
  /**
   * How far its inbox was read; null if it has none of its own, as a load test, which measures callbacks
   * itself.
   */
  inboxRead: number | null
  /** When its own first and last awaited rows become overdue, Unix milliseconds; null if it awaits none. */
  overdueAtMs: number | null
  lastOverdueAtMs: number | null
}

/** A run with its retries as lists show it. */
export interface CataloguedWhole {
  members: CataloguedRun[]
  summary: RunSummary
  /** See `RunFigures`, milliseconds. */
  courseMs: number[]
}

/**
 * Reads the whole that a run belongs to; `readFamily` returns null if a journal holds no run yet. `states` is
 * what the file system reported before. Throws what reading a journal throws.
 */
export function readWhole(
  runId: string,
  readFamily: (runId: string) => RunFamily | null,
  states: ReadonlyMap<string, RunFilesState>,
): CataloguedWhole | null {
  const named = readFamily(runId)
  const firstId = named?.whole[0]?.record.runId ?? runId
  const family = firstId === runId ? named : readFamily(firstId)
  if (named === null || family === null) return null
  // A retry whose rows are still being copied does not stand for any of them yet.
  const isApart = !family.whole.some(({ record }) => record.runId === runId)
  const members = isApart ? [...family.whole, named] : family.whole
  return {
    members: members.map((member) => toCataloguedRun(member, firstId, states)),
    summary: summarizeRun(family),
    courseMs: readLatencyCourse(family.members),
  }
}

/**
 * A run that cannot be read, with the reason, or whose journal holds none yet. It is read again each time,
 * unless the reason is the content of its journal.
 */
export function toUnreadRun(
  id: string,
  error: string | null,
  { sizeBytes, fingerprint }: RunFilesState,
  isOfContent = false,
): CataloguedRun {
  const unread = {
    first: null,
    fingerprint: isOfContent ? fingerprint : null,
    isOpen: false,
    isHeld: false,
    inboxRead: null,
    overdueAtMs: null,
    lastOverdueAtMs: null,
  }
  return { id, error, sizeBytes, runToken: id, ...unread }
}

function toCataloguedRun(
  { record, isHeld, db }: RunView,
  first: string,
  states: ReadonlyMap<string, RunFilesState>,
): CataloguedRun {
  const { runId, plan, runToken, callbackBase, inboxRead } = record
  const { fingerprint = null, sizeBytes = 0 } = states.get(runId) ?? {}
  // A load test measures its own callbacks and takes no more.
  const isAwaiting = callbackBase !== null && plan.load === undefined
  const acknowledged = isAwaiting
    ? db
        .prepare(
          "SELECT min(acknowledged_at) AS first, max(acknowledged_at) AS last FROM result WHERE state = 'acknowledged'",
        )
        .get()
    : undefined
  const toOverdue = (at: unknown) => (at == null ? null : Number(at) + plan.callback.timeoutMs)
  return {
    id: runId,
    first,
    error: null,
    sizeBytes,
    isHeld,
    runToken,
    // A run being written must be read again.
    fingerprint: isHeld ? null : fingerprint,
    isOpen: record.state !== 'completed' && record.state !== 'stopped',
    inboxRead: isAwaiting ? inboxRead : null,
    overdueAtMs: toOverdue(acknowledged?.['first']),
    lastOverdueAtMs: toOverdue(acknowledged?.['last']),
  }
}

/** A text as it is searched: without case, its characters composed alike (NFKC). */
export function foldText(text: string): string {
  return text.normalize('NFKC').toLowerCase()
}

/** Removes runs from the catalogue. The caller has a transaction open, as for every write here. */
export function removeRuns(db: DatabaseSync, ids: Iterable<string>): void {
  const statements = ['run', 'whole', 'tag', 'summary'].map((table) =>
    db.prepare(`DELETE FROM ${table} WHERE id = ?`),
  )
  for (const id of ids) for (const statement of statements) statement.run(id)
}

/** Writes the entry of one run. */
export function insertRun(db: DatabaseSync, run: CataloguedRun): void {
  db.prepare('INSERT OR REPLACE INTO run VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)').run(
    run.id,
    run.first,
    run.error,
    run.fingerprint,
    run.sizeBytes,
    Number(run.isOpen),
    Number(run.isHeld),
    run.runToken,
    run.inboxRead,
    run.overdueAtMs,
    run.lastOverdueAtMs,
  )
}

/** Writes the entry of a run with its retries. */
export function insertWhole(db: DatabaseSync, { members, summary, courseMs }: CataloguedWhole): void {
  for (const member of members) insertRun(db, member)
  const { run_id: id, tags = [], retries } = summary
  const newest = retries.at(-1) ?? summary
  db.prepare(
    'INSERT OR REPLACE INTO whole VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
  ).run(
    id,
    newest.run_id,
    Date.parse(summary.created_at),
    Date.parse(summary.ended_at ?? newest.created_at),
    isLoadRun(summary) ? 'load' : 'run',
    summary.operation,
    summary.target ?? null,
    summary.phase ?? summary.state,
    summary.connection ?? null,
    summary.base_url,
    summary.task_base_url ?? null,
    foldText(summary.name),
    summary.rows.read,
    summary.latency_ms.http_req_duration?.p95 ?? null,
    members.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
    Number(hasFailed(summary)),
    findLoadFailure(summary),
    toSearched(summary),
  )
  const insertTag = db.prepare('INSERT OR IGNORE INTO tag VALUES (?, ?)')
  for (const tag of tags) insertTag.run(id, tag)
  db.prepare('INSERT OR REPLACE INTO summary VALUES (?, ?, ?)').run(
    id,
    JSON.stringify(summary),
    JSON.stringify(courseMs),
  )
}

function toSearched(summary: RunSummary): string {
  const { run_id: id, name, tags = [], note = '', connection = '', base_url: baseUrl, target = '' } = summary
  const ids = summary.retries.map((retry) => retry.run_id)
  const files = listRunSources(summary).map((path) => basename(path))
  return foldText([id, ...ids, name, ...files, ...tags, note, connection, baseUrl, target].join('\n'))
}
