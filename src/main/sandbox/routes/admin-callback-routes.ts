import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import type { SandboxContext } from '../sandbox-context.ts'
import type { StoredCallback } from '../store/callback-store.ts'
import { pageSchema, parseAdminQuery } from './admin-page.ts'

const querySchema = pageSchema.extend({
  state: z.enum(['pending', 'delivered', 'failed', 'dropped']).nullable().default(null),
  task_id: z.string().nullable().default(null),
})

/** Callbacks: those on their way, and what became of the others. */
export function registerAdminCallbackRoutes(
  app: FastifyInstance,
  { store, callbacks }: SandboxContext,
): void {
  app.get('/callbacks', async (request) => {
    const { offset, limit, state, task_id: taskId } = parseAdminQuery(querySchema, request.query)
    const filter = { state, taskId }
    return {
      counts: store.callbacks.counts(),
      total: store.callbacks.count(filter),
      callbacks: store.callbacks.page(filter, offset, limit).map(toCallbackDocument),
    }
  })

  app.post('/callbacks/send-now', async () => {
    callbacks.sendPending()
    return { pending: store.callbacks.counts().pending }
  })

  app.delete('/callbacks', async () => {
    callbacks.clear()
    return { message: 'every callback is forgotten, and what was pending is not sent' }
  })
}

/** A callback as the admin routes show it. */
export function toCallbackDocument(callback: StoredCallback) {
  return {
    callback_id: callback.callbackId,
    task_id: callback.taskId,
    url: callback.url,
    timing: callback.timing,
    state: callback.state,
    attempts: callback.attempts,
    last_result: callback.lastResult,
    at: new Date(callback.dueMs).toISOString(),
    body: callback.body === null ? null : JSON.parse(callback.body),
  }
}
