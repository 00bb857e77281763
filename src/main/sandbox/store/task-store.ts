import type { DatabaseSync, SQLOutputValue } from 'node:sqlite'
import type { GroupCommit } from './group-commit.ts'

/** A task as the sandbox took it. */
export interface StoredTask {
  postId: string
  taskId: string
  /** SHA-256 of the model and the content, in hexadecimal. */
  contentHash: string
  /** ISO 8601. */
  createdOn: string
  /** The request body as JSON text; null where it is no longer, or was never, kept. */
  request: string | null
}

/** How many requests ended in one way. */
export interface OutcomeCount {
  outcome: string
  requests: number
}

/** The sandbox's tasks and the tally of every request it got. */
export interface TaskStore {
  /** Counts one more try of a post_id and returns its number, from 1. */
  countTry(postId: string): number
  /** Stores the task; false where its post_id was submitted before. */
  insert(task: StoredTask): boolean
  /** Notes that the content was analysed; true where it was before. */
  noteAnalysed(contentHash: string): boolean
  /** Counts how a request ended; `postId` is '' where it could not be read. */
  countOutcome(postId: string, outcome: string): void
  outcomes(): OutcomeCount[]
  outcomesOf(postId: string): OutcomeCount[]
  find(postId: string): StoredTask | null
  /** Tasks in the order they were taken, after that many. */
  page(offset: number, limit: number): StoredTask[]
  count(): number
  /** Forgets every task and every count, so that post_ids can be used again. */
  clear(): void
}

/** Requests are dropped from old tasks this many at a time. */
const DROP_BLOCK = 1_000

/** Opens the tasks. Of the newest `keepRequests` tasks the request bodies are kept. */
export function createTaskStore(database: DatabaseSync, group: GroupCommit, keepRequests: number): TaskStore {
  const upsertTry = database.prepare(
    'INSERT INTO post (post_id, tries) VALUES (?, 1) ON CONFLICT DO UPDATE SET tries = tries + 1 RETURNING tries',
  )
  const insertTask = database.prepare(
    'INSERT INTO task (post_id, task_id, content_hash, created_on, request) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING',
  )
  const dropRequests = database.prepare('UPDATE task SET request = NULL WHERE id > ? AND id <= ?')
  const insertAnalysed = database.prepare(
    'INSERT INTO analysed (content_hash) VALUES (?) ON CONFLICT DO NOTHING',
  )
  const upsertOutcome = database.prepare(
    'INSERT INTO request_outcome (post_id, outcome, requests) VALUES (?, ?, 1) ON CONFLICT DO UPDATE SET requests = requests + 1',
  )
  const selectTotals = database.prepare(
    'SELECT outcome, sum(requests) AS requests FROM request_outcome GROUP BY outcome',
  )
  const selectOutcomes = database.prepare(
    'SELECT outcome, requests FROM request_outcome WHERE post_id = ? ORDER BY outcome',
  )
  const selectTask = database.prepare('SELECT * FROM task WHERE post_id = ?')
  const selectPage = database.prepare('SELECT * FROM task ORDER BY id LIMIT ? OFFSET ?')
  const selectCount = database.prepare('SELECT count(*) AS n FROM task')

  const totals = new Map(selectTotals.all().map((row) => [String(row['outcome']), Number(row['requests'])]))

  return {
    countTry: (postId) => group.write(() => Number(upsertTry.get(postId)?.['tries'])),
    insert: (task) =>
      group.write(() => {
        const { changes, lastInsertRowid } = insertTask.run(
          task.postId,
          task.taskId,
          task.contentHash,
          task.createdOn,
          task.request,
        )
        if (changes === 0) return false
        const id = Number(lastInsertRowid)
        if (id % DROP_BLOCK === 0) dropRequests.run(id - keepRequests - DROP_BLOCK, id - keepRequests)
        return true
      }),
    noteAnalysed: (contentHash) => group.write(() => insertAnalysed.run(contentHash).changes === 0),
    countOutcome: (postId, outcome) => {
      totals.set(outcome, (totals.get(outcome) ?? 0) + 1)
      group.write(() => upsertOutcome.run(postId, outcome))
    },
    outcomes: () => [...totals].map(([outcome, requests]) => ({ outcome, requests })),
    outcomesOf: (postId) =>
      selectOutcomes.all(postId).map((row) => ({
        outcome: String(row['outcome']),
        requests: Number(row['requests']),
      })),
    find: (postId) => {
      const row = selectTask.get(postId)
      return row === undefined ? null : toTask(row)
    },
    page: (offset, limit) => selectPage.all(limit, offset).map(toTask),
    count: () => Number(selectCount.get()?.['n']),
    clear: () => {
      group.write(() =>
        database.exec(
          'DELETE FROM task; DELETE FROM post; DELETE FROM request_outcome; DELETE FROM analysed;',
        ),
      )
      group.flush()
      totals.clear()
    },
  }
}

function toTask(row: Record<string, SQLOutputValue>): StoredTask {
  return {
    postId: String(row['post_id']),
    taskId: String(row['task_id']),
    contentHash: String(row['content_hash']),
    createdOn: String(row['created_on']),
    request: row['request'] === null ? null : String(row['request']),
  }
}
