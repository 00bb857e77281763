import { expect, onTestFinished, test } from 'vitest'
import { createServiceClient } from '../../../../src/main/engine/service/service-client.ts'
import { startFaultServer, toTaskAnswer } from '../../../helpers/fault-server.ts'
import { createTestClient, sendOver, sendTask, TEST_KEY } from './send-task.ts'

test('a task goes out as JSON, with the key in its header and nowhere else', async () => {
  const server = await startFaultServer({
    onRequest: (request, wire) => wire.send(200, toTaskAnswer(request)),
  })
  await sendTask(server.baseUrl)
  const [request] = server.requests
  expect(request).toMatchObject({
    method: 'POST',
    path: '/api/v1/task/sync',
    headers: {
      host: `127.0.0.1:${server.port}`,
      authorization: `token ${TEST_KEY}`,
      'content-type': 'application/json',
      accept: 'application/json',
      'user-agent': 'sluice/test',
    },
    body: '{"text_data":"a text","user_id":"user","post_id":"post-1"}',
  })
})

test('the path of the base URL comes before the path of the request', async () => {
  const server = await startFaultServer({
    onRequest: (request, wire) => wire.send(200, toTaskAnswer(request)),
  })
  await sendTask(`${server.baseUrl}/gateway/moderation/`)
  expect(server.requests[0]?.path).toBe('/gateway/moderation/api/v1/task/sync')
})

test('an anonymous request carries no key', async () => {
  const server = await startFaultServer({ onRequest: (_, wire) => wire.send(200, {}) })
  const client = createTestClient(server.baseUrl)
  await new Promise((resolve) =>
    client.send({ method: 'GET', path: '/open', body: null, isAnonymous: true }, resolve),
  )
  expect(server.requests[0]).toMatchObject({ method: 'GET', path: '/open' })
  expect(server.requests[0]?.headers).not.toHaveProperty('authorization')
})

test('the key is asked for at each request, so that it can be switched in between', async () => {
  const server = await startFaultServer({
    onRequest: (request, wire) => wire.send(200, toTaskAnswer(request)),
  })
  let key = 'first'
  const client = createServiceClient({
    baseUrl: server.baseUrl,
    connection: { timeoutMs: 2_000 },
    readApiKey: () => key,
    userAgent: 'sluice/test',
  })
  onTestFinished(() => client.destroy())
  await sendOver(client, 'p1')
  await sendOver(client, 'p2')
  key = 'second'
  await sendOver(client, 'p3')
  expect(server.requests.map(({ headers }) => headers['authorization'])).toEqual([
    'token first',
    'token first',
    'token second',
  ])
  expect(server.connections).toBe(1)
})

test('requests follow each other over one connection, which is timed once', async () => {
  const server = await startFaultServer({
    onRequest: (request, wire) => wire.send(200, toTaskAnswer(request)),
  })
  const client = createTestClient(server.baseUrl)
  const first = await sendOver(client, 'p1')
  const second = await sendOver(client, 'p2')
  expect(server.connections).toBe(1)
  expect(first.timings.connectUs).not.toBeNull()
  expect(second.timings).toMatchObject({ connectUs: null, tlsUs: null })
})

test('one client has one request on the wire at a time', async () => {
  const server = await startFaultServer({
    onRequest: (request, wire) => setImmediate(() => wire.send(200, toTaskAnswer(request))),
  })
  const client = createTestClient(server.baseUrl)
  await Promise.all(Array.from({ length: 10 }, (_, i) => sendOver(client, `p${i}`)))
  expect(server.requests.map(({ body }) => (JSON.parse(body) as { post_id: string }).post_id)).toEqual(
    Array.from({ length: 10 }, (_, i) => `p${i}`),
  )
  expect(server.maxOpen).toBe(1)
})

test('an answer is measured from its first byte sent to its last byte received', async () => {
  const server = await startFaultServer({
    onRequest: (request, wire) => wire.send(200, toTaskAnswer(request)),
  })
  const beforeUs = Math.floor((performance.timeOrigin + performance.now()) * 1000)
  const { timings } = (await sendTask(server.baseUrl)).exchange
  const afterUs = Math.ceil((performance.timeOrigin + performance.now()) * 1000)
  expect(timings.sentAtUs).toBeGreaterThanOrEqual(beforeUs)
  expect(timings.sentAtUs + timings.durationUs).toBeLessThanOrEqual(afterUs + 1)
  expect(timings.waitingUs).toBeGreaterThan(0)
  expect(timings.waitingUs).toBeLessThanOrEqual(timings.durationUs)
})

test('what cannot be sent at all ends once, after `send` has returned', async () => {
  const server = await startFaultServer()
  const client = createServiceClient({
    baseUrl: server.baseUrl,
    connection: { timeoutMs: 2_000 },
    readApiKey: () => 'no header\ncan carry this',
    userAgent: 'sluice/test',
  })
  onTestFinished(() => client.destroy())
  const events: string[] = []
  const ended = new Promise<void>((resolve) => {
    client.send({ method: 'POST', path: '/', body: '{}', isAnonymous: false }, (exchange) => {
      events.push(`${exchange.kind}, sent: ${exchange.kind === 'breakdown' && exchange.sent}`)
      resolve()
    })
    events.push('returned')
  })
  await ended
  expect(events).toEqual(['returned', 'breakdown, sent: false'])
  expect(server.requests).toEqual([])
})
