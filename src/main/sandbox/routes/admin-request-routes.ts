import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import type { SandboxContext } from '../sandbox-context.ts'
import { LOGGED_ENDPOINTS } from '../store/request-store.ts'
import { pageSchema, parseAdminQuery } from './admin-page.ts'

const querySchema = pageSchema.extend({
  endpoint: z.enum(LOGGED_ENDPOINTS).nullable().default(null),
  subject: z.string().nullable().default(null),
})

/** Every request to indexes, watchlists and appeals, as it came, and how it ended. */
export function registerAdminRequestRoutes(app: FastifyInstance, { store }: SandboxContext): void {
  app.get('/requests', async (request) => {
    const { offset, limit, endpoint, subject } = parseAdminQuery(querySchema, request.query)
    const filter = { endpoint, subject }
    return {
      total: store.requests.count(filter),
      requests: store.requests.page(filter, offset, limit).map((logged) => ({
        endpoint: logged.endpoint,
        subject: logged.subject,
        outcome: logged.outcome,
        task_id: logged.taskId,
        arrived_on: logged.arrivedOn.toISOString(),
        request: logged.body === null ? null : JSON.parse(logged.body),
      })),
    }
  })

  app.delete('/requests', async () => {
    store.requests.clear()
    return { message: 'every request is forgotten' }
  })
}
