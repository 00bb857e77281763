import fc from 'fast-check'
import { parseCallbackPath, toCallbackPath } from '../../src/main/engine/receiver/addresses.ts'
import { AnswerReader } from '../../src/main/engine/service/answer-reader.ts'
import { type Answer, AnswerError } from '../../src/main/engine/service/exchange.ts'
import { createOperationExchange } from '../../src/main/engine/service/operation-exchange.ts'
import { bridgeContract } from '../../src/shared/bridge/contract.ts'
import { type PlanInput, planSchema } from '../../src/shared/plan/plan.ts'
import { awkwardText, createTarget, expectSame, expectTrue, type FuzzTarget } from './fuzz-target.ts'

const OPERATIONS: PlanInput['operation'][] = [
  { kind: 'task' },
  { kind: 'task', legacy: true },
  { kind: 'task', mode: 'async' },
  { kind: 'task', api: 'v2' },
  { kind: 'task', api: 'v2', mode: 'async' },
  { kind: 'index-add', indexId: 'i' },
  { kind: 'index-add', indexId: 'i', mode: 'async' },
  { kind: 'index-remove', indexId: 'i' },
  { kind: 'index-remove', indexId: 'i', mode: 'async' },
  { kind: 'watchlist-add', watchlist: 'w' },
  { kind: 'watchlist-update', watchlist: 'w' },
  { kind: 'appeal-status' },
]

const EXCHANGES = OPERATIONS.map((operation) => {
  const plan = planSchema.parse({
    connection: { baseUrl: 'https://service.test' },
    source: { path: '/source.csv' },
    operation,
  })
  return createOperationExchange(plan, { deliveredCodes: [], nowMs: () => 0 })
})

const TIMINGS = { sentAtUs: 1, durationUs: 1, waitingUs: null, connectUs: null, tlsUs: null }
const OUTCOMES = new Set(['succeeded', 'rejected', 'failed', 'unknown'])

/** Fields of answers with values of any type. */
const FIELDS = [
  ...[
    'task_id',
    'post_id',
    'user_id',
    'id',
    'content_id',
    'code',
    'status',
    'error',
    'error_code',
    'message',
  ],
  ...[
    'triggered_rules',
    'rule_id',
    'rule_name',
    'display_name',
    'response',
    'output',
    'classes',
    'class',
    'score',
  ],
  ...['from_cache', 'custom_index_item_id', 'watchlist', 'added_terms', 'pre_existing_terms', 'failed_terms'],
  ...['updated_terms', 'non_existent_terms', 'term', 'notes', 'appeal', 'appeal_id', 'appeal_status'],
  ...[
    'appeal_judgment',
    'original_decision',
    'action_id',
    'action_reasons',
    'overturned',
    '__proto__',
    'models',
  ],
]

const { answer: answerJson } = fc.letrec<{ answer: unknown; value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.oneof(
      fc.constantFrom(
        null,
        true,
        false,
        0,
        1,
        -1,
        200,
        1e21,
        '',
        'SUCCESS',
        '0',
        'In Review',
        'Reviewed',
        'w',
      ),
      awkwardText,
    ),
    fc.array(tie('value'), { maxLength: 3 }),
    tie('answer'),
  ),
  answer: fc.dictionary(fc.constantFrom(...FIELDS), tie('value'), { maxKeys: 6 }),
}))

const bodyText = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.oneof(answerJson, fc.jsonValue({ maxDepth: 3 })).map((value) => JSON.stringify(value)),
  },
  { weight: 1, arbitrary: awkwardText },
)

interface Read {
  status: number | null
  body: string
  code: string | null
  isWhole: boolean
}

/** Reads bytes in chunks of these sizes and overwrites each chunk after reading it, as a socket does. */
function readAnswer(bytes: Buffer, sizes: readonly number[]): Read {
  const reader = new AnswerReader()
  const shared = Buffer.alloc(Math.max(1, bytes.length))
  try {
    let isWhole = false
    for (let at = 0, turn = 0; at < bytes.length && !isWhole; turn += 1) {
      const size = Math.min(sizes[turn % sizes.length] ?? 1, bytes.length - at)
      bytes.copy(shared, 0, at, at + size)
      isWhole = reader.read(shared, size)
      shared.fill('!')
      at += size
    }
    isWhole ||= reader.close()
    return {
      status: reader.head?.status ?? null,
      body: isWhole ? reader.decoded.body : '',
      code: null,
      isWhole,
    }
  } catch (error) {
    if (!(error instanceof AnswerError)) throw error
    return { status: null, body: '', code: error.code, isWhole: false }
  }
}

const sizes = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 4 })

const wholeAnswer = fc.record({
  status: fc.constantFrom(200, 400, 404, 429, 500, 503),
  body: fc.oneof(awkwardText, bodyText).map((text) => text.toWellFormed()),
  chunks: fc.array(fc.integer({ min: 1, max: 9 }), { maxLength: 4 }),
  interim: fc.boolean(),
  sizes,
})

function writeAnswer({
  status,
  body,
  chunks,
  interim,
}: {
  status: number
  body: string
  chunks: number[]
  interim: boolean
}): Buffer {
  const bytes = Buffer.from(body)
  const first = `${interim ? 'HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n' : ''}HTTP/1.1 ${status} X\r\n`
  if (chunks.length === 0) {
    return Buffer.concat([Buffer.from(`${first}content-length: ${bytes.length}\r\n\r\n`), bytes])
  }
  const parts = [Buffer.from(`${first}transfer-encoding: chunked\r\n\r\n`)]
  for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
    const piece = bytes.subarray(at, at + (chunks[turn % chunks.length] ?? 1))
    parts.push(Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n'))
    at += piece.length
  }
  return Buffer.concat([...parts, Buffer.from('0\r\n\r\n')])
}

const brokenBytes = fc.oneof(
  fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes)),
  fc
    .array(
      fc.constantFrom(
        ...[
          'HTTP/1.1 200 OK',
          'HTTP/1.0 204',
          '\r\n',
          '\r\n\r\n',
          'content-length: ',
          'transfer-encoding: chunked',
        ],
        ...[
          '0',
          '5',
          'ff',
          'abc',
          ':',
          ' ',
          ';x=',
          'connection: close',
          '-1',
          '\n',
          '\u0000',
          'HTTP/1.1 100 C',
        ],
      ),
      { maxLength: 14 },
    )
    .map((parts) => Buffer.from(parts.join(''))),
  fc.tuple(wholeAnswer, fc.nat(), fc.integer({ min: 0, max: 255 })).map(([answer, at, byte]) => {
    const bytes = writeAnswer(answer)
    bytes[at % bytes.length] = byte
    return bytes
  }),
)

/** Anything that a service may send. */
const ANSWERS = [
  createTarget('answers: whole ones are read as they were sent', 8, wholeAnswer, (answer) => {
    const read = readAnswer(writeAnswer(answer), answer.sizes)
    // The reader drops a byte-order mark, which JSON must not have.
    expectSame(read.status, answer.status, 'status')
    expectTrue(read.isWhole, 'is not whole')
    expectSame(read.body.replace(/^\uFEFF/, ''), answer.body.replace(/^\uFEFF/, ''), 'body')
  }),
  createTarget(
    'answers: broken ones read alike in any pieces',
    8,
    fc.tuple(brokenBytes, sizes),
    ([bytes, pieces]) => {
      const whole = readAnswer(bytes, [Math.max(1, bytes.length)])
      const read = readAnswer(bytes, pieces)
      expectSame(
        [read.status, read.body, read.isWhole],
        [whole.status, whole.body, whole.isWhole],
        'in pieces',
      )
    },
  ),
  createTarget(
    'answers: every operation judges every body',
    12,
    fc.record({
      operation: fc.nat(EXCHANGES.length - 1),
      status: fc.constantFrom(200, 201, 204, 301, 400, 401, 403, 404, 408, 413, 429, 500, 502, 503),
      body: bodyText,
      retryAfter: fc.oneof(
        fc.constant(null),
        awkwardText,
        fc.constantFrom('1', '-1', '1e9', 'Wed, 21 Oct 2065'),
      ),
      rows: fc.array(awkwardText, { maxLength: 3 }),
      earlierTries: fc.array(fc.nat(2), { maxLength: 3 }),
    }),
    ({ operation, status, body, retryAfter, rows, earlierTries }) => {
      const exchange = EXCHANGES[operation]
      if (exchange === undefined) throw new Error('no such operation')
      const answer: Answer = {
        kind: 'answer',
        status,
        contentType: 'application/json',
        retryAfter,
        location: null,
        body,
        timings: TIMINGS,
      }
      const keys = exchange.toRowKeys(rows.map((term) => ({ term })))
      const judgement = exchange.judge(answer, keys, earlierTries)
      expectTrue(OUTCOMES.has(judgement.outcome), `outcome ${judgement.outcome}`)
      if (status >= 400 && status < 500) {
        expectTrue(judgement.outcome !== 'unknown', `a ${status} that is unknown`)
      }
      const wait = judgement.retryAfterMs
      expectTrue(wait === null || (Number.isFinite(wait) && wait >= 0), `waits ${wait}`)
      expectTrue(judgement.message === null || judgement.message.length < 2_000, 'an endless message')
      JSON.stringify(judgement)
    },
  ),
]

const secret = 'ab'.repeat(32)

const CALLBACKS = [
  createTarget(
    'callbacks: every operation judges every body',
    10,
    fc.tuple(fc.nat(EXCHANGES.length - 1), bodyText),
    ([operation, body]) => {
      const judgement = EXCHANGES[operation]?.judgeCallback(body) ?? null
      if (judgement !== null) expectTrue(OUTCOMES.has(judgement.outcome), `outcome ${judgement.outcome}`)
    },
  ),
  createTarget(
    'callbacks: an address leads to its own item alone',
    4,
    fc.record({
      runToken: fc.stringMatching(/^[\w-]{1,20}$/),
      item: fc.integer({ min: 1, max: 1e15 - 1 }),
      at: fc.nat(),
      put: awkwardText,
    }),
    ({ runToken, item, at, put }) => {
      const path = toCallbackPath(secret, { runToken, item })
      expectSame(parseCallbackPath(secret, `/base${path}?x=1`), { runToken, item }, 'the address')
      const cut = '/callback/'.length + (at % (path.length - '/callback/'.length))
      const forged = path.slice(0, cut) + put + path.slice(cut + 1)
      if (forged !== path) {
        const read = parseCallbackPath(secret, forged)
        // A query or a prefix is not part of the address.
        if (read !== null) expectTrue(forged.split('?')[0]?.endsWith(path) === true, `forged ${forged}`)
      }
    },
  ),
]

interface Schema {
  safeParse(value: unknown): { success: boolean; data?: unknown }
}

/** Every schema of the contract, by the name of its procedure. */
function listSchemas(node: unknown, path: string): { name: string; schema: Schema }[] {
  if (typeof node !== 'object' || node === null) return []
  const definition = Reflect.get(node, '~orpc')
  if (typeof definition !== 'object' || definition === null) {
    return Object.entries(node).flatMap(([key, child]) =>
      listSchemas(child, path === '' ? key : `${path}.${key}`),
    )
  }
  return ['inputSchema', 'outputSchema'].flatMap((kind) => {
    const schema: unknown = Reflect.get(definition, kind)
    const isSchema = typeof schema === 'object' && schema !== null && 'safeParse' in schema
    return isSchema ? [{ name: `${path} ${kind}`, schema: schema as Schema }] : []
  })
}

const SCHEMAS = listSchemas(bridgeContract, '')

const BRIDGE_KEYS = [
  ...[
    'runId',
    'id',
    'plan',
    'connection',
    'baseUrl',
    'source',
    'path',
    'header',
    'sheet',
    'operation',
    'kind',
  ],
  ...['mapping', 'pace', 'maxInFlight', 'apiKey', 'apiKeyEnv', 'name', 'filter', 'search', 'after', 'limit'],
  ...[
    'rowIds',
    'row',
    'file',
    'format',
    'lossless',
    'thresholds',
    'load',
    'columns',
    '__proto__',
    'key',
    'states',
  ],
]

const { message } = fc.letrec<{ message: unknown; value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.oneof(
      awkwardText,
      fc.double(),
      fc.integer(),
      fc.boolean(),
      fc.constantFrom(null, undefined, 'task', 'csv'),
    ),
    fc.array(tie('value'), { maxLength: 3 }),
    tie('message'),
  ),
  message: fc.dictionary(fc.constantFrom(...BRIDGE_KEYS), tie('value'), { maxKeys: 8 }),
}))

const BRIDGE = createTarget(
  'bridge: every message is taken whole or refused',
  8,
  fc.tuple(fc.nat(SCHEMAS.length - 1), fc.oneof(message, fc.anything({ maxDepth: 3 }))),
  ([index, value]) => {
    const { schema, name } = SCHEMAS[index] ?? {}
    if (schema === undefined) throw new Error('no such schema')
    const parsed = schema.safeParse(value)
    if (!parsed.success || name === undefined || name.endsWith('outputSchema')) return
    const again = schema.safeParse(parsed.data)
    expectTrue(again.success, `${name} refuses what it has taken`)
    expectSame(again.data, parsed.data, name)
    expectTrue(Object.getPrototypeOf({}) === Object.prototype && !('runId' in {}), 'a prototype was changed')
  },
)

/** Targets for data from the wire and from the bridge. */
export const EXCHANGE_TARGETS: readonly FuzzTarget[] = [...ANSWERS, ...CALLBACKS, BRIDGE]
