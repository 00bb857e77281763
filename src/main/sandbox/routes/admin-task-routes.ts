import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import type { SandboxContext } from '../sandbox-context.ts'
import type { StoredTask } from '../store/task-store.ts'
import { toCallbackDocument } from './admin-callback-routes.ts'
import { pageSchema, parseAdminQuery } from './admin-page.ts'

const querySchema = pageSchema.extend({ post_id: z.string().optional() })

/** Callbacks of one task that are shown with it. */
const MAX_CALLBACKS = 100

/** Statistics and tasks: what arrived, and what became of it. */
export function registerAdminTaskRoutes(app: FastifyInstance, { store }: SandboxContext): void {
  app.get('/stats', async () => {
    const outcomes = store.tasks.outcomes()
    return {
      requests: outcomes.reduce((sum, { requests }) => sum + requests, 0),
      tasks: store.tasks.count(),
      outcomes: Object.fromEntries(outcomes.map(({ outcome, requests }) => [outcome, requests])),
      endpoints: countByEndpoint(store.requests.outcomes()),
      callbacks: store.callbacks.counts(),
    }
  })

  app.get('/tasks', async (request) => {
    const { post_id: postId, offset, limit } = parseAdminQuery(querySchema, request.query)
    if (postId === undefined) {
      return { total: store.tasks.count(), tasks: store.tasks.page(offset, limit).map(toDocument) }
    }
    const task = store.tasks.find(postId)
    const outcomes = store.tasks.outcomesOf(postId)
    return {
      post_id: postId,
      requests: outcomes.reduce((sum, { requests }) => sum + requests, 0),
      outcomes: Object.fromEntries(outcomes.map(({ outcome, requests }) => [outcome, requests])),
      task: task === null ? null : toDocument(task),
      callbacks:
        task === null
          ? []
          : store.callbacks
              .page({ state: null, taskId: task.taskId }, 0, MAX_CALLBACKS)
              .map(toCallbackDocument),
    }
  })

  app.delete('/tasks', async () => {
    store.tasks.clear()
    return { message: 'every task and every count is forgotten' }
  })
}

/** `{ "watchlist-add": { "accepted": 3 } }`. */
function countByEndpoint(outcomes: readonly { endpoint: string; outcome: string; requests: number }[]) {
  const byEndpoint: Record<string, Record<string, number>> = {}
  for (const { endpoint, outcome, requests } of outcomes) {
    byEndpoint[endpoint] = { ...byEndpoint[endpoint], [outcome]: requests }
  }
  return byEndpoint
}

function toDocument(task: StoredTask) {
  return {
    post_id: task.postId,
    endpoint: task.endpoint,
    task_id: task.taskId,
    content_hash: task.contentHash,
    created_on: task.createdOn.toISOString(),
    outcome: task.outcome,
    request: task.request === null ? null : JSON.parse(task.request),
  }
}
