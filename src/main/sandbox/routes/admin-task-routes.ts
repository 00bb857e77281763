import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import type { SandboxContext } from '../sandbox-context.ts'
import { SandboxRefusal } from '../sandbox-errors.ts'
import type { StoredTask } from '../store/task-store.ts'

const querySchema = z.object({
  post_id: z.string().optional(),
  offset: z.coerce.number().int().min(0).default(0),
  limit: z.coerce.number().int().min(1).max(10_000).default(100),
})

/** Statistics and tasks: what arrived, and what became of it. */
export function registerAdminTaskRoutes(app: FastifyInstance, { store }: SandboxContext): void {
  app.get('/stats', async () => {
    const outcomes = store.tasks.outcomes()
    return {
      requests: outcomes.reduce((sum, { requests }) => sum + requests, 0),
      tasks: store.tasks.count(),
      outcomes: Object.fromEntries(outcomes.map(({ outcome, requests }) => [outcome, requests])),
    }
  })

  app.get('/tasks', async (request) => {
    const query = querySchema.safeParse(request.query)
    if (!query.success) throw new SandboxRefusal('INVALID_PARAM', z.prettifyError(query.error))
    const { post_id: postId, offset, limit } = query.data
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
    }
  })

  app.delete('/tasks', async () => {
    store.tasks.clear()
    return { message: 'every task and every count is forgotten' }
  })
}

function toDocument(task: StoredTask) {
  return {
    post_id: task.postId,
    task_id: task.taskId,
    content_hash: task.contentHash,
    created_on: task.createdOn.toISOString(),
    outcome: task.outcome,
    request: task.request === null ? null : JSON.parse(task.request),
  }
}
