import { hash } from 'node:crypto'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { indexRemoveRequestSchema } from '../../../shared/operations/index-remove.ts'
import { WATCHLIST_ADD_PATH } from '../../../shared/operations/watchlist-add.ts'
import { WATCHLIST_UPDATE_PATH } from '../../../shared/operations/watchlist-update.ts'
import type { Mode } from '../../../shared/service/endpoints.ts'
import { type RequestResult, readText } from '../answer-request.ts'
import { addTerms, updateTerms } from '../change-watchlist.ts'
import type { SandboxContext } from '../sandbox-context.ts'
import { type SandboxErrorCode, SandboxRefusal } from '../sandbox-errors.ts'
import { toSeededId } from '../seeded-draw.ts'
import { parseBody, parseIndexAdd, parseTerms } from '../validate-request.ts'
import { type LoggedWork, registerLoggedRoute } from './endpoint.ts'

/** Serves adding to and removing from custom indexes, sync and async (docs/interface.md §4.3, §4.4). */
export function registerIndexRoutes(app: FastifyInstance, context: SandboxContext): void {
  for (const mode of ['sync', 'async'] as const) {
    registerLoggedRoute(app, context, {
      endpoint: `index-add/${mode}`,
      method: 'POST',
      path: `/api/v1/custom_index/:indexId/add/${mode}`,
      needsKey: true,
      findSubject: findIndexId,
      check: (request, body) => checkAdd(context, mode, findIndexId(request), body),
    })
    registerLoggedRoute(app, context, {
      endpoint: `index-remove/${mode}`,
      method: 'POST',
      path: `/api/v1/custom_index/:indexId/remove/${mode}`,
      needsKey: true,
      findSubject: findIndexId,
      check: (request, body) => checkRemove(context, mode, findIndexId(request), body),
    })
  }
}

function checkAdd(
  context: SandboxContext,
  mode: Mode,
  indexId: string,
  body: unknown,
): LoggedWork | Promise<LoggedWork> {
  const { options, store, media } = context
  requireIndex(context, indexId)
  const item = parseIndexAdd(body)
  checkRoom(context, mode, item.callbackUrl)

  const toWork = (contentHash: string | null): LoggedWork => ({
    key: `${indexId}\n${item.url}`,
    carryOut: (nth) => {
      requireIndex(context, indexId)
      let repetition = nth
      let itemId: string
      do {
        itemId = toSeededId(options.seed, 'index item', indexId, item.url, String(repetition++))
      } while (!store.indexes.addItem(indexId, { ...item, itemId, contentHash }))
      const taskId = toSeededId(options.seed, 'index add', itemId)
      const result = { custom_index_item_id: itemId, task_id: taskId, message: 'The item is added.' }
      const acknowledgement = { task_id: taskId, message: 'The item will be added.' }
      return complete(mode, taskId, item.callbackUrl, { result, acknowledgement })
    },
  })
  return media.isFetched(item.url) ? media.fetchHash(item.url).then(toWork) : toWork(null)
}

function checkRemove(context: SandboxContext, mode: Mode, indexId: string, body: unknown): LoggedWork {
  const { options, store } = context
  requireIndex(context, indexId)
  const { custom_index_item_id: itemId, callback_url: callbackUrl = null } = parseBody(
    indexRemoveRequestSchema,
    body,
  )
  checkRoom(context, mode, callbackUrl)
  return {
    key: `${indexId}\n${itemId}`,
    carryOut: (nth) => {
      if (!store.indexes.removeItem(indexId, itemId)) {
        throw new SandboxRefusal(
          'INVALID_CUSTOM_INDEX_ITEM',
          `the custom index "${indexId}" has no item "${itemId}"`,
        )
      }
      const taskId = toSeededId(options.seed, 'index remove', indexId, itemId, String(nth))
      const result = { task_id: taskId, custom_index_item_id: itemId, message: 'The item is removed.' }
      const acknowledgement = { ...result, message: 'The item will be removed.' }
      return complete(mode, taskId, callbackUrl, { result, acknowledgement })
    },
  }
}

/**
 * A sync request gets the result as its answer; an async one gets an acknowledgement, and the same result
 * later as a callback (docs/interface.md §6).
 */
function complete(
  mode: Mode,
  taskId: string,
  callbackUrl: string | null,
  { result, acknowledgement }: { result: object; acknowledgement: object },
): RequestResult & { taskId: string } {
  const body = JSON.stringify(result)
  if (mode === 'sync') return { taskId, answer: body, callback: null }
  return {
    taskId,
    answer: JSON.stringify(acknowledgement),
    callback: callbackUrl === null ? null : { taskId, url: callbackUrl, body },
  }
}

function checkRoom({ callbacks }: SandboxContext, mode: Mode, callbackUrl: string | null): void {
  if (mode === 'async' && callbackUrl !== null) callbacks.checkRoom()
}

function requireIndex({ store }: SandboxContext, indexId: string): void {
  if (!store.indexes.has(indexId)) {
    throw new SandboxRefusal('INVALID_CUSTOM_INDEX', `there is no custom index "${indexId}"`)
  }
}

function findIndexId({ params }: FastifyRequest): string {
  return readText(params, 'indexId')
}

/** The statuses of watchlist add, which contradict its own example (docs/interface.md §7.2). */
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
  return readText(body, 'watchlist')
}
