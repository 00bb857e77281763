import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { appealSchema } from '../appeals/appeal.ts'
import { createSampleAppeals } from '../appeals/sample-appeals.ts'
import type { SandboxContext } from '../sandbox-context.ts'
import { SandboxRefusal } from '../sandbox-errors.ts'
import type { StoredAppeal } from '../store/appeal-store.ts'
import { pageSchema, parseAdminQuery } from './admin-page.ts'
import { parseAdminBody } from './parse-admin-body.ts'

const newAppealsSchema = z.union([
  z.strictObject({ appeals: z.array(appealSchema) }),
  z.strictObject({ samples: z.int().min(0).max(1_000_000) }),
])

type AppealRoute = { Params: { appealId: string } }

/** The project's appeals; the service makes them elsewhere (docs/interface.md §4.7). */
export function registerAdminAppealRoutes(app: FastifyInstance, { store, clock }: SandboxContext): void {
  const { appeals } = store

  app.get('/appeals', async (request) => {
    const { offset, limit } = parseAdminQuery(pageSchema, request.query)
    return { total: appeals.count(), appeals: appeals.page(offset, limit).map(toDocument) }
  })

  app.get<AppealRoute>('/appeals/:appealId', async (request) => {
    const found = appeals.find(request.params.appealId)
    if (found === null) throw toUnknownAppeal(request.params.appealId)
    return toDocument(found)
  })

  app.post('/appeals', async (request) => {
    const body = parseAdminBody(newAppealsSchema, request.body)
    const added =
      'appeals' in body
        ? body.appeals
        : createSampleAppeals(body.samples).map((appeal) => appealSchema.parse(appeal))
    appeals.put(added, clock.date())
    return { total: appeals.count() }
  })

  app.delete<AppealRoute>('/appeals/:appealId', async (request) => {
    if (!appeals.remove(request.params.appealId)) throw toUnknownAppeal(request.params.appealId)
    return { message: 'the appeal is removed' }
  })

  app.delete('/appeals', async () => {
    appeals.clear()
    return { message: 'every appeal is removed' }
  })
}

function toDocument({ appeal, createdOn, reads }: StoredAppeal) {
  return { ...appeal, created_on: createdOn.toISOString(), reads }
}

function toUnknownAppeal(appealId: string): SandboxRefusal {
  return new SandboxRefusal('NOT_FOUND', `there is no appeal "${appealId}"`)
}
