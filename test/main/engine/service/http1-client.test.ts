import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import type { buildConnector } from 'undici'
import { expect, onTestFinished, test, vi } from 'vitest'
import { ReceivedBytes } from '../../../../src/main/engine/service/answer-body.ts'
import { ConnectionReuse } from '../../../../src/main/engine/service/connection-reuse.ts'
import type { Exchange } from '../../../../src/main/engine/service/exchange.ts'
import { Http1Client } from '../../../../src/main/engine/service/http1-client.ts'

/** A socket whose other end is the test. */
class TestSocket extends Duplex {
  /** Whether it keeps the process alive. */
  isHeld = true
  written = ''
  onWrite = () => {}
  /** Runs `done` when a write is complete. */
  onDone = (done: () => void): void => done()

  ref(): this {
    this.isHeld = true
    return this
  }

  unref(): this {
    this.isHeld = false
    return this
  }

  override _read(): void {}

  /** Resolves with the next request that is written to it. */
  nextWrite(): Promise<void> {
    return new Promise((resolve) => this.once('written', () => resolve()))
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.written += chunk.toString('utf8')
    this.emit('written')
    this.onWrite()
    this.onDone(done)
  }
}

const REQUEST = { method: 'POST', target: '/path', headers: ['accept', 'x'], body: '{}' } as const

/** A client whose connections the test opens; `timeoutMs` is real time. */
function createClient(timeoutMs = 10_000) {
  const openings: buildConnector.Callback[] = []
  const client = new Http1Client({
    url: new URL('http://127.0.0.1:1'),
    timeoutMs,
    received: new ReceivedBytes(),
    reuse: new ConnectionReuse(),
    createConnector: () => ({
      connect: (_, callback) => openings.push(callback),
      takePhases: () => null,
      abort: () => {},
    }),
  })
  onTestFinished(() => client.destroy())
  /** Whether there was anything to open. */
  const open = (socket: TestSocket): boolean => {
    const opening = openings.shift()
    opening?.(null, socket as unknown as Socket)
    return opening !== undefined
  }
  return { client, openings, open }
}

const toAnswer = (body: string) => `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`

/** Sends a request; its result is the last in the list. */
function send(client: Http1Client, ends: Exchange[]): Promise<void> {
  return new Promise((resolve) =>
    client.send(REQUEST, (exchange) => {
      ends.push(exchange)
      resolve()
    }),
  )
}

test('a request is one write: request line, host, headers, length, body', async () => {
  const { client, open } = createClient()
  const socket = new TestSocket()
  const ended = send(client, [])
  open(socket)
  expect(socket.written).toBe(
    'POST /path HTTP/1.1\r\nhost: 127.0.0.1:1\r\nconnection: keep-alive\r\naccept: x\r\ncontent-length: 2\r\n\r\n{}',
  )
  socket.push(toAnswer('x'))
  await ended
})

test("an answer that arrives before the request's write returns still has a waiting time", async () => {
  const { client, open } = createClient()
  const writeMs = 3
  const socket = new TestSocket()
  socket.onWrite = () => {
    socket.push(toAnswer('x'))
    const startMs = performance.now()
    while (performance.now() - startMs < writeMs);
  }
  const ends: Exchange[] = []
  const ended = send(client, ends)
  open(socket)
  await ended
  expect(ends[0]?.timings.waitingUs).toBeGreaterThanOrEqual(writeMs * 1000)
})

test('a connection is reused when its answer was read before the operating system reported the write', async () => {
  const { client, openings, open } = createClient()
  const ends: Exchange[] = []
  const socket = new TestSocket()
  // As TLS sockets do it: completion is reported in the next turn of the event loop.
  socket.onDone = (done) => setImmediate(done)
  const answered = send(client, ends)
  open(socket)
  socket.emit('data', Buffer.from(toAnswer('one')))
  await answered
  const next = send(client, ends)
  await socket.nextWrite()
  socket.emit('data', Buffer.from(toAnswer('two')))
  await next
  expect(ends).toMatchObject([{ body: 'one' }, { body: 'two' }])
  expect(openings).toHaveLength(0)
})

test('a connection keeps the process alive only while a request is in flight', async () => {
  const { client, open } = createClient()
  const socket = new TestSocket()
  const held: boolean[] = []
  const ended = new Promise<void>((resolve) => {
    client.send(REQUEST, () => {
      // As a lane sends: the next request goes out while the previous answer is handed on.
      client.send(REQUEST, () => setImmediate(resolve))
      void socket.nextWrite().then(() => {
        held.push(socket.isHeld)
        socket.push(toAnswer('second'))
      })
    })
  })
  open(socket)
  held.push(socket.isHeld)
  socket.push(toAnswer('first'))
  await ended
  held.push(socket.isHeld)
  const third = send(client, [])
  await socket.nextWrite()
  held.push(socket.isHeld)
  socket.push(toAnswer('third'))
  await third
  expect(held).toEqual([true, true, false, true])
})

test('a connection that opens when nobody waits for it any more is closed', async () => {
  const { client, open } = createClient(50)
  const ends: Exchange[] = []
  await send(client, ends)
  expect(ends).toMatchObject([{ kind: 'breakdown', code: 'TIMEOUT', sent: false }])
  const late = new TestSocket()
  open(late)
  expect(late.destroyed).toBe(true)
  const ended = send(client, ends)
  await client.destroy()
  const afterwards = new TestSocket()
  open(afterwards)
  expect(afterwards.destroyed).toBe(true)
  await ended
  expect(ends[1]).toMatchObject({ kind: 'breakdown', code: 'CLIENT_CLOSED', sent: false })
})

test('a connector that throws ends the request that needed it, and is called again by the next', async () => {
  const openings: buildConnector.Callback[] = []
  let throws = true
  const client = new Http1Client({
    url: new URL('http://127.0.0.1:1'),
    timeoutMs: 60_000,
    received: new ReceivedBytes(),
    reuse: new ConnectionReuse(),
    createConnector: () => ({
      connect(_, callback) {
        if (throws) throw Object.assign(new RangeError('no such port'), { code: 'ERR_SOCKET_BAD_PORT' })
        openings.push(callback)
      },
      takePhases: () => null,
      abort: () => {},
    }),
  })
  onTestFinished(() => client.destroy())
  const ends: Exchange[] = []
  let hasReturned = false
  await new Promise<void>((resolve) => {
    client.send(REQUEST, (exchange) => {
      expect(hasReturned).toBe(true)
      ends.push(exchange)
      resolve()
    })
    hasReturned = true
  })
  expect(ends).toMatchObject([
    { kind: 'breakdown', code: 'ERR_SOCKET_BAD_PORT', message: 'no such port', sent: false },
  ])

  throws = false
  const socket = new TestSocket()
  const ended = send(client, ends)
  openings[0]?.(null, socket as unknown as Socket)
  socket.push(toAnswer('x'))
  await ended
  expect(ends[1]).toMatchObject({ kind: 'answer', body: 'x' })
})

test('events on an abandoned connection do not affect the next request', async () => {
  const { client, open } = createClient(50)
  const ends: Exchange[] = []
  const [first, second] = [new TestSocket(), new TestSocket()]
  const timedOut = send(client, ends)
  open(first)
  await timedOut
  const answered = send(client, ends)
  open(second)
  first.emit('data', Buffer.from(toAnswer('late')))
  first.emit('error', new Error('late'))
  first.emit('end')
  second.push(toAnswer('right'))
  await answered
  expect(ends).toMatchObject([
    { kind: 'breakdown', code: 'TIMEOUT', sent: true },
    { kind: 'answer', body: 'right' },
  ])
})

test('the idle timer of a connection does not close the connection after it', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  onTestFinished(() => {
    vi.useRealTimers()
  })
  const { client, open } = createClient()
  const ends: Exchange[] = []
  const [first, second] = [new TestSocket(), new TestSocket()]
  const answered = send(client, ends)
  open(first)
  first.push(toAnswer('one').replace('\r\n', '\r\nkeep-alive: timeout=1\r\n'))
  await answered
  const next = send(client, ends)
  open(second)
  vi.advanceTimersByTime(20)
  second.push(toAnswer('two'))
  await next
  expect(ends).toMatchObject([{ body: 'one' }, { body: 'two' }])
  expect(first.destroyed).toBe(true)
})

test('the error of a request that could not be sent is not reported for the next one', async () => {
  const { client } = createClient()
  const ends: Exchange[] = []
  const ended = new Promise<void>((resolve) => {
    client.send({ ...REQUEST, target: 'a b' }, (exchange) => {
      ends.push(exchange)
      client.send(REQUEST, (next) => {
        ends.push(next)
        resolve()
      })
    })
  })
  await client.destroy()
  await ended
  expect(ends).toMatchObject([{ code: 'CLIENT_CLOSED' }, { code: 'CLIENT_CLOSED' }])
})

test("an answer that only its connection's end completes is cut if it breaks off otherwise", async () => {
  const { client, open } = createClient()
  const ends: Exchange[] = []
  for (const finish of [
    (socket: TestSocket) => socket.push(null),
    (socket: TestSocket) => socket.destroy(),
    (socket: TestSocket) => socket.destroy(Object.assign(new Error('reset'), { code: 'ECONNRESET' })),
  ]) {
    const socket = new TestSocket()
    const ended = send(client, ends)
    open(socket)
    socket.push('HTTP/1.1 200 OK\r\n\r\npart')
    setImmediate(() => finish(socket))
    await ended
  }
  expect(ends).toMatchObject([
    { kind: 'answer', body: 'part' },
    { kind: 'breakdown', code: 'CONNECTION_CLOSED', status: 200, sent: true },
    { kind: 'breakdown', code: 'ECONNRESET', status: 200, sent: true },
  ])
})

test('a request waits until everything that came on its used connection was read', async () => {
  const { client, open } = createClient()
  const ends: Exchange[] = []
  const [first, second] = [new TestSocket(), new TestSocket()]
  const answered = send(client, ends)
  open(first)
  first.push(toAnswer('one'))
  await answered
  const next = send(client, ends)
  expect(first.written.match(/POST/g)).toHaveLength(1)
  first.push(toAnswer('stray'))
  await new Promise((resolve) => first.once('close', resolve))
  while (!open(second)) await new Promise((resolve) => setImmediate(resolve))
  second.push(toAnswer('two'))
  await next
  expect(ends).toMatchObject([{ body: 'one' }, { body: 'two' }])
})

test('a request whose used connection ended before its turn goes out on a new one', async () => {
  const { client, open } = createClient()
  const ends: Exchange[] = []
  const [first, second] = [new TestSocket(), new TestSocket()]
  const answered = send(client, ends)
  open(first)
  first.push(toAnswer('one'))
  await answered
  const next = send(client, ends)
  first.push(null)
  while (!open(second)) await new Promise((resolve) => setImmediate(resolve))
  second.push(toAnswer('two'))
  await next
  expect(first.written.match(/POST/g)).toHaveLength(1)
  expect(ends).toMatchObject([{ body: 'one' }, { body: 'two' }])
})

test('a connection that took too long to open does not fail the request after it', async () => {
  const { client, openings, open } = createClient(50)
  const ends: Exchange[] = []
  await send(client, ends)
  const [late] = openings.splice(0)
  const next = send(client, ends)
  late?.(Object.assign(new Error('too late'), { code: 'UND_ERR_CONNECT_TIMEOUT' }), null)
  const socket = new TestSocket()
  open(socket)
  socket.push(toAnswer('two'))
  await next
  expect(ends).toMatchObject([{ code: 'TIMEOUT', sent: false }, { body: 'two' }])
})

test('an idle connection is closed after 4 s if the service does not say how long it keeps it', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  onTestFinished(() => {
    vi.useRealTimers()
  })
  const { client, open } = createClient()
  const socket = new TestSocket()
  const answered = send(client, [])
  open(socket)
  socket.push(toAnswer('one'))
  await answered
  vi.advanceTimersByTime(3_990)
  expect(socket.destroyed).toBe(false)
  vi.advanceTimersByTime(20)
  expect(socket.destroyed).toBe(true)
})
