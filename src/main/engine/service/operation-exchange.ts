import {
  isAbout,
  isAsync,
  OPERATIONS,
  type Operation,
  type OperationKind,
  targetOf,
} from '../../../shared/operations/operations.ts'
import type { Plan } from '../../../shared/plan/plan.ts'
import { readAnswerNames } from '../../../shared/service/answer-findings.ts'
import { isServiceErrorBody, readServiceError } from '../../../shared/service/errors.ts'
import { isJsonObject } from '../../../shared/service/json-object.ts'
import { parseJson } from '../../../shared/service/parse-json.ts'
import { type Body, writeBody } from '../mapping/json-text.ts'
import { APPEAL_READER } from './appeal-reader.ts'
import {
  createEchoReader,
  ECHO_MISMATCH_CODE,
  type EchoFinding,
  type HasOtherRow,
  sayMismatch,
  toExpected,
  UNVERIFIABLE,
} from './echoes.ts'
import { createAddReader, createRemoveReader, OWN_CALLBACK } from './index-reader.ts'
import {
  createJudge,
  createJudgement,
  cutMessage,
  type JudgeExchange,
  type Judgement,
  type OperationReader,
} from './judgement.ts'
import { findMissingModels, toModelsKeys } from './missing-models.ts'
import { judgeWhole } from './redact-exchange.ts'
import type { ServiceRequest } from './service-client.ts'
import { createTaskReader, listTaskParts } from './task-reader.ts'
import { ADD_LISTS, createTermReader, UPDATE_LISTS } from './watchlist-reader.ts'

/** How an operation's rows are sent and their answers read. */
export interface OperationExchange {
  /** Host of the operation's requests: the second one for v2 tasks, if there is one. */
  baseUrl: string
  toRequest: ToRequest
  /**
   * What the judge must know about an item's rows, kept by the caller while the item is in flight, and opaque
   * to it: lower-cased terms of a watchlist; else the values that answers repeat, the models of a v2 task,
   * and a mark if a row's own callback_url gets its result.
   */
  toRowKeys: (bodies: readonly RowBody[]) => readonly string[]
  /** `earlierTries`: by row of the item, how many earlier tries may have been accepted (default: 0). */
  judge: JudgeExchange
  /** Judges the text of a callback; null if it cannot be read as one (docs/interface.md §6). */
  judgeCallback: (text: string, rowKeys?: readonly string[]) => Judgement | null
}

const NO_KEYS: readonly string[] = Object.freeze([])

/** The address for requests of an operation. */
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
    /** Whether an id that is not a row's own is another row's (default: no). */
    hasOtherRow?: HasOtherRow
  },
): OperationExchange {
  const baseUrl = toServiceUrl({ operation, connection })
  const deliveredCodes = [...connection.deliveredCodes, ...options.deliveredCodes]
  // A person can accept that while the run is held.
  const isRewriting = () => connection.rewritesIds === true
  const reader = withEchoes(
    findReader(operation.kind).createReader(operation, deliveredCodes),
    createEchoReader(
      operation,
      (body) => (operation.kind === 'task' ? listTaskParts(body, operation.api) : [body]),
      {
        hasOtherRow: options.hasOtherRow ?? (() => false),
        isRewriting,
      },
    ),
    isRewriting,
  )
  const { isRepeatable } = OPERATIONS[operation.kind]
  const isTask = operation.kind === 'task'
  // An acknowledgement says nothing about the content; the callback does.
  const hasNames = isTask && !isAsync(operation)
  return {
    baseUrl,
    toRequest: createToRequest(operation),
    toRowKeys: createToRowKeys(operation),
    judge: judgeWhole(createJudge({ ...reader, isRepeatable, hasNames }, baseUrl, options.nowMs)),
    judgeCallback(text, rowKeys = NO_KEYS) {
      const body = parseJson(text)
      const judgement = reader.judgeCallback(body, rowKeys)
      if (judgement !== null && isTask) judgement.names = readAnswerNames(text, () => body)
      return judgement
    },
  }
}

interface ReaderEntry<Own> {
  createReader(operation: Own, deliveredCodes: readonly string[]): OperationReader
}

// Only the engine knows what answers mean; the rest of an operation is in `shared/operations`.
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
  const toEchoes = toExpected(operation)
  const isV2 = operation.kind === 'task' && operation.api === 'v2'
  const toKeys: typeof toEchoes = isV2
    ? (body) => [...toEchoes(body), ...toModelsKeys(body['models'])]
    : toEchoes
  if (!isAsync(operation)) return ([body = NO_ROW]) => toKeys(body)
  return ([body = NO_ROW]) =>
    body['callback_url'] === undefined ? toKeys(body) : [...toKeys(body), OWN_CALLBACK]
}

function judgeCallback(reader: OperationReader, body: unknown, rowKeys: readonly string[]): Judgement | null {
  if (isServiceErrorBody(body)) {
    const error = readServiceError(body)
    const message = cutMessage(error?.message ?? 'the callback says error, and nothing else')
    const taskId = isJsonObject(body) && typeof body['task_id'] === 'string' ? body['task_id'] : null
    return createJudgement({ outcome: 'rejected', errorCode: error?.errorCode ?? null, message, taskId })
  }
  return reader.judgeCallback?.(body, rowKeys) ?? null
}

/** Makes a reader check that an answer belongs to its request: the only place for that comparison. */
function withEchoes(
  reader: OperationReader,
  readEcho: ReturnType<typeof createEchoReader>,
  isRewriting: () => boolean,
): Required<OperationReader> {
  const check = (judgement: Judgement | null, body: unknown, rowKeys: readonly string[], what: string) => {
    if (judgement === null) return null
    noteMissingModels(judgement, body, rowKeys, what)
    // Terms are compared where their answers are read.
    if (judgement.echo.kind === 'mismatched' && isRewriting()) judgement.echo = UNVERIFIABLE
    return checkEcho(judgement, readEcho(body, rowKeys), what)
  }
  return {
    ...reader,
    readSuccess: (answer, body, rowKeys, earlierTries) =>
      check(reader.readSuccess(answer, body, rowKeys, earlierTries), body, rowKeys, 'the answer'),
    judgeCallback: (body, rowKeys) =>
      check(judgeCallback(reader, body, rowKeys), body, rowKeys, 'the callback'),
  }
}

/**
 * Marks a result that lacks a model that was requested: that none of its rules triggered would be a guess.
 */
function noteMissingModels(
  judgement: Judgement,
  body: unknown,
  rowKeys: readonly string[],
  what: string,
): void {
  const { outcome, answer, isAcknowledgement } = judgement
  if (outcome !== 'succeeded' || answer !== null || isAcknowledgement) return
  const missing = findMissingModels(body, rowKeys)
  if (missing.length === 0) return
  judgement.answer = 'missing_models'
  judgement.message = cutMessage(`${what} lacks the results of ${missing.join(', ')}`)
}

/**
 * Its own request may have been processed, so the outcome of an item that got another's answer is unknown; it
 * is not repeated, since the result may be the same. A cached answer may name whoever asked first.
 */
function checkEcho(judgement: Judgement, found: EchoFinding, what: string): Judgement {
  const isOwn =
    found.kind === 'unverifiable' || (judgement.echo.kind === 'mismatched' && found.kind !== 'mismatched')
  const echo = isOwn ? judgement.echo : found
  if (echo.kind !== 'mismatched') {
    judgement.echo = echo
    return judgement
  }
  if (judgement.fromCache) return { ...judgement, echo: UNVERIFIABLE }
  const { status } = judgement
  const message = cutMessage(sayMismatch(echo, what))
  return createJudgement({ outcome: 'unknown', status, errorCode: ECHO_MISMATCH_CODE, message, echo })
}

/** The body of one row, as the mapper made it. */
type RowBody = Readonly<Body>

/** Builds the request of an item; `callbackUrl` gets the result unless the row names another receiver. */
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
