import { writeFileSync } from 'node:fs'
import { createSecureServer, type ServerHttp2Session } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createServer } from 'node:tls'
import { gzipSync } from 'node:zlib'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { readSecureContext } from '../../../../src/main/engine/secrets/tls-files.ts'
import { ReceivedBytes } from '../../../../src/main/engine/service/answer-body.ts'
import { toBreakdownMessage } from '../../../../src/main/engine/service/breakdown-message.ts'
import type { Exchange } from '../../../../src/main/engine/service/exchange.ts'
import { Http2Client } from '../../../../src/main/engine/service/http2-client.ts'
import {
  type Http2Connection,
  Http2Connections,
  type StreamSeeker,
} from '../../../../src/main/engine/service/http2-connections.ts'
import {
  createServiceClients,
  type ServiceClientOptions,
} from '../../../../src/main/engine/service/service-client.ts'
import { createTimedConnector } from '../../../../src/main/engine/service/timed-connector.ts'
import { createCertificate } from '../../../helpers/certificates.ts'
import { END_STREAM, H2_CODES, type RawHttp2Wire, startRawHttp2Server } from '../../../helpers/raw-http2.ts'
import { openTestFolder } from '../../../helpers/test-folder.ts'
import { bindTestKey, sendOver } from './send-task.ts'

const folder = openTestFolder()
let tls: { key: string; cert: string }
let caFile: string

beforeAll(async () => {
  tls = await createCertificate({ ip: '127.0.0.1' })
  caFile = join(folder, 'ca.pem')
  writeFileSync(caFile, tls.cert)
})

/**
 * Sends `count` tasks over lanes that share their connections, as a run does; each lane sends one at a time.
 */
function createSender(baseUrl: string, options: Partial<ServiceClientOptions> = {}) {
  const apiKey = bindTestKey(baseUrl)
  const createClient = createServiceClients({
    baseUrl,
    connection: { timeoutMs: 5_000, tls: { caFile } },
    readApiKey: () => apiKey,
    userAgent: 'sluice/test',
    httpVersion: '2',
    ...options,
  })
  return async (count: number, lanes: number): Promise<Exchange[]> => {
    const exchanges: Exchange[] = []
    let started = 0
    const runLane = async (): Promise<void> => {
      const client = createClient()
      onTestFinished(() => client.destroy())
      while (started < count) {
        started += 1
        exchanges.push(await sendOver(client, `post-${started}`))
      }
    }
    await Promise.all(Array.from({ length: lanes }, runLane))
    return exchanges
  }
}

function answerWhole(wire: RawHttp2Wire, stream: number): void {
  wire.headers(stream, 200, { fields: { 'content-type': 'application/json' } })
  wire.data(stream, `{"stream":${stream}}`, END_STREAM)
}

function countKinds(exchanges: readonly Exchange[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const one of exchanges) {
    const kind = one.kind === 'answer' ? 'answer' : `${one.sent ? 'unknown' : 'failed'} ${one.code}`
    counts[kind] = (counts[kind] ?? 0) + 1
  }
  return counts
}

test('requests in flight share one connection if the service allows enough streams', async () => {
  const server = await startRawHttp2Server({ tls, onRequest: answerWhole })
  const exchanges = await createSender(server.baseUrl)(500, 64)
  expect(countKinds(exchanges)).toEqual({ answer: 500 })
  expect(server.connections).toBe(1)
  expect(exchanges.filter(({ timings }) => timings.tlsUs !== null)).toHaveLength(1)
})

test('the number of connections follows the service’s limit of streams, and no stream is refused', async () => {
  const open = new Map<number, number>()
  let most = 0
  const server = await startRawHttp2Server({
    tls,
    maxConcurrentStreams: 4,
    onRequest(wire, stream) {
      const count = (open.get(wire.connection) ?? 0) + 1
      open.set(wire.connection, count)
      most = Math.max(most, count)
      setImmediate(() => {
        open.set(wire.connection, (open.get(wire.connection) ?? 0) - 1)
        answerWhole(wire, stream)
      })
    },
  })
  expect(countKinds(await createSender(server.baseUrl)(400, 16))).toEqual({ answer: 400 })
  expect(server.connections).toBeLessThanOrEqual(4)
  expect(most).toBeLessThanOrEqual(4)
})

test.each([
  ['one connection to a service without a limit', 300, {}, 1],
  ['three to a service of a hundred streams each', 300, { maxConcurrentStreams: 100 }, 3],
  ['two to one of 128', 250, { maxConcurrentStreams: 128 }, 2],
])('requests share %s, however many there are', async (_what, lanes, settings, needed) => {
  let sessions = 0
  const server = createSecureServer({ ...tls, settings })
  server.on('session', () => {
    sessions += 1
  })
  server.on('stream', (stream) => {
    // Answers come in separate turns, so that all lanes have a request in flight.
    setImmediate(() => {
      stream.respond({ ':status': 200, 'content-type': 'application/json' })
      stream.end('{}')
    })
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  const exchanges = await createSender(`https://127.0.0.1:${port}`)(3_000, lanes)
  expect(countKinds(exchanges)).toEqual({ answer: 3_000 })
  expect(sessions).toBe(needed)
})

test('a limit on connections is kept, and requests wait for a stream', async () => {
  const server = await startRawHttp2Server({ tls, maxConcurrentStreams: 2, onRequest: answerWhole })
  const send = createSender(server.baseUrl, { http2Connections: 2 })
  expect(countKinds(await send(100, 20))).toEqual({ answer: 100 })
  expect(server.connections).toBeLessThanOrEqual(2)
})

test('a gateway that accepts only one connection gets every request on that one', async () => {
  const server = await startRawHttp2Server({
    tls,
    maxConcurrentStreams: 4,
    onConnection: (wire) => {
      if (wire.connection > 0) wire.destroy()
    },
    onRequest: answerWhole,
  })
  expect(countKinds(await createSender(server.baseUrl)(200, 16))).toEqual({ answer: 200 })
})

test('a service that sends GOAWAY loses nothing: requests it did not start are sent on the next connection', async () => {
  const done = new Map<number, number>()
  const server = await startRawHttp2Server({
    tls,
    onRequest(wire, stream) {
      const count = (done.get(wire.connection) ?? 0) + 1
      done.set(wire.connection, count)
      if (count > 20) return
      if (count < 20) answerWhole(wire, stream)
      else
        wire.together(() => {
          answerWhole(wire, stream)
          wire.goaway(stream, H2_CODES.noError)
        })
      if (count === 20) wire.end()
    },
  })
  const exchanges = await createSender(server.baseUrl)(300, 8)
  expect(countKinds(exchanges)).toEqual({ answer: 300 })
  expect(server.connections).toBeGreaterThan(10)
})

test('once a service has ended a connection after many requests, other connections are replaced earlier', async () => {
  const carried: number[] = []
  const server = await startRawHttp2Server({
    tls,
    endsAtGoaway: true,
    onRequest(wire, stream) {
      const count = (carried[wire.connection] ?? 0) + 1
      carried[wire.connection] = count
      // Like hypercorn, which answers nothing that is still in flight.
      if (count > 1_000) wire.goaway(stream, H2_CODES.noError)
      else setImmediate(() => answerWhole(wire, stream))
    },
  })
  const send = createSender(server.baseUrl)
  const { answer = 0, ...lost } = countKinds(await send(1_200, 32))
  // Only requests in flight are of unknown outcome.
  expect(answer).toBeGreaterThanOrEqual(1_200 - 32)
  expect(Object.keys(lost).filter((kind) => !kind.startsWith('unknown '))).toEqual([])
  expect(countKinds(await send(2_000, 32))).toEqual({ answer: 2_000 })
  expect(carried.slice(1).filter((count) => count > 1_000)).toEqual([])
  expect(carried.length).toBeLessThanOrEqual(5)
})

test('a GOAWAY with an error says which requests were started: only those are unknown', async () => {
  const server = await startRawHttp2Server({
    tls,
    onRequest(wire, stream, count) {
      if (wire.connection > 0) answerWhole(wire, stream)
      // Of four requests in flight, streams 1, 3, 5 and 7, the first two were started.
      else if (count === 4) wire.goaway(3, H2_CODES.enhanceYourCalm)
    },
  })
  const exchanges = await createSender(server.baseUrl)(4, 4)
  expect(countKinds(exchanges)).toEqual({ answer: 2, 'unknown GOAWAY_ENHANCE_YOUR_CALM': 2 })
  const lost = exchanges.filter((exchange) => exchange.kind === 'breakdown')
  expect(lost.map((exchange) => toBreakdownMessage(exchange, server.baseUrl))).toEqual(
    new Array(2).fill('the service ended the connection with ENHANCE_YOUR_CALM'),
  )
})

test('a connection on which no valid HTTP/2 comes is named so', async () => {
  const server = await startRawHttp2Server({
    tls,
    // DATA belongs to a stream (RFC 9113 §6.1).
    onRequest: (wire) => wire.data(0, '{}'),
  })
  const [exchange] = await createSender(server.baseUrl)(1, 1)
  if (exchange?.kind !== 'breakdown') throw new Error('it is whole')
  expect(exchange).toMatchObject({ code: 'MALFORMED_ANSWER', sent: true })
  expect(toBreakdownMessage(exchange, server.baseUrl)).toBe(
    `what came is not valid HTTP/2: Protocol error; check that ${new URL(server.baseUrl).host} is the service (MALFORMED_ANSWER)`,
  )
})

test.each([
  ['in frames of their own', (_wire: RawHttp2Wire, act: () => void): void => act()],
  ['in one piece', (wire: RawHttp2Wire, act: () => void): void => wire.together(act)],
] as const)(
  'an answer directly followed by GOAWAY and the connection’s end is complete, %s',
  async (_, write) => {
    const server = await startRawHttp2Server({
      tls,
      onRequest: (wire, stream) =>
        write(wire, () => {
          answerWhole(wire, stream)
          wire.goaway(stream, H2_CODES.noError)
        }),
    })
    expect(countKinds(await createSender(server.baseUrl)(50, 1))).toEqual({ answer: 50 })
  },
)

test.each([
  ['NO_ERROR', H2_CODES.noError],
  ['CANCEL', H2_CODES.cancel],
  ['INTERNAL_ERROR', H2_CODES.internal],
])('half an answer that is reset with %s is not an answer', async (name, code) => {
  const server = await startRawHttp2Server({
    tls,
    onRequest(wire, stream) {
      wire.together(() => {
        wire.headers(stream, 200)
        // Valid JSON by itself, so that only the missing end of the stream shows the truncation.
        wire.data(stream, '{"task_id":"1"}')
        wire.reset(stream, code)
      })
    },
  })
  const [exchange] = await createSender(server.baseUrl)(1, 1)
  expect(exchange).toMatchObject({ kind: 'breakdown', sent: true, status: 200 })
  if (exchange?.kind !== 'breakdown') throw new Error('it is whole')
  expect(toBreakdownMessage(exchange, server.baseUrl)).toBe(
    `in the middle of the answer, the service reset the request with ${name}`,
  )
})

test.each([
  ['CANCEL', H2_CODES.cancel],
  ['ENHANCE_YOUR_CALM', H2_CODES.enhanceYourCalm],
  ['INTERNAL_ERROR', H2_CODES.internal],
])(
  'a request that the service resets with %s is named so, and may have been accepted',
  async (name, code) => {
    const server = await startRawHttp2Server({
      tls,
      onRequest: (wire, stream, count) =>
        count === 1 ? wire.reset(stream, code) : answerWhole(wire, stream),
    })
    const [exchange, ...others] = await createSender(server.baseUrl)(3, 1)
    expect(exchange).toMatchObject({
      kind: 'breakdown',
      code: `RESET_${name}`,
      message: `the service reset the request with ${name}`,
      sent: true,
      status: null,
    })
    expect(others).toMatchObject([{ kind: 'answer' }, { kind: 'answer' }])
    expect([server.connections, server.requests]).toEqual([1, 3])
  },
)

test.each([
  ['has another length than it says', { 'content-length': '5' }, 'in the middle of the answer, '],
  ['has a name in capital letters', { 'X-Trace': '5' }, ''],
])('an answer that %s is not said to be reset by the service', async (_what, fields, when) => {
  const server = await startRawHttp2Server({
    tls,
    onRequest(wire, stream) {
      wire.headers(stream, 200, { fields })
      wire.data(stream, 'abc', END_STREAM)
    },
  })
  const [exchange] = await createSender(server.baseUrl)(1, 1)
  if (exchange?.kind !== 'breakdown') throw new Error('it is whole')
  expect(exchange).toMatchObject({ code: 'RESET_PROTOCOL_ERROR', sent: true })
  expect(toBreakdownMessage(exchange, server.baseUrl)).toBe(
    `${when}the service reset the request with PROTOCOL_ERROR, or its answer is not valid HTTP/2`,
  )
})

test('a connection that the service closes without a word is not taken for a reset', async () => {
  const server = await startRawHttp2Server({ tls, onRequest: (wire) => wire.end() })
  expect(countKinds(await createSender(server.baseUrl)(1, 1))).toEqual({ 'unknown CONNECTION_CLOSED': 1 })
})

test.each([
  ['NO_ERROR', H2_CODES.noError],
  ['CANCEL', H2_CODES.cancel],
])('a complete answer stays complete when %s follows it at once', async (_, code) => {
  const server = await startRawHttp2Server({
    tls,
    onRequest: (wire, stream) =>
      wire.together(() => {
        answerWhole(wire, stream)
        wire.reset(stream, code)
      }),
  })
  expect(await createSender(server.baseUrl)(1, 1)).toMatchObject([{ kind: 'answer', body: '{"stream":1}' }])
})

test('an answer that ends with its headers, and one that ends with trailers, are complete', async () => {
  const server = await startRawHttp2Server({
    tls,
    onRequest(wire, stream, count) {
      if (count === 1) wire.headers(stream, 503, { flags: END_STREAM })
      else {
        wire.headers(stream, 200)
        wire.data(stream, '{}')
        wire.headers(stream, null, { flags: END_STREAM, fields: { checksum: 'none' } })
      }
    },
  })
  expect(await createSender(server.baseUrl)(2, 1)).toMatchObject([
    { kind: 'answer', status: 503, body: '' },
    { kind: 'answer', status: 200, body: '{}' },
  ])
})

test('a request that was refused unprocessed is sent again', async () => {
  const server = await startRawHttp2Server({
    tls,
    onRequest: (wire, stream, count) =>
      count % 3 === 0 ? wire.reset(stream, H2_CODES.refused) : answerWhole(wire, stream),
  })
  expect(countKinds(await createSender(server.baseUrl)(100, 8))).toEqual({ answer: 100 })
})

test('a request that is refused every time is certainly not accepted, and is given up after five times', async () => {
  const server = await startRawHttp2Server({
    tls,
    onRequest: (wire, stream) => wire.reset(stream, H2_CODES.refused),
  })
  expect(countKinds(await createSender(server.baseUrl)(1, 1))).toEqual({ 'failed REFUSED_STREAM': 1 })
  expect(server.requests).toBe(5)
})

test('the time that a request waits for a stream is none of its timeout', async () => {
  const server = createSecureServer({ ...tls, settings: { maxConcurrentStreams: 1 } })
  server.on('stream', (stream) => {
    setTimeout(() => {
      stream.respond({ ':status': 200, 'content-type': 'application/json' })
      stream.end('{}')
    }, 60)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  const timeoutMs = 500
  const send = createSender(`https://127.0.0.1:${port}`, {
    connection: { timeoutMs, tls: { caFile } },
    http2Connections: 1,
  })
  const exchanges = await send(12, 12)
  expect(countKinds(exchanges)).toEqual({ answer: 12 })
  const waitsUs = exchanges.map(({ timings }) => timings.blockedUs ?? 0)
  expect(Math.max(...waitsUs)).toBeGreaterThan(timeoutMs * 1000)
})

test('streams that are never answered do not end requests that wait for one', async () => {
  const server = await startRawHttp2Server({
    tls,
    maxConcurrentStreams: 1,
    onRequest: (wire, stream, count) => (count <= 2 ? undefined : answerWhole(wire, stream)),
  })
  const send = createSender(server.baseUrl, {
    connection: { timeoutMs: 200, tls: { caFile } },
    http2Connections: 1,
  })
  expect(countKinds(await send(5, 5))).toEqual({ 'unknown TIMEOUT': 2, answer: 3 })
  expect(server.requests).toBe(5)
})

test('a service that allows no stream is given up after the timeout', async () => {
  const server = await startRawHttp2Server({ tls, maxConcurrentStreams: 0, onRequest: answerWhole })
  const send = createSender(server.baseUrl, { connection: { timeoutMs: 200, tls: { caFile } } })
  expect(countKinds(await send(3, 3))).toEqual({ 'failed TIMEOUT': 3 })
  expect(server.connections).toBe(1)
})

test('a timed-out request is cancelled, and its connection stays in use', async () => {
  const server = await startRawHttp2Server({
    tls,
    onRequest: (wire, stream, count) => (count === 1 ? undefined : answerWhole(wire, stream)),
  })
  const send = createSender(server.baseUrl, { connection: { timeoutMs: 200, tls: { caFile } } })
  expect(countKinds(await send(5, 1))).toEqual({ 'unknown TIMEOUT': 1, answer: 4 })
  expect(server.connections).toBe(1)
  expect(server.resets).toEqual([H2_CODES.cancel])
})

test('a connection that answers no PING ends, and its requests are of unknown outcome', async () => {
  const server = await startRawHttp2Server({ tls, answersPings: false, onRequest: () => {} })
  const url = new URL(server.baseUrl)
  const connections = new Http2Connections({
    url,
    createConnector: () =>
      createTimedConnector({
        secureContext: readSecureContext({ caFile }),
        proxy: null,
        timeoutMs: 5_000,
        userAgent: 'sluice/test',
        isHttp2: true,
      }),
    pingAfterMs: 50,
    pingTimeoutMs: 50,
  })
  const client = new Http2Client({ url, timeoutMs: 20_000, connections, received: new ReceivedBytes() })
  onTestFinished(() => client.destroy())
  const exchange = await new Promise<Exchange>((resolve) =>
    client.send({ method: 'POST', target: '/', headers: [], body: '{}' }, resolve),
  )
  expect(exchange).toMatchObject({ kind: 'breakdown', code: 'PING_TIMEOUT', sent: true })
})

test('a service that closes each connection as soon as it is open is not tried for ever', async () => {
  const server = await startRawHttp2Server({
    tls,
    onConnection: (wire) => wire.together(() => wire.goaway(0, H2_CODES.noError)),
    onRequest: answerWhole,
  })
  const counts = countKinds(await createSender(server.baseUrl)(8, 8))
  expect(Object.keys(counts)).toEqual([expect.stringMatching(/^failed /)])
  expect(server.connections).toBeLessThanOrEqual(9)
})

test('a silent service is given up without anything having been sent', async () => {
  const server = await startRawHttp2Server({ tls, maxConcurrentStreams: null, onRequest: answerWhole })
  const send = createSender(server.baseUrl, { connection: { timeoutMs: 200, tls: { caFile } } })
  expect(countKinds(await send(2, 2))).toEqual({ 'failed TIMEOUT': 2 })
  expect(server.requests).toBe(0)
})

test('nothing was accepted if our certificate was refused', async () => {
  const server = createServer(
    { ...tls, requestCert: true, rejectUnauthorized: true, minVersion: 'TLSv1.3', ALPNProtocols: ['h2'] },
    (socket) => socket.destroy(),
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  const [exchange] = await createSender(`https://127.0.0.1:${port}`)(1, 1)
  expect(exchange).toMatchObject({
    kind: 'breakdown',
    sent: false,
    code: expect.stringMatching(/^ERR_SSL.*CERT/),
  })
})

test('a compressed answer is decoded', async () => {
  const server = await startRawHttp2Server({
    tls,
    onRequest(wire, stream) {
      wire.headers(stream, 200, { fields: { 'content-encoding': 'gzip' } })
      wire.data(stream, gzipSync('{"stream":"zipped"}'), END_STREAM)
    },
  })
  expect(await createSender(server.baseUrl)(1, 1)).toMatchObject([
    { kind: 'answer', body: '{"stream":"zipped"}' },
  ])
})

test("large bodies pass in both directions on one connection, and one beyond the limit is refused with the limit's name", async () => {
  const sessions = new Set<ServerHttp2Session>()
  const server = createSecureServer(
    { ...tls, settings: { initialWindowSize: 65_535 } },
    (request, response) => {
      let sizeBytes = 0
      request.on('data', (chunk: Buffer) => {
        sizeBytes += chunk.length
      })
      request.on('end', () => {
        const length = sizeBytes > 3_000_000 ? 17 * 1024 * 1024 : 3_000_000
        response.end(JSON.stringify({ sizeBytes, echo: 'x'.repeat(length) }))
      })
    },
  )
  server.on('session', (session) => sessions.add(session))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    for (const session of sessions) session.destroy()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const apiKey = bindTestKey(`https://127.0.0.1:${port}`)
  const client = createServiceClients({
    baseUrl: `https://127.0.0.1:${port}`,
    connection: { timeoutMs: 20_000, tls: { caFile } },
    readApiKey: () => apiKey,
    userAgent: 'sluice/test',
    httpVersion: '2',
  })
  const clients = [client(), client(), client()]
  onTestFinished(async () => void (await Promise.all(clients.map((one) => one.destroy()))))
  const text = 'y'.repeat(2_000_000)
  const exchanges = await Promise.all(clients.map((one) => sendOver(one, 'post-1', text)))
  for (const exchange of exchanges) {
    const { sizeBytes, echo } = JSON.parse(exchange.kind === 'answer' ? exchange.body : '{}') as Record<
      string,
      number
    >
    expect(sizeBytes).toBeGreaterThan(2_000_000)
    expect(String(echo)).toHaveLength(3_000_000)
  }
  const [first] = clients
  const larger = first === undefined ? null : await sendOver(first, 'post-2', 'z'.repeat(3_100_000))
  expect(larger).toMatchObject({ kind: 'breakdown', code: 'ANSWER_TOO_LARGE', sent: true })
  expect(sessions.size).toBe(1)
})

test('a request that ended while its connection refused it is not resent, and counts as not sent', async () => {
  let seeks = 0
  const session = {
    request: () => {
      throw new Error('the connection takes no more streams')
    },
  }
  const connection = { session, release: () => {} } as unknown as Http2Connection
  const connections = {
    join: () => {},
    leave: async () => {},
    giveUp: () => {},
    seek: (seeker: StreamSeeker) => {
      seeks += 1
      if (seeks === 1) seeker.onRoom(connection, null)
    },
  } as unknown as Http2Connections
  const url = new URL('https://127.0.0.1')
  const client = new Http2Client({ url, timeoutMs: 5_000, connections, received: new ReceivedBytes() })
  const ended: Exchange[] = []
  client.send({ method: 'POST', target: '/', headers: [], body: '{}' }, (exchange) => ended.push(exchange))
  await client.destroy()
  await new Promise((resolve) => setImmediate(resolve))
  expect(countKinds(ended)).toEqual({ 'failed CLIENT_CLOSED': 1 })
  expect(seeks).toBe(1)
})
