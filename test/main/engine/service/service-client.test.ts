import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { format, inspect } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { ApiKey } from '../../../../src/main/engine/secrets/bound-secret.ts'
import type { ServiceClientOptions } from '../../../../src/main/engine/service/service-client.ts'
import { toUnixMs } from '../../../../src/shared/unix-clock.ts'
import { createCertificate } from '../../../helpers/certificates.ts'
import { createServiceClient } from '../../../helpers/create-service-client.ts'
import { startFaultServer, toTaskAnswer } from '../../../helpers/fault-server.ts'
import { createTemporaryFolder } from '../../../helpers/temporary-folder.ts'
import { bindTestKey, createTestClient, sendOver, sendTask, TEST_KEY } from './send-task.ts'

const CLIENT = {
  baseUrl: 'https://moderation.test',
  connection: { timeoutMs: 2_000 },
  userAgent: 'sluice/test',
}

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

test('the key is read for each request, so that it can be switched in between', async () => {
  const server = await startFaultServer({
    onRequest: (request, wire) => wire.send(200, toTaskAnswer(request)),
  })
  let key = 'first'
  const client = createServiceClient({
    baseUrl: server.baseUrl,
    connection: { timeoutMs: 2_000 },
    readApiKey: () => bindTestKey(server.baseUrl, key),
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

test('no client is made for a key that belongs to another scheme, host or port', () => {
  for (const other of ['https://127.0.0.1:4010', 'http://localhost:4010', 'http://127.0.0.1:4011']) {
    const prepare = () =>
      createServiceClient({
        baseUrl: 'http://127.0.0.1:4010/api',
        connection: { timeoutMs: 2_000 },
        readApiKey: () => bindTestKey(other),
        userAgent: 'sluice/test',
      })
    expect(prepare).toThrow(`the API key belongs to ${other} and is not sent to http://127.0.0.1:4010`)
  }
})

test('no request goes out once the key was switched to that of another address', async () => {
  const server = await startFaultServer({
    onRequest: (request, wire) => wire.send(200, toTaskAnswer(request)),
  })
  let apiKey = bindTestKey(server.baseUrl)
  const client = createServiceClient({
    baseUrl: server.baseUrl,
    connection: { timeoutMs: 2_000 },
    readApiKey: () => apiKey,
    userAgent: 'sluice/test',
  })
  onTestFinished(() => client.destroy())
  await sendOver(client, 'p1')
  apiKey = bindTestKey('https://moderation.test')
  for (let tries = 0; tries < 2; tries += 1) {
    await expect(sendOver(client, 'p2')).rejects.toMatchObject({ code: 'NO_API_KEY' })
  }
  expect(server.requests).toHaveLength(1)
})

test('a key never prints itself, and a string is not a key', () => {
  const apiKey = bindTestKey('https://moderation.test')
  for (const text of [
    String(apiKey),
    JSON.stringify({ apiKey }),
    inspect({ apiKey }),
    format('%o', apiKey),
  ]) {
    expect(text).not.toContain(TEST_KEY)
  }
  // @ts-expect-error A client takes keys that know their addresses, and no texts.
  const options: ServiceClientOptions = { ...CLIENT, readApiKey: () => TEST_KEY }
  expect(() => createServiceClient(options)).toThrow()
})

test('consecutive requests use one connection, which is timed once', async () => {
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

test('a client refuses a request while another is in flight, without disturbing it', async () => {
  const server = await startFaultServer({
    onRequest: (request, wire) => setImmediate(() => wire.send(200, toTaskAnswer(request))),
  })
  const client = createTestClient(server.baseUrl)
  const first = sendOver(client, 'p1')
  await expect(sendOver(client, 'p2')).rejects.toThrow('this connection has a request in flight')
  expect(await first).toMatchObject({ kind: 'answer', status: 200 })
  expect(server.requests).toHaveLength(1)
})

test.each(['http', 'https'] as const)(
  'bodies and answers of every size and script are the same at both ends of %s',
  async (scheme) => {
    const certificate = await createCertificate({ ip: '127.0.0.1' })
    const caFile = join(createTemporaryFolder(), 'ca.pem')
    writeFileSync(caFile, certificate.cert)
    const server = await startFaultServer({
      ...(scheme === 'https' ? { tls: certificate } : {}),
      onRequest: (request, wire) => wire.send(200, request.body),
    })
    const client = createTestClient(server.baseUrl, 20_000, scheme === 'https' ? { tls: { caFile } } : {})
    for (const text of [
      '',
      'plain',
      'größer 😀 "quoted"\r\n',
      'x'.repeat(3_000_000),
      'ж😀'.repeat(500_000),
    ]) {
      const exchange = await sendOver(client, 'p1', text)
      const body = JSON.stringify({ text_data: text, user_id: 'user', post_id: 'p1' })
      // Compared in full, but not printed.
      expect(exchange.kind === 'answer' && exchange.body === body).toBe(true)
    }
    expect(server.connections).toBe(1)
  },
)

test('the time to write a request to a slow reader does not count as waiting', async () => {
  const slowMs = 200
  const size = 32 * 1024 * 1024
  const server = await startFaultServer({
    onConnection: (socket) => {
      let leftBytes = size
      // Slow once the request is on its way, however late that is after the connection.
      socket.once('data', () => {
        socket.pause()
        setTimeout(() => socket.resume(), slowMs)
      })
      socket.on('data', (chunk: Buffer) => {
        leftBytes -= chunk.length
        if (leftBytes <= 0) socket.write('HTTP/1.1 204 No Content\r\n\r\n')
      })
      return true
    },
  })
  const client = createTestClient(server.baseUrl, 20_000)
  const { timings } = await sendOver(client, 'p1', 'x'.repeat(size))
  expect(timings.durationUs).toBeGreaterThan(slowMs * 900)
  expect(timings.durationUs - (timings.waitingUs ?? 0)).toBeGreaterThan(slowMs * 900)
})

test('an answer is measured from its first byte sent to its last byte received', async () => {
  const server = await startFaultServer({
    onRequest: (request, wire) => wire.send(200, toTaskAnswer(request)),
  })
  const beforeUs = Math.floor(toUnixMs() * 1000)
  const { timings } = (await sendTask(server.baseUrl)).exchange
  const afterUs = Math.ceil(toUnixMs() * 1000)
  expect(timings.sentAtUs).toBeGreaterThanOrEqual(beforeUs)
  expect(timings.sentAtUs + timings.durationUs).toBeLessThanOrEqual(afterUs + 1)
  expect(timings.waitingUs).toBeGreaterThan(0)
  expect(timings.waitingUs).toBeLessThanOrEqual(timings.durationUs)
})

test.each([
  ['a key', 'no header\ncan carry this', '/', 'the header authorization'],
  ['a key that is no Latin-1', 'ключ', '/', 'the header authorization'],
  ['a path', 'key', '/a b', 'the path'],
  ['a path with a line break', 'key', '/\r\nx: y', 'the path'],
])(
  '%s that HTTP cannot carry ends its request once, after `send` has returned',
  async (_, key, path, what) => {
    const server = await startFaultServer()
    const client = createServiceClient({
      baseUrl: server.baseUrl,
      connection: { timeoutMs: 2_000 },
      // A key cannot have such a text; this one has been tampered with.
      readApiKey: () =>
        ApiKey.unseal({ kind: 'api-key', value: key, origins: [server.baseUrl], source: 'of the test' }),
      userAgent: 'sluice/test',
    })
    onTestFinished(() => client.destroy())
    for (let tries = 0; tries < 2; tries += 1) {
      const events: unknown[] = []
      const ended = new Promise<void>((resolve) => {
        client.send({ method: 'POST', path, body: '{}', isAnonymous: false }, (exchange) => {
          events.push(exchange)
          resolve()
        })
        events.push('returned')
      })
      await ended
      const message = `${what} holds a character that an HTTP request cannot carry`
      expect(events).toMatchObject([
        'returned',
        { kind: 'breakdown', sent: false, code: 'UNSENDABLE', message },
      ])
    }
    expect(server.connections).toBe(0)
  },
)
