import {
  isAbout,
  isAsync,
  OPERATIONS,
  type Operation,
  type OperationKind,
  targetOf,
} from '../../../shared/operations/operations.ts'
import type { Plan } from '../../../shared/plan/plan.ts'
import { isServiceErrorBody, readServiceError } from '../../../shared/service/errors.ts'
import { type Body, writeBody } from '../mapping/json-text.ts'
import { APPEAL_READER } from './appeal-reader.ts'
import { createAddReader, createRemoveReader, OWN_CALLBACK } from './index-reader.ts'
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
import { createTaskReader } from './task-reader.ts'
import { ADD_LISTS, createTermReader, UPDATE_LISTS } from './watchlist-reader.ts'

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
  const reader = findReader(operation.kind).createReader(operation, deliveredCodes)
  const { isRepeatable } = OPERATIONS[operation.kind]
  return {
    baseUrl,
    toRequest: createToRequest(operation),
    toRowKeys: createToRowKeys(operation),
    judge: judgeWhole(createJudge({ ...reader, isRepeatable }, baseUrl, options.nowMs)),
    judgeCallback: (text) => judgeCallback(reader, parseJson(text)),
  }
}

interface ReaderEntry<Own> {
  createReader(operation: Own, deliveredCodes: readonly string[]): OperationReader
}

// What answers mean is for the engine alone to know; the rest of an operation is in `shared/operations`.
const READERS: { [Kind in OperationKind]: ReaderEntry<Extract<Operation, { kind: Kind }>> } = {
  task: { createReader: createTaskReader },
  'index-add': { createReader: createAddReader },
  'index-remove': { createReader: createRemoveReader },
  'watchlist-add': { createReader: () => createTermReader(ADD_LISTS) },
  'watchlist-update': { createReader: () => createTermReader(UPDATE_LISTS) },
  'appeal-status': { createReader: () => APPEAL_READER },
}

function findReader(kind: OperationKind): ReaderEntry<Operation> {
  return READERS[kind]
}

function createToRowKeys(operation: Operation): OperationExchange['toRowKeys'] {
  if (isAbout(operation, 'term')) return (terms) => terms.map(({ term }) => String(term).toLowerCase())
  if (!isAsync(operation)) return () => NO_KEYS
  return ([body]) => (body?.['callback_url'] === undefined ? NO_KEYS : OWN_CALLBACK_KEYS)
}

function judgeCallback(reader: OperationReader, body: unknown): Judgement | null {
  if (isServiceErrorBody(body)) {
    const error = readServiceError(body)
    const message = cutMessage(error?.message ?? 'the callback says error, and nothing else')
    return createJudgement({ outcome: 'rejected', errorCode: error?.errorCode ?? null, message })
  }
  return reader.judgeCallback?.(body) ?? null
}

/** The body of one row, as the mapper made it. */
type RowBody = Readonly<Body>

/** Builds the request of an item; `callbackUrl` takes the result where the row itself names no other receiver. */
type ToRequest = (bodies: readonly RowBody[], callbackUrl: string | null) => ServiceRequest

const NO_ROW: RowBody = Object.freeze({})

/** Builds an operation's requests from the bodies of their rows (docs/interface.md §4). */
function createToRequest(operation: Operation): ToRequest {
  const { endpoint, batch } = OPERATIONS[operation.kind]
  const { method } = endpoint
  const isAnonymous = !endpoint.sendsKey
  if (method === 'GET') {
    return (bodies) => ({ method, path: endpoint.path(operation, onlyOne(bodies)), body: null, isAnonymous })
  }
  const path = endpoint.path(operation, NO_ROW)
  if (batch !== undefined) {
    const head = `{${JSON.stringify(batch.target)}:${JSON.stringify(targetOf(operation))},${JSON.stringify(batch.list)}:[`
    return (rows) => ({ method, path, body: `${head}${rows.map(writeBody).join(',')}]}`, isAnonymous })
  }
  if (!isAsync(operation)) {
    return (bodies) => ({ method, path, body: writeBody(onlyOne(bodies)), isAnonymous })
  }
  return (bodies, callbackUrl) => {
    const body = onlyOne(bodies)
    const isComplete = callbackUrl === null || body['callback_url'] !== undefined
    const completed = isComplete ? body : { ...body, callback_url: callbackUrl }
    return { method, path, body: writeBody(completed), isAnonymous }
  }
}

function onlyOne(bodies: readonly RowBody[]): RowBody {
  const [body] = bodies
  if (body === undefined || bodies.length > 1)
    throw new Error(`one row for each request, not ${bodies.length}`)
  return body
}
