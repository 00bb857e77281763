import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import type { SandboxContext } from '../sandbox-context.ts'
import { SandboxRefusal } from '../sandbox-errors.ts'
import { parseAdminBody } from './parse-admin-body.ts'

const newKeySchema = z.strictObject({
  label: z.string().default(''),
  key: z.string().regex(/^\S+$/, 'must be one word').optional(),
})

/** The project's API keys (docs/interface.md §5): a key itself is told once, when it is made. */
export function registerAdminKeyRoutes(app: FastifyInstance, { store }: SandboxContext): void {
  app.get('/keys', async () => ({ keys: store.keys.list() }))

  app.post('/keys', async (request) => {
    const { label, key } = parseAdminBody(newKeySchema, request.body)
    const added = store.keys.add(label, key)
    if (added === null) throw new SandboxRefusal('CONFLICT', 'this key exists, or existed before')
    return { key_id: added.keyId, key: added.key }
  })

  app.post<{ Params: { keyId: string } }>('/keys/:keyId/refresh', async (request) => {
    const refreshed = store.keys.refresh(toKeyId(request.params.keyId))
    if (refreshed === null) throw toUnknownKey(request.params.keyId)
    return { key_id: refreshed.keyId, key: refreshed.key }
  })

  app.delete<{ Params: { keyId: string } }>('/keys/:keyId', async (request) => {
    if (!store.keys.remove(toKeyId(request.params.keyId))) throw toUnknownKey(request.params.keyId)
    return { message: 'the key is no longer valid' }
  })
}

function toKeyId(text: string): number {
  return /^\d{1,15}$/.test(text) ? Number(text) : 0
}

function toUnknownKey(keyId: string): SandboxRefusal {
  return new SandboxRefusal('NOT_FOUND', `there is no valid key ${keyId}`)
}
