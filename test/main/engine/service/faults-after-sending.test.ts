import { expect, test } from 'vitest'
import type { Judgement } from '../../../../src/main/engine/service/judgement.ts'
import {
  type FaultServer,
  startFaultServer,
  toTaskAnswer,
  type Wire,
  type WireRequest,
} from '../../../helpers/fault-server.ts'
import { createTestClient, judgeTask, sendOver, sendTask } from './send-task.ts'

/** Sent, and possibly accepted: repeated only if a second delivery does no harm. */
const UNKNOWN = { outcome: 'unknown', repeat: 'ambiguous', reached: true } as const

const HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n'

const onRequest = (act: (request: WireRequest, wire: Wire) => void) => startFaultServer({ onRequest: act })

test('a connection that is reset while the request is being read leaves the task unknown', async () => {
  const server = await startFaultServer({
    onConnection: (socket) => {
      socket.once('data', () => socket.resetAndDestroy())
      return true
    },
  })
  const { judgement } = await sendTask(server.baseUrl, { text: 'x'.repeat(4 * 1024 * 1024) })
  expect(judgement).toMatchObject({ ...UNKNOWN, status: null })
  expect(judgement.message).toBe('the connection broke after the request was sent')
})

test('a connection that is accepted and reset at once is unknown only if something was sent', async () => {
  const server = await startFaultServer({
    onConnection: (socket) => {
      socket.resetAndDestroy()
      return true
    },
  })
  const { exchange, judgement } = await sendTask(server.baseUrl)
  // Whether the reset overtakes the first byte depends on the operating system.
  const wasSent = exchange.kind === 'breakdown' && exchange.sent
  expect(judgement.outcome).toBe(wasSent ? 'unknown' : 'failed')
  expect(judgement.message).toMatch(
    wasSent ? /broke after the request was sent$/ : /broke before the request was sent$/,
  )
})

test('a connection that is reset once the request was read leaves the task unknown', async () => {
  const server = await onRequest((_, wire) => wire.reset())
  const { judgement } = await sendTask(server.baseUrl)
  expect(judgement).toMatchObject({ ...UNKNOWN, status: null })
  expect(judgement.message).toBe('the connection broke after the request was sent')
  expect(server.requests).toHaveLength(1)
})

test('a connection that is closed without an answer leaves the task unknown', async () => {
  const server = await onRequest((_, wire) => wire.socket.end())
  const { judgement } = await sendTask(server.baseUrl)
  expect(judgement).toMatchObject({ ...UNKNOWN, status: null, errorCode: 'CONNECTION_CLOSED' })
})

test('a service that never answers is given up at the time-out, and the elapsed time is its latency', async () => {
  const server = await onRequest(() => {})
  const { exchange, judgement } = await sendTask(server.baseUrl, { timeoutMs: 150 })
  expect(judgement).toMatchObject({ ...UNKNOWN, status: null, errorCode: 'TIMEOUT' })
  expect(judgement.message).toBe('gave up on the answer after 150 ms')
  expect(exchange.timings.waitingUs).toBeNull()
  // The time-out starts when the request is handed over, the latency with its first byte.
  expect(exchange.timings.durationUs).toBeGreaterThan(50_000)
  expect(exchange.timings.durationUs).toBeLessThan(10_000_000)
})

test('headers that trickle in are given up at the time-out, however regularly they come', async () => {
  const server = await onRequest((_, wire) => {
    wire.raw('HTTP/1.1 200 OK\r\n')
    wire.drip('x-drip: drop\r\n')
  })
  const { judgement } = await sendTask(server.baseUrl, { timeoutMs: 200 })
  expect(judgement).toMatchObject({ ...UNKNOWN, errorCode: 'TIMEOUT' })
})

test('a body that trickles in is given up at the time-out; its status is kept', async () => {
  const server = await onRequest((_, wire) => {
    wire.raw(`${HEAD}content-length: 100000\r\n\r\n{"task_id": "`)
    wire.drip('x')
  })
  const { exchange, judgement } = await sendTask(server.baseUrl, { timeoutMs: 200 })
  expect(judgement).toMatchObject({ ...UNKNOWN, status: 200, errorCode: 'TIMEOUT' })
  expect(exchange.timings.waitingUs).not.toBeNull()
})

test('a body that ends before its content-length leaves the task unknown', async () => {
  const server = await onRequest((_, wire) => {
    wire.raw(`${HEAD}content-length: 500\r\n\r\n{"task_id": "cut"}`)
    wire.socket.end()
  })
  const { judgement } = await sendTask(server.baseUrl)
  expect(judgement).toMatchObject({ ...UNKNOWN, status: 200, taskId: null })
  expect(judgement.message).toBe('the connection broke in the middle of the answer')
})

test('a chunked body without its last chunk leaves the task unknown', async () => {
  const server = await onRequest((_, wire) => {
    wire.raw(`${HEAD}transfer-encoding: chunked\r\n\r\n12\r\n{"task_id": "cut"}\r\n`)
    wire.socket.end()
  })
  const { judgement } = await sendTask(server.baseUrl)
  expect(judgement).toMatchObject({ ...UNKNOWN, status: 200, taskId: null })
})

test.each([
  ['what is no HTTP at all', 'SSH-2.0-OpenSSH_9.7\r\n'],
  ['a broken chunk size', `${HEAD}transfer-encoding: chunked\r\n\r\nzz\r\n{}\r\n`],
  ['a header that never ends', `${HEAD}x-long: ${'x'.repeat(100_000)}\r\n\r\n{}`],
  [
    'a switch of protocols',
    'HTTP/1.1 101 Switching Protocols\r\nupgrade: h2c\r\nconnection: upgrade\r\n\r\n',
  ],
  ['two lengths that disagree', `${HEAD}content-length: 5\r\ncontent-length: 6\r\n\r\n{"a":1}`],
])('%s leaves the task unknown', async (_, bytes) => {
  const server = await onRequest((__, wire) => wire.raw(bytes))
  const { judgement } = await sendTask(server.baseUrl)
  expect(judgement).toMatchObject({ ...UNKNOWN, errorCode: 'MALFORMED_ANSWER' })
  expect(judgement.message).toMatch(
    /^the answer cannot be read: .*; check that 127\.0\.0\.1:\d+ is the service \(MALFORMED_ANSWER\)$/,
  )
})

test('an answer that ends with its connection is complete', async () => {
  const server = await onRequest((request, wire) => {
    wire.raw(`HTTP/1.0 200 OK\r\n\r\n${JSON.stringify(toTaskAnswer(request))}`)
    wire.socket.end()
  })
  const { judgement } = await sendTask(server.baseUrl)
  expect(judgement).toMatchObject({ outcome: 'succeeded', taskId: 'task-post-1' })
})

test('an unsolicited answer is never taken for the answer of the next request', async () => {
  const stray = JSON.stringify({ task_id: 'stray', triggered_rules: [] })
  const server = await onRequest((request, wire) => {
    const answer = JSON.stringify(toTaskAnswer(request))
    const toBytes = (body: string) => `${HEAD}content-length: ${body.length}\r\n\r\n${body}`
    // Only the first connection is out of step.
    wire.raw(toBytes(answer) + (request.connection === 1 ? toBytes(stray) : ''))
  })
  const client = createTestClient(server.baseUrl)
  const judgements: Judgement[] = []
  for (const postId of ['p1', 'p2', 'p3']) {
    judgements.push(judgeTask(await sendOver(client, postId), server.baseUrl))
  }
  expect(judgements.map(({ taskId }) => taskId)).not.toContain('stray')
  expect(judgements[0]).toMatchObject({ outcome: 'succeeded', taskId: 'task-p1' })
  expect(judgements[2]).toMatchObject({ outcome: 'succeeded', taskId: 'task-p3' })
})

test('a 408 that closes an idle connection is never taken for the answer of the next request', async () => {
  let closed = Promise.resolve()
  const server = await onRequest((request, wire) => {
    closed = new Promise((resolve) => wire.socket.once('close', () => resolve()))
    wire.send(200, toTaskAnswer(request))
    setImmediate(() => wire.socket.end('HTTP/1.1 408 Request Timeout\r\ncontent-length: 0\r\n\r\n'))
  })
  const client = createTestClient(server.baseUrl)
  for (const postId of ['p1', 'p2']) {
    const judgement = judgeTask(await sendOver(client, postId), server.baseUrl)
    expect(judgement).toMatchObject({ outcome: 'succeeded', taskId: `task-${postId}` })
    await closed
  }
})

test('an answer larger than the limit leaves the task unknown', async () => {
  const server = await onRequest((_, wire) => {
    const block = 'x'.repeat(1024 * 1024)
    wire.raw(`${HEAD}content-length: ${64 * block.length}\r\n\r\n`)
    const write = (): void => {
      while (!wire.socket.destroyed && wire.socket.write(block));
    }
    wire.socket.on('drain', write)
    write()
  })
  const { judgement } = await sendTask(server.baseUrl, { timeoutMs: 20_000 })
  expect(judgement).toMatchObject({ ...UNKNOWN, status: 200, errorCode: 'ANSWER_TOO_LARGE' })
  expect(judgement.message).toBe('the answer is larger than 16 MiB')
})

test('a connection that the service closed between requests is reopened without losing anything', async () => {
  let closed = Promise.resolve()
  const server = await onRequest((request, wire) => {
    closed = new Promise((resolve) => wire.socket.once('close', () => resolve()))
    wire.send(200, toTaskAnswer(request))
    wire.socket.end()
  })
  const client = createTestClient(server.baseUrl)
  for (const postId of ['p1', 'p2', 'p3']) {
    const judgement = judgeTask(await sendOver(client, postId), server.baseUrl)
    expect(judgement).toMatchObject({ outcome: 'succeeded', taskId: `task-${postId}` })
    await closed
  }
  expect(server.connections).toBe(3)
})

test('a connection that the service announced to close carries no further request', async () => {
  const server = await onRequest((request, wire) => {
    wire.send(200, toTaskAnswer(request), { connection: 'close' })
    wire.socket.end()
  })
  const client = createTestClient(server.baseUrl)
  await sendOver(client)
  expect(judgeTask(await sendOver(client), server.baseUrl).outcome).toBe('succeeded')
  expect(server.requests.map(({ connection }) => connection)).toEqual([1, 2])
})

test('a time-out ends only its own request; the next one gets a new connection', async () => {
  const server = await onRequest((request, wire) => {
    if (request.number > 1) wire.send(200, toTaskAnswer(request))
  })
  const client = createTestClient(server.baseUrl, 400)
  expect(judgeTask(await sendOver(client, 'p1'), server.baseUrl).outcome).toBe('unknown')
  expect(judgeTask(await sendOver(client, 'p2'), server.baseUrl)).toMatchObject({
    outcome: 'succeeded',
    taskId: 'task-p2',
  })
  expect(server.requests.map(({ connection }) => connection)).toEqual([1, 2])
})

test('a request that outlived its wait for a connection never goes out', async () => {
  const server = await startFaultServer({ onConnection: () => true })
  const client = createTestClient(server.baseUrl.replace('http:', 'https:'), 100)
  const exchanges = [await sendOver(client, 'p1'), await sendOver(client, 'p2')]
  expect(exchanges.map((exchange) => judgeTask(exchange, server.baseUrl).outcome)).toEqual([
    'failed',
    'failed',
  ])
})

test('a request in flight ends as unknown when its client is closed', async () => {
  const server = await onRequest(() => {})
  const client = createTestClient(server.baseUrl)
  const ended = sendOver(client)
  await server.arrivals(1)
  await client.destroy()
  expect(judgeTask(await ended, server.baseUrl)).toMatchObject(UNKNOWN)
})

test('an answer that overtakes its request counts, and its connection carries no other', async () => {
  const server = await startFaultServer({
    onConnection: (socket) => {
      socket.once('data', () => {
        socket.pause()
        socket.write('HTTP/1.1 413 Too Large\r\ncontent-length: 0\r\n\r\n')
      })
      return true
    },
  })
  const client = createTestClient(server.baseUrl, 20_000)
  for (let connections = 1; connections <= 2; connections += 1) {
    const exchange = await sendOver(client, 'p1', 'x'.repeat(32 * 1024 * 1024))
    expect(exchange).toMatchObject({ kind: 'answer', status: 413 })
    expect(server.connections).toBe(connections)
  }
})

test('a connection is not reused if the service is about to close it', async () => {
  const server = await onRequest((request, wire) =>
    wire.send(200, toTaskAnswer(request), { 'keep-alive': `timeout=${request.number === 1 ? 1 : 60}` }),
  )
  const client = createTestClient(server.baseUrl)
  for (const postId of ['p1', 'p2', 'p3']) await sendOver(client, postId)
  expect(server.requests.map(({ connection }) => connection)).toEqual([1, 2, 2])
})

/** After this long, a connection that does not open is given up anyway. */
const CONNECT_TIMEOUT_MS = 10_000

const GRANT = 'HTTP/1.1 200 Granted\r\n\r\n'

test.each([
  ['a TLS handshake', '', ({ port }: FaultServer) => ({ baseUrl: `https://127.0.0.1:${port}`, way: {} })],
  [
    'a TLS handshake with a proxy',
    '',
    ({ port }: FaultServer) => ({
      baseUrl: 'http://service.test',
      way: { proxy: { url: `https://127.0.0.1:${port}` } },
    }),
  ],
  [
    'a tunnel',
    '',
    ({ baseUrl }: FaultServer) => ({ baseUrl: 'https://service.test', way: { proxy: { url: baseUrl } } }),
  ],
  [
    'a TLS handshake in a tunnel',
    GRANT,
    ({ baseUrl }: FaultServer) => ({ baseUrl: 'https://service.test', way: { proxy: { url: baseUrl } } }),
  ],
])(
  '%s that is pending when its client is closed is given up at once',
  async (_, grant, toWay) => {
    let closed = Promise.resolve()
    const stuck = Promise.withResolvers<void>()
    const server = await startFaultServer({
      onConnection: (socket) => {
        closed = new Promise((resolve) => socket.once('close', () => resolve()))
        let isGranted = grant === ''
        socket.on('data', () => {
          if (isGranted) stuck.resolve()
          else socket.write(grant)
          isGranted = true
        })
        return true
      },
    })
    const { baseUrl, way } = toWay(server)
    const client = createTestClient(baseUrl, 60_000, way)
    const ended = sendOver(client)
    await stuck.promise
    await client.destroy()
    await closed
    expect(await ended).toMatchObject({ kind: 'breakdown', sent: false, code: 'CLIENT_CLOSED' })
  },
  CONNECT_TIMEOUT_MS / 2,
)

test('an idle connection is closed before the service does so', async () => {
  const ended = Promise.withResolvers<string>()
  const server = await onRequest((request, wire) => {
    wire.socket.once('end', () => ended.resolve('by the client'))
    wire.send(200, toTaskAnswer(request), { 'keep-alive': 'timeout=2' })
  })
  await sendOver(createTestClient(server.baseUrl, 60_000))
  expect(await ended.promise).toBe('by the client')
  expect(server.connections).toBe(1)
})

test('data on an idle connection, other than an empty line, ends it', async () => {
  const dropped = Promise.withResolvers<void>()
  const server = await onRequest((request, wire) => {
    wire.send(200, toTaskAnswer(request))
    const stray = JSON.stringify({ task_id: 'stray' })
    if (request.number === 1) setImmediate(() => wire.raw('\r\n'))
    if (request.number !== 2) return
    wire.socket.once('close', () => dropped.resolve())
    setImmediate(() => wire.raw(`${HEAD}content-length: ${stray.length}\r\n\r\n${stray}`))
  })
  const client = createTestClient(server.baseUrl)
  await sendOver(client, 'p1')
  await sendOver(client, 'p2')
  await dropped.promise
  await sendOver(client, 'p3')
  expect(server.requests.map(({ connection }) => connection)).toEqual([1, 1, 2])
})

test.each([16_384, 65_535, 65_536, 65_537])(
  'an answer of %i bytes cannot hide data that could be taken for the next one',
  async (size) => {
    const stray = `${HEAD}content-length: 20\r\n\r\n{"task_id": "stray"}`
    const start = '{"task_id": "task-p1", "triggered_rules": [], "x": "'
    const length = size - `${HEAD}content-length: 00000\r\n\r\n`.length
    const body = `${start.padEnd(length - 2, 'x')}"}`
    const server = await onRequest((request, wire) => {
      if (request.number === 1)
        wire.raw(`${HEAD}content-length: ${String(length).padStart(5, '0')}\r\n\r\n${body}${stray}`)
      else wire.send(200, toTaskAnswer(request))
    })
    const client = createTestClient(server.baseUrl)
    const taskIds: (string | null)[] = []
    // The second goes out as from a lane, while the first answer is still being read.
    await new Promise<void>((resolve) => {
      const send = (postId: string, onEnd: () => void) => {
        const task = JSON.stringify({ text_data: 'a text', user_id: 'user', post_id: postId })
        client.send(
          { method: 'POST', path: '/api/v1/task/sync', body: task, isAnonymous: false },
          (exchange) => {
            taskIds.push(judgeTask(exchange, server.baseUrl).taskId)
            onEnd()
          },
        )
      }
      send('p1', () => send('p2', resolve))
    })
    expect(taskIds).toEqual(['task-p1', 'task-p2'])
  },
)

test('a closed client sends nothing more', async () => {
  const server = await onRequest((request, wire) => wire.send(200, toTaskAnswer(request)))
  const client = createTestClient(server.baseUrl)
  await sendOver(client, 'p1')
  await client.destroy()
  expect(await sendOver(client, 'p2')).toMatchObject({ kind: 'breakdown', sent: false })
  expect(server.requests).toHaveLength(1)
})
