import type { DatabaseSync } from 'node:sqlite'
import type { GroupCommit } from './open-database.ts'

/** `failed`: given up; `dropped`: never meant to be sent. */
type CallbackState = 'pending' | 'delivered' | 'failed' | 'dropped'

/** A callback requested by an async task (docs/interface.md §6). */
export interface RequestedCallback {
  taskId: string
  url: string
  /** JSON text. */
  body: string
}

interface NewCallback extends RequestedCallback {
  /** `normal`, `early`, `late` or `dropped`, which is never sent. */
  timing: string
  /** Wall-clock time of the first attempt, in milliseconds. */
  dueMs: number
}

type PendingCallback = RequestedCallback & { attempts: number }

/** A callback as the admin routes show it. */
export interface StoredCallback extends Pick<NewCallback, 'taskId' | 'url' | 'timing'> {
  callbackId: number
  /** JSON text; null once the callback is settled. */
  body: string | null
  state: CallbackState
  attempts: number
  /** Last attempt's result, a status such as `503` or code such as `ECONNREFUSED`; null before the first. */
  lastResult: string | null
  /** Wall-clock time of the next attempt of a pending callback, else of its settling. */
  dueMs: number
}

export interface CallbackCounts {
  pending: number
  delivered: number
  failed: number
  dropped: number
  /** Attempts that did not get a 2xx. */
  failed_attempts: number
}

interface CallbackFilter {
  state: CallbackState | null
  taskId: string | null
}

/** How many settled callbacks are deleted at a time. */
const DROP_BLOCK = 1_000

const FILTER = 'WHERE (?1 IS NULL OR state = ?1) AND (?2 IS NULL OR task_id = ?2)'

/** Opens the callbacks. The newest `keepSettled` settled ones are kept. */
export function createCallbackStore(database: DatabaseSync, group: GroupCommit, keepSettled: number) {
  const insert = database.prepare(
    'INSERT INTO callback (task_id, url, body, timing, state, due_ms) VALUES (?, ?, ?, ?, ?, ?)',
  )
  const dropOld = database.prepare("DELETE FROM callback WHERE id > ? AND id <= ? AND state <> 'pending'")
  const selectPending = database.prepare(
    "SELECT task_id AS taskId, url, body, attempts FROM callback WHERE id = ? AND state = 'pending'",
  )
  const updatePending = database.prepare(
    "UPDATE callback SET attempts = attempts + 1, last_result = ?, due_ms = ? WHERE id = ? AND state = 'pending'",
  )
  const updateSettled = database.prepare(
    `UPDATE callback SET state = ?, attempts = attempts + 1, last_result = ?, due_ms = ?, body = NULL
      WHERE id = ? AND state = 'pending'`,
  )
  const selectDue = database.prepare(
    "SELECT id AS callbackId, due_ms AS dueMs FROM callback WHERE state = 'pending' ORDER BY id",
  )
  const selectCounts = database.prepare(
    `SELECT state, count(*) AS n, sum(attempts) - sum(state = 'delivered') AS failed_attempts
      FROM callback GROUP BY state`,
  )
  const selectCount = database.prepare(`SELECT count(*) AS n FROM callback ${FILTER}`)
  const selectPage = database.prepare(
    `SELECT id AS callbackId, task_id AS taskId, url, body, timing, state, attempts, last_result AS lastResult,
      due_ms AS dueMs FROM callback ${FILTER} ORDER BY id LIMIT ?3 OFFSET ?4`,
  )

  const counts: CallbackCounts = { pending: 0, delivered: 0, failed: 0, dropped: 0, failed_attempts: 0 }
  for (const row of selectCounts.all()) {
    counts[row['state'] as CallbackState] = Number(row['n'])
    counts.failed_attempts += Number(row['failed_attempts'])
  }

  return {
    /** Returns the callback's id. Ids grow. */
    insert: ({ taskId, url, body, timing, dueMs }: NewCallback): number => {
      const state = timing === 'dropped' ? 'dropped' : 'pending'
      const kept = state === 'pending' ? body : null
      const { lastInsertRowid } = group.write(() =>
        insert.run(taskId, url, kept, timing, state, Math.round(dueMs)),
      )
      const id = Number(lastInsertRowid)
      if (id % DROP_BLOCK === 0) dropOld.run(id - keepSettled - DROP_BLOCK, id - keepSettled)
      counts[state] += 1
      return id
    },
    /** What an attempt needs; null if the callback is no longer pending. */
    readPending: (callbackId: number): PendingCallback | null =>
      (selectPending.get(callbackId) ?? null) as PendingCallback | null,
    postpone: (callbackId: number, { lastResult, dueMs }: { lastResult: string; dueMs: number }): void => {
      const { changes } = group.write(() => updatePending.run(lastResult, Math.round(dueMs), callbackId))
      if (changes !== 0) counts.failed_attempts += 1
    },
    settle: (
      callbackId: number,
      { state, lastResult, atMs }: { state: 'delivered' | 'failed'; lastResult: string; atMs: number },
    ): void => {
      const { changes } = group.write(() =>
        updateSettled.run(state, lastResult, Math.round(atMs), callbackId),
      )
      if (changes === 0) return
      counts.pending -= 1
      counts[state] += 1
      if (state === 'failed') counts.failed_attempts += 1
    },
    listPending: (): { callbackId: number; dueMs: number }[] =>
      selectDue.all() as unknown as { callbackId: number; dueMs: number }[],
    counts: (): CallbackCounts => ({ ...counts }),
    count: ({ state, taskId }: CallbackFilter): number => Number(selectCount.get(state, taskId)?.['n']),
    /** Callbacks in the order they were added. */
    page: ({ state, taskId }: CallbackFilter, offset: number, limit: number): StoredCallback[] =>
      selectPage.all(state, taskId, limit, offset) as unknown as StoredCallback[],
    /** Deletes all callbacks, including pending ones. */
    clear: (): void => {
      group.writeNow(() => database.exec('DELETE FROM callback'))
      Object.assign(counts, { pending: 0, delivered: 0, failed: 0, dropped: 0, failed_attempts: 0 })
    },
  }
}

/** The sandbox's callbacks: pending ones, and the outcome of the others. */
export interface CallbackStore extends ReturnType<typeof createCallbackStore> {}
