import type { SessionKind } from '../../../shared/run/run.ts'
import { type DatabaseSync, readRows } from '../workspace/sqlite.ts'

/** A session as it begins: one process working on a run, from taking the lease to releasing it. */
export interface NewSession {
  kind: SessionKind
  startedAtMs: number
  appVersion: string
  /** Options of this session only. */
  options?: SessionOptions
  /** Rows that a retry requeued. */
  taken?: number
}

interface SessionOptions {
  onUnknown?: 'resend' | 'skip' | undefined
  deliveredCodes?: readonly string[] | undefined
  callbackTimeoutMs?: number | undefined
  /** Whether it sends with a key that no earlier session of the run had. */
  isOtherKey?: boolean | undefined
  /** With how many rows of the run sent it was to end as a trial. */
  trialRows?: number | undefined
}

export interface SessionRecord {
  number: number
  kind: SessionKind
  startedAtMs: number
  /** When it last stopped sending; null while it runs, or if its process died. */
  endedAtMs: number | null
  appVersion: string
  taken: number
  isOtherKey: boolean
  trialRows: number | null
  /** The run's request counters by outcome and its sending time when the session began. */
  requests: ReadonlyMap<string, number>
  sendingMs: number
}

/** Writes a session, numbered from 1 on; returns its number. The caller has a transaction open. */
export function insertSession(
  db: DatabaseSync,
  { kind, startedAtMs, appVersion, options = {}, taken = 0 }: NewSession,
): number {
  const inserted = db
    .prepare(
      `INSERT INTO session (number, kind, started_at, app_version, options, taken, requests, sending_ms)
       SELECT (SELECT coalesce(max(number), 0) + 1 FROM session), ?, ?, ?, ?, ?,
       (SELECT json_group_object(value, n) FROM facet WHERE kind = 'request'), coalesce((SELECT sending_ms FROM run), 0)
       RETURNING number`,
    )
    .get(kind, startedAtMs, appVersion, JSON.stringify(options), taken)
  return Number(inserted?.['number'])
}

/** Notes when the newest session stopped sending. The caller has a transaction open. */
export function endSession(db: DatabaseSync, endedAtMs: number): void {
  db.prepare('UPDATE session SET ended_at = ? WHERE number = (SELECT max(number) FROM session)').run(
    endedAtMs,
  )
}

/** Reads the sessions of a run, the first one first. */
export function readSessions(db: DatabaseSync): SessionRecord[] {
  const sessions = readRows<
    Omit<SessionRecord, 'requests' | 'isOtherKey' | 'trialRows'> & { requests: string; options: string }
  >(
    db,
    `SELECT number, kind, started_at AS startedAtMs, ended_at AS endedAtMs, app_version AS appVersion, options, taken,
     requests, sending_ms AS sendingMs FROM session ORDER BY number`,
  )
  return sessions.map(({ options, ...session }) => {
    const { isOtherKey = false, trialRows = null } = JSON.parse(options) as SessionOptions
    return { ...session, isOtherKey, trialRows, requests: toCounts(session.requests) }
  })
}

function toCounts(text: string): Map<string, number> {
  const counts = JSON.parse(text) as Record<string, unknown>
  return new Map(Object.entries(counts).map(([outcome, n]) => [outcome, Number(n)]))
}
