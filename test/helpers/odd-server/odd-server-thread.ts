import { type AddressInfo, createServer, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { parentPort, workerData } from 'node:worker_threads'
import { type Arrival, readClockUs, toArrival } from '../history/recording.ts'
import type { OddServerOptions } from './start-odd-server.ts'

const { tls, oddity, leftUs, connections } = workerData as OddServerOptions & {
  leftUs: Float64Array
  connections: Int32Array
}
let answers = 0
let requests = 0

// Its bombs take a while to create.
const hostile = oddity.kind === 'hostile' ? await import('./write-hostile-answer.ts') : null

/** Unix microseconds, by the same clock as a client's timings. */
const nowUs = (): number => (performance.timeOrigin + performance.now()) * 1000

const toText = (postId: string, number: number): string =>
  JSON.stringify({ task_id: `${postId}/${number}`, post_id: postId, triggered_rules: [] })

const toAnswer = (text: string): string => {
  return `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`
}

type Told = Pick<Arrival, 'status' | 'took' | 'answer'>

const toTold = (answer: string): Told => ({ status: 200, took: true, answer })

/** Writes an answer with its own number, and notes when it was sent. */
function send(socket: Socket, postId: string, before = ''): Told {
  const number = answers
  answers += 1
  const text = toText(postId, number)
  socket.write(before + toAnswer(text), () => {
    leftUs[number] = nowUs()
  })
  return toTold(text)
}

/** Answers a request, and returns what a recording should say about it. */
function answer(socket: Socket, body: string): Told {
  const { post_id } = JSON.parse(body) as { post_id: string }
  switch (oddity.kind) {
    case 'stray':
      return sendWithStray(socket, post_id, oddity.when)
    case 'dropping':
      requests += 1
      if (requests % oddity.every > 0) return send(socket, post_id)
      socket.destroy()
      return { status: null, took: true, answer: null }
    case 'hostile':
      hostile?.writeHostileAnswer(socket, post_id, oddity.seed)
      // Any readable part of it has this status.
      return { status: 200, took: null, answer: null }
  }
  const told = send(socket, post_id)
  if (oddity.kind === 'idle') socket.setTimeout(oddity.afterMs)
  if (oddity.kind === 'closing') {
    const { afterMs } = oddity
    if (afterMs >= 1) setTimeout(() => socket.end(), afterMs)
    else setImmediate(() => closeAfter(socket, afterMs))
  }
  return told
}

function sendWithStray(socket: Socket, postId: string, when: 'together' | 'apart' | number): Told {
  if (when === 'together') {
    const text = toText(postId, -1)
    send(socket, 'stray', toAnswer(text))
    return toTold(text)
  }
  const told = send(socket, postId)
  if (when === 'apart') send(socket, 'stray')
  else setTimeout(() => send(socket, 'stray'), when)
  return told
}

function take(socket: Socket, head: string, bytes: string): void {
  const [, path = ''] = head.split(' ', 2)
  const body = Buffer.from(bytes, 'latin1').toString()
  const atUs = readClockUs()
  parentPort?.postMessage(toArrival({ path, body }, { atUs, ...answer(socket, body) }))
}

/** Closes after less than a timer's resolution. */
function closeAfter(socket: Socket, ms: number): void {
  const endMs = performance.now() + ms
  while (performance.now() < endMs);
  socket.end()
}

function serve(socket: Socket): void {
  let rest = ''
  Atomics.add(connections, 0, 1)
  socket.on('timeout', () => socket.end())
  // The other end may do anything to it.
  socket.on('error', () => {})
  socket.setNoDelay(true)
  socket.on('data', (bytes: Buffer) => {
    rest += bytes.toString('latin1')
    for (;;) {
      const headEnd = rest.indexOf('\r\n\r\n')
      if (headEnd < 0) return
      const head = rest.slice(0, headEnd)
      const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0)
      const bodyEnd = headEnd + 4 + length
      if (rest.length < bodyEnd) return
      const body = rest.slice(headEnd + 4, bodyEnd)
      rest = rest.slice(bodyEnd)
      take(socket, head, body)
    }
  })
}

const server = tls === undefined ? createServer(serve) : createTlsServer(tls, serve)
server.on('tlsClientError', () => {})
parentPort?.on('message', () => parentPort?.postMessage('flushed'))
server.listen(0, '127.0.0.1', () => parentPort?.postMessage((server.address() as AddressInfo).port))
