import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { httpUrlSchema } from '../../../shared/service/http-url.ts'
import { jsonObjectSchema } from '../../../shared/service/json-object.ts'
import type { SandboxContext } from '../sandbox-context.ts'
import { SandboxRefusal } from '../sandbox-errors.ts'
import { toSeededId } from '../seeded-id.ts'
import type { StoredIndexItem } from '../store/index-store.ts'
import { pageSchema, parseAdminQuery } from './admin-page.ts'
import { parseAdminBody } from './parse-admin-body.ts'

const itemSchema = z.strictObject({
  custom_index_item_id: z.string().min(1).optional(),
  url: httpUrlSchema,
  metadata: jsonObjectSchema.nullable().default(null),
  content_variant: z.string().nullable().default(null),
})

const indexSchema = z.strictObject({ items: z.array(itemSchema).default([]) })

type IndexRoute = { Params: { indexId: string } }

/** The project's custom indexes: the service makes and deletes them in its dashboard (docs/interface.md §4.1). */
export function registerAdminIndexRoutes(app: FastifyInstance, { store, options }: SandboxContext): void {
  const { indexes } = store

  app.get('/indexes', async () => ({
    indexes: indexes.list().map(({ indexId, items }) => ({ custom_index_id: indexId, items })),
  }))

  app.get<IndexRoute>('/indexes/:indexId', async (request) => {
    const { indexId } = request.params
    if (!indexes.has(indexId)) throw toUnknownIndex(indexId)
    const { offset, limit } = parseAdminQuery(pageSchema, request.query)
    return {
      custom_index_id: indexId,
      total: indexes.countItems(indexId),
      items: indexes.page(indexId, offset, limit).map(toDocument),
    }
  })

  app.put<IndexRoute>('/indexes/:indexId', async (request) => {
    const { indexId } = request.params
    const { items } = parseAdminBody(indexSchema, request.body)
    indexes.make(indexId)
    indexes.empty(indexId)
    for (const [position, item] of items.entries()) {
      const isNew = indexes.addItem(indexId, {
        itemId:
          item.custom_index_item_id ?? toSeededId(options.seed, 'seeded item', indexId, String(position)),
        url: item.url,
        contentHash: null,
        metadata: item.metadata,
        contentVariant: item.content_variant,
      })
      if (!isNew) throw new SandboxRefusal('CONFLICT', `items.${position}: its id is taken`)
    }
    return { custom_index_id: indexId, total: indexes.countItems(indexId) }
  })

  app.delete<IndexRoute>('/indexes/:indexId', async (request) => {
    if (!indexes.remove(request.params.indexId)) throw toUnknownIndex(request.params.indexId)
    return { message: 'the custom index is removed' }
  })
}

function toDocument(item: StoredIndexItem) {
  return {
    custom_index_item_id: item.itemId,
    url: item.url,
    content_hash: item.contentHash,
    metadata: item.metadata,
    content_variant: item.contentVariant,
  }
}

function toUnknownIndex(indexId: string): SandboxRefusal {
  return new SandboxRefusal('NOT_FOUND', `there is no custom index "${indexId}"`)
}
