import { hash } from 'node:crypto'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { WATCHLIST_ADD_PATH, WATCHLIST_UPDATE_PATH } from '../../../shared/service/endpoints.ts'
import { isJsonObject } from '../../../shared/service/json-object.ts'
import { addTerms, updateTerms } from '../change-watchlist.ts'
import type { SandboxContext } from '../sandbox-context.ts'
import { type SandboxErrorCode, SandboxRefusal } from '../sandbox-errors.ts'
import { parseTerms } from '../validate-watchlist.ts'
import { type LoggedWork, registerLoggedRoute } from './logged-endpoint.ts'

/** The pairing of watchlist add that contradicts its own example (docs/interface.md §7.2). */
const CONTRADICTORY: Partial<Record<SandboxErrorCode, number>> = { PARAM_REQUIRED: 403, INVALID_API_KEY: 400 }

/** Serves adding and updating watchlist terms (docs/interface.md §4.5, §4.6). */
export function registerWatchlistRoutes(app: FastifyInstance, context: SandboxContext): void {
  registerLoggedRoute(app, context, {
    endpoint: 'watchlist-add',
    method: 'POST',
    path: WATCHLIST_ADD_PATH,
    needsKey: true,
    statuses: () => (context.behaviour.settings.watchlistAddCodes === 'contradictory' ? CONTRADICTORY : {}),
    findSubject: findWatchlist,
    check: (_request, body) => checkTerms(context, 'add', body),
  })
  registerLoggedRoute(app, context, {
    endpoint: 'watchlist-update',
    method: 'POST',
    path: WATCHLIST_UPDATE_PATH,
    needsKey: true,
    findSubject: findWatchlist,
    check: (_request, body) => checkTerms(context, 'update', body),
  })
}

function checkTerms(context: SandboxContext, operation: 'add' | 'update', body: unknown): LoggedWork {
  const checked = parseTerms(operation, body)
  const { watchlist, terms } = checked
  if (!context.store.watchlists.has(watchlist)) {
    throw new SandboxRefusal('INVALID_WATCHLIST', `there is no watchlist "${watchlist}"`)
  }
  const maxTerms = context.behaviour.settings.maxTermsPerRequest
  if (maxTerms !== null && terms.length > maxTerms) {
    throw new SandboxRefusal('TOO_MANY_TERMS', `terms: ${terms.length} are more than ${maxTerms}`)
  }
  return {
    key: `${watchlist}\n${hash('sha256', JSON.stringify(terms))}`,
    carryOut: () => {
      const answer = operation === 'add' ? addTerms(context, checked) : updateTerms(context, checked)
      return { answer: JSON.stringify(answer), callback: null, taskId: null }
    },
  }
}

function findWatchlist(_request: FastifyRequest, body: unknown): string {
  return isJsonObject(body) && typeof body['watchlist'] === 'string' ? body['watchlist'] : ''
}
