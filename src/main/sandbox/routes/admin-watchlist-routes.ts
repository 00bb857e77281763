import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { addTermSchema } from '../../../shared/service/watchlist.ts'
import type { SandboxContext } from '../sandbox-context.ts'
import { SandboxRefusal } from '../sandbox-errors.ts'
import { parseAdminBody } from './parse-admin-body.ts'

const listSchema = z.strictObject({ terms: z.array(addTermSchema).default([]) })

/** The project's watchlists: the service makes and deletes them in its dashboard (docs/interface.md §4.7). */
export function registerAdminWatchlistRoutes(app: FastifyInstance, context: SandboxContext): void {
  const { watchlists } = context.store

  app.get('/watchlists', async () => ({ watchlists: watchlists.names() }))

  app.get<{ Params: { name: string } }>('/watchlists/:name', async (request) => {
    const { name } = request.params
    const terms = watchlists.terms(name)
    if (terms === null) throw toUnknownList(name)
    return { watchlist: name, terms }
  })

  app.put<{ Params: { name: string } }>('/watchlists/:name', async (request) => {
    const { name } = request.params
    const { terms } = parseAdminBody(listSchema, request.body)
    watchlists.put(
      name,
      terms.map(({ term, notes }) => ({ term, notes: notes ?? null })),
    )
    context.moderation.reload()
    return { watchlist: name, terms: watchlists.terms(name) }
  })

  app.delete<{ Params: { name: string } }>('/watchlists/:name', async (request) => {
    if (!watchlists.remove(request.params.name)) throw toUnknownList(request.params.name)
    context.moderation.reload()
    return { message: 'the watchlist is removed' }
  })
}

function toUnknownList(name: string): SandboxRefusal {
  return new SandboxRefusal('NOT_FOUND', `there is no watchlist "${name}"`)
}
