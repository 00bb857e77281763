import type { DatabaseSync } from 'node:sqlite'
import { OPERATION_KINDS, OPERATIONS, type OperationKind } from '../../../shared/operations/operations.ts'
import type { Mode } from '../../../shared/service/endpoints.ts'
import type { GroupCommit } from './open-database.ts'
import type { OutcomeCount } from './task-store.ts'

/** Endpoints whose requests are logged; tasks are recorded separately. */
export const LOGGED_ENDPOINTS: readonly LoggedEndpoint[] = OPERATION_KINDS.flatMap((kind) => {
  if (kind === 'task') return []
  return OPERATIONS[kind].modeOf === undefined ? [kind] : [`${kind}/sync` as const, `${kind}/async` as const]
})

type LoggedKind = Exclude<OperationKind, 'task'>

export type LoggedEndpoint = LoggedKind | `${LoggedKind}/${Mode}`

interface LoggedRequest {
  endpoint: LoggedEndpoint
  /** The same for a request and its repetitions. */
  key: string
  /** The index, watchlist or appeal of the request; '' if it could not be read. */
  subject: string
  /** `accepted`, the refusal (`rejected:CODE`), or the fault of its answer (`fault:NAME`). */
  outcome: string
  taskId: string | null
  arrivedOn: Date
  /** JSON text; null if there was none, or if it was dropped or never kept. */
  body: string | null
}

type StoredRequest = Omit<LoggedRequest, 'arrivedOn'> & { arrivedMs: number }

interface RequestFilter {
  endpoint: string | null
  subject: string | null
}

/** How many old requests lose their bodies at a time. */
const DROP_BLOCK = 1_000

const FILTER = 'WHERE (?1 IS NULL OR endpoint = ?1) AND (?2 IS NULL OR subject = ?2)'

/** Opens the log of requests to indexes, watchlists and appeals, with the newest `keepRequests` bodies. */
export function createRequestStore(database: DatabaseSync, group: GroupCommit, keepRequests: number) {
  const selectTries = database.prepare('SELECT count(*) AS n FROM request WHERE endpoint = ? AND key = ?')
  const insert = database.prepare(
    `INSERT INTO request (endpoint, key, subject, outcome, task_id, arrived_ms, body)
      VALUES (?, ?, ?, ?, ?, ?, ?)`,
  )
  const dropBodies = database.prepare('UPDATE request SET body = NULL WHERE id > ? AND id <= ?')
  const selectOutcomes = database.prepare(
    'SELECT endpoint, outcome, count(*) AS requests FROM request GROUP BY 1, 2 ORDER BY 1, 2',
  )
  const selectCount = database.prepare(`SELECT count(*) AS n FROM request ${FILTER}`)
  const selectPage = database.prepare(
    `SELECT endpoint, key, subject, outcome, task_id AS taskId, arrived_ms AS arrivedMs, body
      FROM request ${FILTER} ORDER BY id LIMIT ?3 OFFSET ?4`,
  )

  return {
    /** The number, from 1, of the next try with this key. */
    nextTry: (endpoint: LoggedEndpoint, key: string): number =>
      Number(selectTries.get(endpoint, key)?.['n']) + 1,
    note: ({ endpoint, key, subject, outcome, taskId, arrivedOn, body }: LoggedRequest): void => {
      const { lastInsertRowid } = group.write(() =>
        insert.run(endpoint, key, subject, outcome, taskId, arrivedOn.getTime(), body),
      )
      const id = Number(lastInsertRowid)
      if (id % DROP_BLOCK === 0) dropBodies.run(id - keepRequests - DROP_BLOCK, id - keepRequests)
    },
    outcomes: (): (OutcomeCount & { endpoint: string })[] =>
      selectOutcomes.all() as unknown as (OutcomeCount & { endpoint: string })[],
    count: ({ endpoint, subject }: RequestFilter): number =>
      Number(selectCount.get(endpoint, subject)?.['n']),
    /** Requests from that offset on, in the order they arrived. */
    page: ({ endpoint, subject }: RequestFilter, offset: number, limit: number): LoggedRequest[] => {
      const rows = selectPage.all(endpoint, subject, limit, offset) as unknown as StoredRequest[]
      return rows.map(({ arrivedMs, ...request }) => ({ ...request, arrivedOn: new Date(arrivedMs) }))
    },
    clear: (): void => {
      group.writeNow(() => database.exec('DELETE FROM request'))
    },
  }
}
