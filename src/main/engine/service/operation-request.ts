import type { Operation } from '../../../shared/plan/plan.ts'
import {
  appealStatusPath,
  indexAddPath,
  indexRemovePath,
  taskPath,
  WATCHLIST_ADD_PATH,
  WATCHLIST_UPDATE_PATH,
} from '../../../shared/service/endpoints.ts'
import type { ServiceRequest } from './service-client.ts'

/** The body of one row, as the mapper made it. */
export type RowBody = Readonly<Record<string, unknown>>

/** Builds the request of an item; `callbackUrl` takes the result where the row itself names no other receiver. */
export type ToRequest = (bodies: readonly RowBody[], callbackUrl: string | null) => ServiceRequest

/** Builds an operation's requests from the bodies of their rows (docs/interface.md §4). */
export function createToRequest(operation: Operation): ToRequest {
  switch (operation.kind) {
    case 'task':
      return createSingleRequest(taskPath(operation), operation.mode)
    case 'index-add':
      return createSingleRequest(
        indexAddPath({ customIndexId: operation.indexId, mode: operation.mode }),
        operation.mode,
      )
    case 'index-remove':
      return createSingleRequest(
        indexRemovePath({ customIndexId: operation.indexId, mode: operation.mode }),
        operation.mode,
      )
    case 'watchlist-add':
      return createTermsRequest(WATCHLIST_ADD_PATH, operation.watchlist)
    case 'watchlist-update':
      return createTermsRequest(WATCHLIST_UPDATE_PATH, operation.watchlist)
    case 'appeal-status':
      return (bodies) => ({
        method: 'GET',
        path: appealStatusPath(String(onlyOne(bodies)['appeal_id'])),
        body: null,
        isAnonymous: true,
      })
  }
}

function createSingleRequest(path: string, mode: 'sync' | 'async'): ToRequest {
  if (mode === 'sync') {
    return (bodies) => ({
      method: 'POST',
      path,
      body: JSON.stringify(onlyOne(bodies)),
      isAnonymous: false,
    })
  }
  return (bodies, callbackUrl) => {
    const body = onlyOne(bodies)
    const isComplete = callbackUrl === null || body['callback_url'] !== undefined
    const completed = isComplete ? body : { ...body, callback_url: callbackUrl }
    return { method: 'POST', path, body: JSON.stringify(completed), isAnonymous: false }
  }
}

function createTermsRequest(path: string, watchlist: string): ToRequest {
  return (terms) => ({
    method: 'POST',
    path,
    body: JSON.stringify({ watchlist, terms }),
    isAnonymous: false,
  })
}

function onlyOne(bodies: readonly RowBody[]): RowBody {
  const [body] = bodies
  if (body === undefined || bodies.length > 1)
    throw new Error(`one row for each request, not ${bodies.length}`)
  return body
}
