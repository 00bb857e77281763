import { type AddressInfo, createServer, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { parentPort, workerData } from 'node:worker_threads'
import type { OddServerOptions } from './start-odd-server.ts'

const { tls, oddity, leftUs, connections } = workerData as OddServerOptions & {
  leftUs: Float64Array
  connections: Int32Array
}
let answers = 0
let requests = 0

// Its bombs take a while to make.
const hostile = oddity.kind === 'hostile' ? await import('./write-hostile-answer.ts') : null

/** Unix microseconds, by the clock that a client's timings use. */
const nowUs = (): number => (performance.timeOrigin + performance.now()) * 1000

const toAnswer = (body: object): string => {
  const text = JSON.stringify(body)
  return `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`
}

/** Writes an answer under a number of its own, and notes when it had left. */
function send(socket: Socket, taskId: string, before = ''): void {
  const number = answers
  answers += 1
  socket.write(before + toAnswer({ task_id: `${taskId}/${number}`, triggered_rules: [] }), () => {
    leftUs[number] = nowUs()
  })
}

function answer(socket: Socket, body: string): void {
  const { post_id } = JSON.parse(body) as { post_id: string }
  switch (oddity.kind) {
    case 'none':
      send(socket, post_id)
      break
    case 'stray':
      if (oddity.when === 'together') {
        send(socket, 'stray', toAnswer({ task_id: `${post_id}/-1`, triggered_rules: [] }))
        break
      }
      send(socket, post_id)
      if (oddity.when === 'apart') send(socket, 'stray')
      else setTimeout(() => send(socket, 'stray'), oddity.when)
      break
    case 'closing':
      send(socket, post_id)
      if (oddity.afterMs >= 1) setTimeout(() => socket.end(), oddity.afterMs)
      else setImmediate(() => closeAfter(socket, oddity.afterMs))
      break
    case 'idle':
      send(socket, post_id)
      socket.setTimeout(oddity.afterMs)
      break
    case 'dropping':
      requests += 1
      if (requests % oddity.every === 0) socket.destroy()
      else send(socket, post_id)
      break
    case 'hostile':
      hostile?.writeHostileAnswer(socket, post_id, oddity.seed)
      break
  }
}

/** Closes after less than a timer can count. */
function closeAfter(socket: Socket, ms: number): void {
  const endMs = performance.now() + ms
  while (performance.now() < endMs);
  socket.end()
}

function serve(socket: Socket): void {
  let rest = ''
  Atomics.add(connections, 0, 1)
  socket.on('timeout', () => socket.end())
  // Whatever the other end does to it.
  socket.on('error', () => {})
  socket.setNoDelay(true)
  socket.on('data', (bytes: Buffer) => {
    rest += bytes.toString('latin1')
    for (;;) {
      const headEnd = rest.indexOf('\r\n\r\n')
      if (headEnd < 0) return
      const length = Number(/\r\ncontent-length: (\d+)/i.exec(rest.slice(0, headEnd))?.[1] ?? 0)
      const bodyEnd = headEnd + 4 + length
      if (rest.length < bodyEnd) return
      const body = rest.slice(headEnd + 4, bodyEnd)
      rest = rest.slice(bodyEnd)
      answer(socket, body)
    }
  })
}

const server = tls === undefined ? createServer(serve) : createTlsServer(tls, serve)
server.on('tlsClientError', () => {})
server.listen(0, '127.0.0.1', () => parentPort?.postMessage((server.address() as AddressInfo).port))
