import type { Operation, Plan } from '../../../shared/plan/plan.ts'
import {
  appealStatusPath,
  indexAddPath,
  indexRemovePath,
  taskPath,
  WATCHLIST_ADD_PATH,
  WATCHLIST_UPDATE_PATH,
} from '../../../shared/service/endpoints.ts'
import { isServiceErrorBody, readServiceError } from '../../../shared/service/errors.ts'
import { type Body, writeBody } from '../mapping/json-text.ts'
import { APPEAL_READER } from './appeal-reader.ts'
import { createIndexReader, judgeIndexCallback, OWN_CALLBACK } from './index-reader.ts'
import {
  createJudge,
  createJudgement,
  cutMessage,
  type JudgeExchange,
  type Judgement,
  type OperationReader,
  parseJson,
} from './judgement.ts'
import { judgeWhole } from './redact-exchange.ts'
import type { ServiceRequest } from './service-client.ts'
import { createTaskReader, judgeTaskCallback } from './task-reader.ts'
import { createWatchlistReader } from './watchlist-reader.ts'

/** How an operation's rows go out and what comes back of them. */
export interface OperationExchange {
  /** The host that the operation's requests go to: the second one for v2 tasks, where there is one. */
  baseUrl: string
  toRequest: ToRequest
  /**
   * What the judge must know of an item's rows, for the caller to keep while the item is in flight and to read nothing
   * from: lower-cased terms of a watchlist; a mark where a row's own callback_url takes its result.
   */
  toRowKeys: (bodies: readonly RowBody[]) => readonly string[]
  /** `earlierTries`: tries of the item before this one that may have been taken (default: 0). */
  judge: JudgeExchange
  /** Judges the text of a callback; null where it cannot be read as one (docs/interface.md §6). */
  judgeCallback: (text: string) => Judgement | null
}

const NO_KEYS: readonly string[] = Object.freeze([])
const OWN_CALLBACK_KEYS: readonly string[] = Object.freeze([OWN_CALLBACK])

/** The address that requests of an operation go to. */
export function toServiceUrl({ operation, connection }: Pick<Plan, 'operation' | 'connection'>): string {
  const isV2 = operation.kind === 'task' && operation.api === 'v2'
  return (isV2 ? connection.taskBaseUrl : undefined) ?? connection.baseUrl
}

/** Builds the requests and the judge of a plan's operation (docs/interface.md §4, §6, §7). */
export function createOperationExchange(
  { operation, connection }: Pick<Plan, 'operation' | 'connection'>,
  options: {
    /** Error codes that mean "this post_id was delivered before", in addition to the connection's own. */
    deliveredCodes: readonly string[]
    nowMs: () => number
  },
): OperationExchange {
  const baseUrl = toServiceUrl({ operation, connection })
  const deliveredCodes = [...connection.deliveredCodes, ...options.deliveredCodes]
  const reader = createReader(operation, deliveredCodes)
  return {
    baseUrl,
    toRequest: createToRequest(operation),
    toRowKeys: createToRowKeys(operation),
    judge: judgeWhole(createJudge(reader, baseUrl, options.nowMs)),
    judgeCallback: (text) => judgeCallback(operation, parseJson(text)),
  }
}

function createReader(operation: Operation, deliveredCodes: readonly string[]): OperationReader {
  switch (operation.kind) {
    case 'task':
      return createTaskReader(operation, deliveredCodes)
    case 'index-add':
    case 'index-remove':
      return createIndexReader(operation)
    case 'watchlist-add':
    case 'watchlist-update':
      return createWatchlistReader(operation.kind)
    case 'appeal-status':
      return APPEAL_READER
  }
}

function createToRowKeys(operation: Operation): OperationExchange['toRowKeys'] {
  if ('watchlist' in operation) return (terms) => terms.map(({ term }) => String(term).toLowerCase())
  if (!('mode' in operation) || operation.mode === 'sync') return () => NO_KEYS
  return ([body]) => (body?.['callback_url'] === undefined ? NO_KEYS : OWN_CALLBACK_KEYS)
}

function judgeCallback(operation: Operation, body: unknown): Judgement | null {
  if (isServiceErrorBody(body)) {
    const error = readServiceError(body)
    const message = cutMessage(error?.message ?? 'the callback says error, and nothing else')
    return createJudgement({ outcome: 'rejected', errorCode: error?.errorCode ?? null, message })
  }
  if (operation.kind === 'task') return judgeTaskCallback(body, operation.api)
  if (operation.kind === 'index-add' || operation.kind === 'index-remove') {
    return judgeIndexCallback(body, operation.kind === 'index-add')
  }
  return null
}

/** The body of one row, as the mapper made it. */
type RowBody = Readonly<Body>

/** Builds the request of an item; `callbackUrl` takes the result where the row itself names no other receiver. */
type ToRequest = (bodies: readonly RowBody[], callbackUrl: string | null) => ServiceRequest

/** Builds an operation's requests from the bodies of their rows (docs/interface.md §4). */
function createToRequest(operation: Operation): ToRequest {
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
      body: writeBody(onlyOne(bodies)),
      isAnonymous: false,
    })
  }
  return (bodies, callbackUrl) => {
    const body = onlyOne(bodies)
    const isComplete = callbackUrl === null || body['callback_url'] !== undefined
    const completed = isComplete ? body : { ...body, callback_url: callbackUrl }
    return { method: 'POST', path, body: writeBody(completed), isAnonymous: false }
  }
}

function createTermsRequest(path: string, watchlist: string): ToRequest {
  return (terms) => ({
    method: 'POST',
    path,
    body: `{"watchlist":${JSON.stringify(watchlist)},"terms":[${terms.map(writeBody).join(',')}]}`,
    isAnonymous: false,
  })
}

function onlyOne(bodies: readonly RowBody[]): RowBody {
  const [body] = bodies
  if (body === undefined || bodies.length > 1)
    throw new Error(`one row for each request, not ${bodies.length}`)
  return body
}
