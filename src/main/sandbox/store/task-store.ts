import type { DatabaseSync, SQLOutputValue } from 'node:sqlite'
import type { GroupCommit } from './open-database.ts'

export interface StoredTask {
  postId: string
  /** The endpoint that accepted it, such as `task/v1/async`. */
  endpoint: string
  taskId: string
  /** SHA-256 of the model and the content, in hexadecimal. */
  contentHash: string
  createdOn: Date
  /** The outcome of its request: `accepted`, or the fault of its answer. */
  outcome: string
  /** The request body as JSON text; null if it was dropped or never kept. */
  request: string | null
}

export interface OutcomeCount {
  outcome: string
  requests: number
}

/** How many old tasks lose their requests at a time. */
const DROP_BLOCK = 1_000

/** Hexadecimal digits of a hash that identify analysed content: as many as a number can hold exactly. */
const CONTENT_NUMBER_DIGITS = 13

const OUTCOMES = `SELECT outcome, sum(requests) AS requests FROM (
  SELECT post_id, outcome, 1 AS requests FROM task UNION ALL SELECT post_id, outcome, requests FROM refusal
)`

const TASKS = `SELECT post_id AS postId, endpoint, task_id AS taskId, lower(hex(content_hash)) AS contentHash,
  created_ms AS createdMs, outcome, request FROM task`

/** Opens the sandbox's tasks and a count of all requests, with the newest `keepRequests` tasks' bodies. */
export function createTaskStore(database: DatabaseSync, group: GroupCommit, keepRequests: number) {
  const countTries = database.prepare(
    `SELECT (SELECT count(*) FROM task WHERE post_id = ?1)
      + (SELECT coalesce(sum(requests), 0) FROM refusal WHERE post_id = ?1) AS tries`,
  )
  const insertTask = database.prepare(
    `INSERT INTO task (post_id, task_id, content_hash, created_ms, outcome, request, endpoint)
      VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
  )
  const dropRequests = database.prepare('UPDATE task SET request = NULL WHERE id > ? AND id <= ?')
  const insertAnalysed = database.prepare('INSERT INTO analysed VALUES (?) ON CONFLICT DO NOTHING')
  const upsertRefusal = database.prepare(
    'INSERT INTO refusal VALUES (?, ?, 1) ON CONFLICT DO UPDATE SET requests = requests + 1',
  )
  const selectTotals = database.prepare(`${OUTCOMES} GROUP BY outcome`)
  const selectOutcomes = database.prepare(`${OUTCOMES} WHERE post_id = ? GROUP BY outcome ORDER BY outcome`)
  const selectTask = database.prepare(`${TASKS} WHERE post_id = ?`)
  const selectPage = database.prepare(`${TASKS} ORDER BY id LIMIT ? OFFSET ?`)
  const selectCount = database.prepare('SELECT count(*) AS n FROM task')

  /** Kept in memory, so that statistics are free however many tasks there are. */
  const stored = selectTotals.all() as unknown as OutcomeCount[]
  const totals = new Map(stored.map(({ outcome, requests }) => [outcome, requests]))
  let taskCount = Number(selectCount.get()?.['n'])
  const countTotal = (outcome: string): void => {
    totals.set(outcome, (totals.get(outcome) ?? 0) + 1)
  }

  return {
    /** The number, from 1, of the next try with this post_id. */
    nextTry: (postId: string): number => Number(countTries.get(postId)?.['tries']) + 1,
    /** Stores the task; false if its post_id was already submitted. */
    insert: (task: StoredTask): boolean => {
      const { changes, lastInsertRowid } = group.write(() =>
        insertTask.run(
          task.postId,
          task.taskId,
          Buffer.from(task.contentHash, 'hex'),
          task.createdOn.getTime(),
          task.outcome,
          task.request,
          task.endpoint,
        ),
      )
      if (changes === 0) return false
      const id = Number(lastInsertRowid)
      if (id % DROP_BLOCK === 0) dropRequests.run(id - keepRequests - DROP_BLOCK, id - keepRequests)
      taskCount += 1
      countTotal(task.outcome)
      return true
    },
    /** Notes that the content was analysed; true if it had been before. */
    noteAnalysed: (contentHash: string): boolean => {
      const contentNumber = Number.parseInt(contentHash.slice(0, CONTENT_NUMBER_DIGITS), 16)
      return group.write(() => insertAnalysed.run(contentNumber).changes === 0)
    },
    /** Counts a request without a stored task; `postId` is '' if it could not be read. */
    countRefusal: (postId: string, outcome: string): void => {
      group.write(() => upsertRefusal.run(postId, outcome))
      countTotal(outcome)
    },
    outcomes: (): OutcomeCount[] => [...totals].map(([outcome, requests]) => ({ outcome, requests })),
    outcomesOf: (postId: string): OutcomeCount[] => selectOutcomes.all(postId) as unknown as OutcomeCount[],
    find: (postId: string): StoredTask | null => {
      const row = selectTask.get(postId)
      return row === undefined ? null : toTask(row)
    },
    /** Tasks from that offset on, in the order they were accepted. */
    page: (offset: number, limit: number): StoredTask[] => selectPage.all(limit, offset).map(toTask),
    count: (): number => taskCount,
    /** Deletes all tasks and counts, so that post_ids can be used again. */
    clear: (): void => {
      group.writeNow(() => database.exec('DELETE FROM task; DELETE FROM refusal; DELETE FROM analysed;'))
      totals.clear()
      taskCount = 0
    },
  }
}

function toTask(row: Record<string, SQLOutputValue>): StoredTask {
  const { createdMs, ...task } = row as unknown as Omit<StoredTask, 'createdOn'> & { createdMs: number }
  return { ...task, createdOn: new Date(createdMs) }
}
