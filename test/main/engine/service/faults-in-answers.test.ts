import { expect, test } from 'vitest'
import {
  startFaultServer,
  toErrorAnswer,
  toTaskAnswer,
  type Wire,
  type WireRequest,
} from '../../../helpers/fault-server.ts'
import { sendTask, TEST_KEY } from './send-task.ts'

/** The service, or something in front of it, answered; the task may have been accepted. */
const UNKNOWN = { outcome: 'unknown', repeat: 'ambiguous', reached: true, taskId: null } as const

const HTML = '<!DOCTYPE html><html><title>Sign in</title></html>'

const onRequest = (act: (request: WireRequest, wire: Wire) => void) => startFaultServer({ onRequest: act })

test.each([
  ['JSON that breaks off', '{"task_id": "t', /not valid JSON \(application\/json\)/],
  ['text', 'OK', /not valid JSON/],
  ['JSON of another interface', '{"hello": "world"}', /JSON that is not of the interface/],
  ['a task_id of another type', '{"task_id": {}}', /JSON that is not of the interface/],
  [
    'JSON that is nested too deeply',
    `{"task_id":"t","errors":${'['.repeat(100_000)}${']'.repeat(100_000)},"triggered_rules":[]}`,
    /JSON of more than 1,000 levels/,
  ],
  ['a JSON list', '[]', /JSON that is not of the interface/],
  ['the JSON null', 'null', /JSON that is not of the interface/],
  ['a web page', HTML, /a web page instead of JSON, as a proxy or a wrong base URL does/],
  ['nothing', '', /answered 200 with an empty body/],
  ['white space', ' \r\n', /answered 200 with an empty body/],
])('a 200 with %s leaves the task unknown', async (_, body, message) => {
  const server = await onRequest((__, wire) => wire.send(200, body))
  const { judgement } = await sendTask(server.baseUrl)
  expect(judgement).toMatchObject({ ...UNKNOWN, status: 200, errorCode: null })
  expect(judgement.message).toMatch(message)
})

test.each([
  ['objects', `[${'{},'.repeat(1_200_000)}{}]`],
  ['nested lists', '['.repeat(1_200_000)],
])(
  'a 200 with more %s than fit into memory leaves the task unknown, and names the limit',
  async (_, body) => {
    const server = await onRequest((__, wire) => wire.send(200, body))
    const { judgement } = await sendTask(server.baseUrl, { timeoutMs: 20_000 })
    expect(judgement).toMatchObject({
      ...UNKNOWN,
      status: 200,
      message: 'answered 200 with JSON of more than 1,000,000 objects and lists',
    })
  },
)

test('a 204 leaves the task unknown', async () => {
  const server = await onRequest((_, wire) => wire.raw('HTTP/1.1 204 No Content\r\n\r\n'))
  const { judgement } = await sendTask(server.baseUrl)
  expect(judgement).toMatchObject({
    ...UNKNOWN,
    status: 204,
    message: 'answered 204 with an empty body',
  })
})

test('a web page with 502 leaves the task unknown, and is reported as a page', async () => {
  const server = await onRequest((_, wire) => wire.send(502, HTML, { 'content-type': 'text/html' }))
  const { judgement } = await sendTask(server.baseUrl)
  expect(judgement).toMatchObject({ ...UNKNOWN, status: 502, errorCode: null })
  expect(judgement.message).toContain('answered 502 with a web page instead of JSON')
})

test.each([500, 502, 503, 504, 599])(
  "a %i leaves the task unknown, with the service's message",
  async (status) => {
    const server = await onRequest((_, wire) =>
      wire.send(status, toErrorAnswer(status, 'BROKEN', 'out of order')),
    )
    const { judgement } = await sendTask(server.baseUrl)
    expect(judgement).toMatchObject({ ...UNKNOWN, status, errorCode: 'BROKEN', message: 'out of order' })
  },
)

test.each([
  [400, 'PARAM_REQUIRED'],
  [401, 'NO_KEY'],
  [403, 'INVALID_API_KEY'],
  [404, 'NO_SUCH_PATH'],
  [409, 'CONFLICT'],
  [413, 'TOO_LARGE'],
])('a %i is a refusal that is never repeated', async (status, errorCode) => {
  const server = await onRequest((_, wire) => wire.send(status, toErrorAnswer(status, errorCode, 'no')))
  const { judgement } = await sendTask(server.baseUrl)
  expect(judgement).toMatchObject({
    outcome: 'rejected',
    repeat: 'never',
    reached: true,
    status,
    errorCode,
    message: 'no',
  })
})

test('a 408 means that the request did not arrive in full, so it was certainly not accepted', async () => {
  const server = await onRequest((_, wire) => wire.send(408, ''))
  const { judgement } = await sendTask(server.baseUrl)
  expect(judgement).toMatchObject({ outcome: 'rejected', repeat: 'safe', reached: true, status: 408 })
})

test('an error inside a 200 is a refusal', async () => {
  const server = await onRequest((_, wire) => wire.send(200, toErrorAnswer(400, 'INVALID_PARAM', 'no')))
  const { judgement } = await sendTask(server.baseUrl)
  expect(judgement).toMatchObject({ outcome: 'rejected', status: 200, errorCode: 'INVALID_PARAM' })
})

test('a legacy status code other than 0 inside a 200 is a refusal that keeps its task_id', async () => {
  const status = [{ status: { code: '7', message: 'model failed' }, response: {} }]
  const server = await onRequest((_, wire) => wire.send(200, { id: 't1', code: 200, status }))
  const { judgement } = await sendTask(server.baseUrl)
  expect(judgement).toMatchObject({
    outcome: 'rejected',
    repeat: 'never',
    taskId: 't1',
    errorCode: '7',
    message: 'model failed',
  })
})

test('an existing post_id counts as delivered only if the connection lists the code', async () => {
  const server = await onRequest((_, wire) =>
    wire.send(400, toErrorAnswer(400, 'DUPLICATE_POST_ID', 'there is such a post')),
  )
  const listed = await sendTask(server.baseUrl, { deliveredCodes: ['OTHER', 'DUPLICATE_POST_ID'] })
  expect(listed.judgement).toMatchObject({ outcome: 'succeeded', status: 400, repeat: 'never' })
  expect(listed.judgement.message).toContain('the result of that delivery is lost')
  const unlisted = await sendTask(server.baseUrl)
  expect(unlisted.judgement).toMatchObject({ outcome: 'rejected', message: 'there is such a post' })
})

test.each([301, 302, 303, 307, 308])(
  'a %i is not followed, so that the key reaches no other host',
  async (status) => {
    const other = await onRequest((request, wire) => wire.send(200, toTaskAnswer(request)))
    const server = await onRequest((_, wire) =>
      wire.send(status, '', { location: `${other.baseUrl}/api/v1/task/sync` }),
    )
    const { judgement } = await sendTask(server.baseUrl)
    expect(judgement).toMatchObject({ outcome: 'rejected', repeat: 'never', status, taskId: null })
    expect(judgement.message).toContain(`a redirect to ${other.baseUrl}, which is not followed`)
    expect(server.requests[0]?.headers['authorization']).toBe(`token ${TEST_KEY}`)
    expect(other.connections).toBe(0)
  },
)

test.each([
  ['without a target', {}],
  ['to what is no URL', { location: 'http://[' }],
])('a redirect %s is a refusal too', async (_, headers) => {
  const server = await onRequest((__, wire) => wire.send(302, '', headers))
  const { judgement } = await sendTask(server.baseUrl)
  expect(judgement).toMatchObject({ outcome: 'rejected', status: 302 })
  expect(judgement.message).toContain('a redirect elsewhere')
})

test('informational answers before the final one are skipped', async () => {
  const server = await onRequest((request, wire) => {
    wire.raw('HTTP/1.1 102 Processing\r\n\r\n')
    wire.raw('HTTP/1.1 103 Early Hints\r\nlink: </a.css>\r\nretry-after: 60\r\n\r\n')
    wire.send(200, toTaskAnswer(request))
  })
  const { exchange, judgement } = await sendTask(server.baseUrl)
  expect(judgement).toMatchObject({ outcome: 'succeeded', status: 200, retryAfterMs: null })
  expect(exchange).toMatchObject({ kind: 'answer', retryAfter: null })
})

test.each([
  ['seconds', '3', 3_000],
  ['a fraction of a second', '0.25', 250],
  ['a date', 'Wed, 21 Oct 2026 07:28:10 GMT', 10_000],
  ['a date that has passed', 'Wed, 21 Oct 2015 07:28:00 GMT', null],
  ['an absurd number of seconds', '1000000000000', 1e15],
  ['an exponent', '1e12', null],
  ['a negative number', '-5', null],
  ['words', 'in a while', null],
  ['nothing', '', null],
])(
  'a 429 with a Retry-After of %s is certainly not accepted, and says when to come back',
  async (_, header, ms) => {
    const server = await onRequest((__, wire) =>
      wire.send(429, toErrorAnswer(429, 'RATE_LIMITED', 'slow down'), { 'retry-after': header }),
    )
    const { judgement } = await sendTask(server.baseUrl, { nowMs: Date.UTC(2026, 9, 21, 7, 28, 0) })
    expect(judgement).toMatchObject({
      outcome: 'rejected',
      repeat: 'safe',
      status: 429,
      errorCode: 'RATE_LIMITED',
      retryAfterMs: ms,
    })
  },
)

test('a 503 with Retry-After says when to come back', async () => {
  const server = await onRequest((_, wire) => wire.send(503, '', { 'retry-after': '2' }))
  const { judgement } = await sendTask(server.baseUrl)
  expect(judgement).toMatchObject({ ...UNKNOWN, status: 503, retryAfterMs: 2_000 })
})

test('a long message from the service is cut', async () => {
  const server = await onRequest((_, wire) => wire.send(400, toErrorAnswer(400, 'X', 'm'.repeat(9_000))))
  const { judgement } = await sendTask(server.baseUrl)
  expect(judgement.message).toHaveLength(500)
  expect(judgement.message).toMatch(/m…$/)
})
