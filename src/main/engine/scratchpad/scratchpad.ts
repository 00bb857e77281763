import { randomBytes } from 'node:crypto'
import { SluiceError } from '../../../shared/messages/errors.ts'
import { type FoundProblem, sayExpected } from '../../../shared/messages/problem-messages.ts'
import {
  isAsync,
  OPERATIONS,
  type Operation,
  operationSchema,
  type ScratchEndpoint,
  sendsKey,
} from '../../../shared/operations/operations.ts'
import type { PlanConnection } from '../../../shared/plan/connection.ts'
import { toFound } from '../../../shared/run/problem.ts'
import {
  AUTHORIZATION_HEADER,
  JSON_CONTENT_TYPE,
  toAuthorization,
} from '../../../shared/service/endpoints.ts'
import { isJsonObject } from '../../../shared/service/json-object.ts'
import {
  SCRATCH_PROBLEMS_MAX,
  type ScratchExchange,
  type ScratchProblem,
  type ScratchVerdict,
} from '../../../shared/service/scratchpad.ts'
import { APP_VERSION } from '../../../shared/version.ts'
import type { Scratchpad, SendingSecrets } from '../engine-interface.ts'
import { createRowValidator, type ValidateRow } from '../mapping/validate-row.ts'
import { parseCallbackPath, toCallbackPath } from '../receiver/addresses.ts'
import { readReceiverSettings } from '../receiver/receiver-settings.ts'
import type { WorkspaceReceiver } from '../receiver/workspace-receiver.ts'
import type { ProxyCredentials } from '../secrets/bound-secret.ts'
import { Redactor } from '../secrets/redactor.ts'
import { loadSystemAuthorities, usesSystemAuthorities } from '../secrets/system-authorities.ts'
import { addSystemProxy, type FindSystemProxy } from '../secrets/system-proxy.ts'
import type { Exchange } from '../service/exchange.ts'
import type { Judgement } from '../service/judgement.ts'
import {
  createOperationExchange,
  type OperationExchange,
  toServiceUrl,
} from '../service/operation-exchange.ts'
import { redactAnswer } from '../service/redact-answer.ts'
import { createServiceClients, type ServiceRequest } from '../service/service-client.ts'
import { TRACE_HEADER } from '../service/trace-context.ts'
import { findDoubledKeys, parseJsonLine } from '../source/jsonl/parse-json-line.ts'

/** A request whose callback is awaited. */
interface Awaited {
  sentAtUs: number
  judgeCallback: OperationExchange['judgeCallback']
  rowKeys: readonly string[]
  redactor: Redactor
}

/** Prefix of a single request's token, used instead of a run's. */
const TOKEN_PREFIX = 'scratch-'

/** Most callbacks awaited at once; the oldest is dropped for another. */
const AWAITED_MAX = 100

/** Longest body shown, UTF-16 code units. */
const SHOWN_MAX = 1024 * 1024

const USER_AGENT = `sluice/${APP_VERSION}`

/** Replaces the key in what is shown. */
const MASKED_KEY = '••••••••'

export function createScratchpad(
  workspace: string,
  receiver: WorkspaceReceiver,
  findSystemProxy: FindSystemProxy,
): Scratchpad {
  const awaited = new Map<string, Awaited>()

  function isOwnCallback(url: string): boolean {
    if (!URL.canParse(url)) return false
    return parseCallbackPath(readReceiverSettings(workspace).secret, new URL(url).pathname) !== null
  }

  /** The body in a text. Throws `BAD_USAGE` for what cannot or must not be sent. */
  function readBody(endpoint: ScratchEndpoint, text: string): Record<string, unknown> {
    const read = readText(text)
    // What becomes part of a path, such as an appeal's id, is only sent if it is valid.
    const [problem] =
      read.kind === 'fault' || OPERATIONS[endpoint.kind].endpoint.method === 'GET'
        ? checkText(endpoint, text)
        : []
    if (problem !== undefined || read.kind === 'fault') {
      const expected = problem === undefined ? 'must be JSON' : sayExpected(problem, 'window')
      throw new SluiceError({ id: 'scratch_unsendable', field: problem?.field ?? null, expected })
    }
    if (read.callbackUrls.some(isOwnCallback)) throw new SluiceError({ id: 'scratch_callback_of_run' })
    return read.body
  }

  async function toCallbackAddress(id: string, callbackUrl: string | undefined): Promise<string> {
    const { baseUrl } = await receiver.open({})
    if (callbackUrl !== undefined) await receiver.test(callbackUrl)
    const { secret } = readReceiverSettings(workspace)
    return (callbackUrl ?? baseUrl) + toCallbackPath(secret, { runToken: id, item: 1 })
  }

  function keepAwaited(id: string, request: Awaited): void {
    awaited.set(id, request)
    const [oldest] = awaited.keys()
    if (awaited.size > AWAITED_MAX && oldest !== undefined) awaited.delete(oldest)
  }

  return {
    check: checkText,
    withoutOwnCallback(text) {
      const read = readText(text)
      if (read.kind === 'fault' || !read.callbackUrls.some(isOwnCallback)) return text
      const { callback_url: _own, ...rest } = read.body
      return JSON.stringify(rest)
    },
    async send({ connection: named, endpoint, text, callbackUrl }, secrets) {
      const body = readBody(endpoint, text)
      const operation = toOperation(endpoint, body)
      const { apiKey } = secrets
      if (apiKey === undefined && sendsKey(operation)) {
        const { baseUrl, keyFrom } = named
        throw new SluiceError({ id: 'key_missing', baseUrl, keyFrom: keyFrom ?? null })
      }
      apiKey?.check(named)
      const { connection, proxyCredentials } = await addSystemProxy(
        toServiceUrl({ operation, connection: named }),
        named,
        secrets.proxyCredentials ?? null,
        findSystemProxy,
      )
      await receiver.guard([
        apiKey?.seal() ?? null,
        proxyCredentials?.seal() ?? null,
        secrets.headerValues?.seal() ?? null,
      ])
      const id = TOKEN_PREFIX + randomBytes(16).toString('hex')
      const awaitsCallback = isAsync(operation) && body['callback_url'] === undefined
      const sent = awaitsCallback ? addCallback(text, await toCallbackAddress(id, callbackUrl)) : text
      const exchange = createOperationExchange(
        { operation, connection },
        { deliveredCodes: [], nowMs: Date.now },
      )
      const { batch } = OPERATIONS[endpoint.kind]
      const rows = batch === undefined ? [body] : toRows(body[batch.list])
      const rowKeys = exchange.toRowKeys(rows)
      const request = toRequest(exchange.toRequest(rows, null), sent)
      const ended = await sendOnce(exchange.baseUrl, connection, request, { ...secrets, proxyCredentials })
      if (awaitsCallback) {
        const redactor = new Redactor()
        apiKey?.redactBy(redactor)
        proxyCredentials?.redactBy(redactor)
        secrets.headerValues?.redactBy(redactor)
        const { sentAtUs } = ended.timings
        keepAwaited(id, { sentAtUs, judgeCallback: exchange.judgeCallback, rowKeys, redactor })
      }
      return {
        id,
        awaitsCallback,
        sentAt: toTimestamp(ended.timings.sentAtUs),
        request: {
          method: request.method,
          url: exchange.baseUrl.replace(/\/+$/, '') + request.path,
          headers: toShownHeaders(request, connection, ended),
          body: request.body,
        },
        timings: toTimings(ended),
        answer:
          ended.kind === 'answer'
            ? { status: ended.status, headers: ended.headers ?? [], body: toShownBody(ended.body) }
            : null,
        verdict: toVerdict(exchange.judge(ended, rowKeys)),
      }
    },
    async takeCallback(id) {
      const request = awaited.get(id)
      if (request === undefined) return null
      const found = await receiver.readFirst(id)
      if (found === null) return null
      awaited.delete(id)
      await receiver.forget([id])
      const text = redactAnswer(request.redactor, found.body)
      const judgement = request.judgeCallback(text, request.rowKeys)
      return {
        receivedAt: toTimestamp(found.receivedAtUs),
        latencyMs: (found.receivedAtUs - request.sentAtUs) / 1000,
        body: toShownBody(text),
        verdict: judgement === null ? null : toVerdict(judgement),
      }
    },
  }
}

/** Sends a request over its own connection and waits for the end; does not retry. */
async function sendOnce(
  baseUrl: string,
  connection: PlanConnection,
  request: ServiceRequest,
  {
    apiKey,
    proxyCredentials,
    headerValues,
  }: Pick<SendingSecrets, 'apiKey' | 'headerValues'> & { proxyCredentials: ProxyCredentials | null },
): Promise<Exchange> {
  if (usesSystemAuthorities(baseUrl, connection)) await loadSystemAuthorities()
  const client = createServiceClients({
    baseUrl,
    connection,
    userAgent: USER_AGENT,
    keepsHeaders: true,
    readApiKey: () => apiKey ?? null,
    proxyCredentials,
    headerValues: headerValues ?? null,
  })()
  const ended = await new Promise<Exchange>((resolve) => client.send(request, resolve))
  await client.destroy()
  return ended
}

function toTimestamp(unixUs: number): string {
  return new Date(unixUs / 1000).toISOString()
}

/** Adds the field before the others, which stay exactly as typed. */
function addCallback(text: string, url: string): string {
  const at = text.indexOf('{') + 1
  const isEmpty = text.slice(at).trim() === '}'
  return `${text.slice(0, at)}"callback_url":${JSON.stringify(url)}${isEmpty ? '' : ','}${text.slice(at)}`
}

function toRows(listed: unknown): Record<string, unknown>[] {
  return Array.isArray(listed)
    ? listed.map((row) => (typeof row === 'object' && row !== null ? row : { term: row }))
    : []
}

/** What the person typed replaces what a plan would send. */
function toRequest(planned: ServiceRequest, text: string): ServiceRequest {
  return planned.body === null ? planned : { ...planned, body: text }
}

function toShownHeaders(
  { body, isAnonymous }: ServiceRequest,
  { headers = {}, userAgent = USER_AGENT }: PlanConnection,
  { traceparent }: Exchange,
): [string, string][] {
  return [
    ...(body === null ? [] : [['content-type', JSON_CONTENT_TYPE] as [string, string]]),
    ['accept', JSON_CONTENT_TYPE],
    ['accept-encoding', 'identity'],
    ['user-agent', userAgent],
    // Values from variables and files are shown as written in the plan.
    ...Object.entries(headers),
    ...(traceparent === undefined ? [] : [[TRACE_HEADER, traceparent] as [string, string]]),
    ...(isAnonymous ? [] : [[AUTHORIZATION_HEADER, toAuthorization(MASKED_KEY)] as [string, string]]),
  ]
}

function toVerdict({ outcome, errorCode, message, rules, isAcknowledgement }: Judgement): ScratchVerdict {
  return { outcome, errorCode, message, rules, isAcknowledgement }
}

function toTimings({ timings }: Exchange): ScratchExchange['timings'] {
  const toMs = (us: number | null) => (us === null ? null : us / 1000)
  return {
    durationMs: timings.durationUs / 1000,
    waitingMs: toMs(timings.waitingUs),
    connectMs: toMs(timings.connectUs),
    tlsMs: toMs(timings.tlsUs),
  }
}

function toShownBody(text: string): { text: string; cutFromBytes: number | null } {
  return text.length <= SHOWN_MAX
    ? { text, cutFromBytes: null }
    : { text: text.slice(0, SHOWN_MAX), cutFromBytes: Buffer.byteLength(text) }
}

/** The text of a single request as it reads. */
type ReadText =
  /** `callbackUrls`: every callback_url in it, even if there are several. */
  | { kind: 'object'; body: Record<string, unknown>; callbackUrls: string[] }
  | { kind: 'fault'; problem: FoundProblem }

/** Reads the text, which must be one JSON object. */
function readText(text: string): ReadText {
  const parsed = parseJsonLine(text)
  const body: unknown = parsed.kind === 'object' ? parseOrNull(text) : null
  if (parsed.kind === 'object' && isJsonObject(body)) {
    const named = parsed.members.filter(({ key }) => key === 'callback_url')
    return { kind: 'object', body, callbackUrls: named.map(({ cell }) => cell) }
  }
  const { at, expected } = parsed.kind === 'fault' ? parsed : ({ at: 0, expected: 'object' } as const)
  const lines = text.slice(0, at).split('\n')
  return {
    kind: 'fault',
    problem: {
      row: 1,
      severity: 'error',
      code: 'not_json',
      args: { expected },
      details: { line: lines.length, character: (lines.at(-1) ?? '').length + 1 },
      found: toFound(text.slice(at, at + FOUND_CHARACTERS)),
    },
  }
}

const FOUND_CHARACTERS = 20

function parseOrNull(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** Finds up to {@link SCRATCH_PROBLEMS_MAX} problems of rows in a text (docs/interface.md §2, §4, §8). */
function checkText(endpoint: ScratchEndpoint, text: string): ScratchProblem[] {
  return [...findProblems(endpoint, text), ...findDoubled(text)].slice(0, SCRATCH_PROBLEMS_MAX)
}

/** Warns of keys that occur twice in an object. The other checks only see the last value of such a key. */
function findDoubled(text: string): ScratchProblem[] {
  if (readText(text).kind === 'fault') return []
  return findDoubledKeys(text).map((key) => ({
    ...{ row: 1, severity: 'warning', code: 'doubled_json_key' },
    found: toFound(key),
    path: [],
  }))
}

function findProblems(endpoint: ScratchEndpoint, text: string): ScratchProblem[] {
  const read = readText(text)
  if (read.kind === 'fault') return [{ ...read.problem, path: [] }]
  const { body } = read
  const validate = createValidator(toOperation(endpoint, body))
  const { batch, namedBy } = OPERATIONS[endpoint.kind]
  if (batch === undefined) return validate(1, body).map((problem) => toTextProblem(problem, []))
  const problems: ScratchProblem[] = []
  const { [batch.target]: target, [batch.list]: rows } = body
  if (typeof target !== 'string' || target === '') problems.push(toMissing(batch.target, target))
  if (!Array.isArray(rows) || rows.length === 0) return [...problems, toMissing(batch.list, rows)]
  for (const [index, row] of rows.entries()) {
    if (problems.length >= SCRATCH_PROBLEMS_MAX) break
    const path = [batch.list, index]
    if (isJsonObject(row)) problems.push(...validate(1, row).map((one) => toTextProblem(one, path)))
    else problems.push({ ...toMissing(namedBy[0], row), path })
  }
  return problems
}

/** The operation of a plan that would send such a request. */
function toOperation(endpoint: ScratchEndpoint, body: Record<string, unknown>): Operation {
  const { batch } = OPERATIONS[endpoint.kind]
  const target = batch === undefined ? undefined : body[batch.target]
  const parts = batch && { [batch.target]: typeof target === 'string' && target !== '' ? target : 'none' }
  return operationSchema.parse({ ...endpoint, ...parts })
}

/** A text is checked like a row that gives its whole request, with models that may differ from row to row. */
function createValidator(operation: Operation): ValidateRow {
  return createRowValidator({
    operation,
    mapping: { request: { kind: 'column', column: 1 }, models: { kind: 'column', column: 1 } },
  })
}

function toTextProblem(problem: FoundProblem, path: (string | number)[]): ScratchProblem {
  return { ...problem, path: problem.field === undefined ? path : [...path, problem.field] }
}

function toMissing(field: string, value: unknown): ScratchProblem {
  const cause = { code: 'required', args: { lack: 'value' } } as const
  const found = value === undefined ? {} : { found: toFound(JSON.stringify(value)) }
  return { row: 1, severity: 'error', field, ...cause, ...found, path: [field] }
}
