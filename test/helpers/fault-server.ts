import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer, type TlsOptions } from 'node:tls'
import { onTestFinished } from 'vitest'

/** A request as received. */
export interface WireRequest {
  method: string
  path: string
  /** By lower-case name. */
  headers: Record<string, string>
  body: string
  /** 1 for the server's first request. */
  number: number
  /** 1 for the server's first connection. */
  connection: number
}

/** Ways to answer a request, correct and incorrect. */
export interface Wire {
  socket: Socket
  /** A complete answer with a JSON body, or with a text unchanged. */
  send(status: number, body: unknown, headers?: Record<string, string>): void
  /** Bytes unchanged. */
  raw(text: string): void
  /** Closes the connection with an RST. */
  reset(): void
  /** Writes a piece repeatedly until the connection ends. */
  drip(piece: string): void
}

/** The behaviour of a fault server. */
export interface FaultServerOptions {
  /** Answers a request; without it, no request is answered. */
  onRequest?: (request: WireRequest, wire: Wire) => void
  /** Called for a connection before anything is read from it; returns true to read nothing. */
  onConnection?: (socket: Socket) => boolean
  tls?: { key: string; cert: string } & Pick<TlsOptions, 'ca' | 'requestCert'>
}

/** A service that misbehaves on the wire in the way a test wants, and records what arrives. */
export interface FaultServer {
  baseUrl: string
  port: number
  requests: WireRequest[]
  /** Connections so far. */
  connections: number
  /** Completely received requests that are not answered yet, now and at most. */
  open: number
  maxOpen: number
  /** Resolves after this many requests. */
  arrivals(count: number): Promise<void>
  close(): Promise<void>
}

/** How often {@link Wire.drip} writes, milliseconds. */
const DRIP_MS = 15

/** Starts a server on a free port of 127.0.0.1, closed when the current test ends. */
export async function startFaultServer(options: FaultServerOptions = {}): Promise<FaultServer> {
  const server = await listenForFaults(options)
  onTestFinished(() => server.close())
  return server
}

/** Starts a server that the caller closes; on a free port by default. */
export async function listenForFaults(options: FaultServerOptions, ownPort = 0): Promise<FaultServer> {
  const sockets = new Set<Socket>()
  const awaited: { count: number; resolve: () => void }[] = []
  const onSocket = (socket: Socket): void => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    // The test is about the behaviour of the other side, so its errors do not matter.
    socket.on('error', () => {})
    // Each request of a connection listens for its end.
    socket.setMaxListeners(0)
    record.connections += 1
    const connection = record.connections
    if (options.onConnection?.(socket) === true) return
    readRequests(socket, (parts) => {
      const request = { ...parts, number: record.requests.length + 1, connection }
      record.requests.push(request)
      record.open += 1
      record.maxOpen = Math.max(record.maxOpen, record.open)
      for (const { count, resolve } of awaited) if (record.requests.length >= count) resolve()
      options.onRequest?.(request, createWire(socket, record))
    })
  }
  const server: Server =
    options.tls === undefined ? createServer(onSocket) : createTlsServer(options.tls, onSocket)
  // A handshake that the client aborted.
  server.on('tlsClientError', () => {})
  await new Promise<void>((resolve) => server.listen(ownPort, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const record: FaultServer = {
    baseUrl: `${options.tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    port,
    requests: [],
    connections: 0,
    open: 0,
    maxOpen: 0,
    arrivals: (count) =>
      new Promise((resolve) => {
        if (record.requests.length >= count) resolve()
        else awaited.push({ count, resolve })
      }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        for (const socket of sockets) socket.destroy()
      }),
  }
  return record
}

/** A port of 127.0.0.1 that nobody listens on. */
export async function findClosedPort(): Promise<number> {
  const server = await listenForFaults({})
  await server.close()
  return server.port
}

/** The service's answer to an accepted task (docs/interface.md §2.2). */
export function toTaskAnswer(request: WireRequest, rules: { rule_id: string; rule_name: string }[] = []) {
  const { post_id, user_id } = JSON.parse(request.body) as Record<string, unknown>
  return { task_id: `task-${String(post_id)}`, post_id, user_id, triggered_rules: rules }
}

/** An error body (docs/interface.md §7). */
export function toErrorAnswer(status: number, errorCode: string, message: string) {
  return { error: true, status, error_code: errorCode, message, show_alert: false }
}

function createWire(socket: Socket, record: FaultServer): Wire {
  let isOpen = true
  const close = (): void => {
    if (isOpen) record.open -= 1
    isOpen = false
  }
  socket.once('close', close)
  return {
    socket,
    send(status, body, headers = {}) {
      close()
      const text = typeof body === 'string' ? body : JSON.stringify(body)
      const lines = Object.entries({
        'content-type': 'application/json',
        'content-length': String(Buffer.byteLength(text)),
        ...headers,
      }).map(([name, value]) => `${name}: ${value}\r\n`)
      socket.write(`HTTP/1.1 ${status} Status\r\n${lines.join('')}\r\n${text}`)
    },
    raw: (text) => {
      close()
      socket.write(text)
    },
    reset: () => socket.resetAndDestroy(),
    drip(piece) {
      const timer = setInterval(() => socket.write(piece), DRIP_MS)
      socket.once('close', () => clearInterval(timer))
    },
  }
}

/** Reads HTTP/1.1 requests with a content-length, one after another. */
function readRequests(
  socket: Socket,
  onRequest: (request: Omit<WireRequest, 'number' | 'connection'>) => void,
): void {
  let rest = Buffer.alloc(0)
  socket.on('data', (chunk: Buffer) => {
    rest = Buffer.concat([rest, chunk])
    for (;;) {
      const headEnd = rest.indexOf('\r\n\r\n')
      if (headEnd < 0) return
      const [start = '', ...lines] = rest.subarray(0, headEnd).toString('latin1').split('\r\n')
      const headers = Object.fromEntries(
        lines.map((line) => {
          const colon = line.indexOf(':')
          return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
        }),
      )
      const bodyEnd = headEnd + 4 + Number(headers['content-length'] ?? 0)
      if (rest.length < bodyEnd) return
      const body = rest.subarray(headEnd + 4, bodyEnd).toString('utf8')
      rest = rest.subarray(bodyEnd)
      const [method = '', path = ''] = start.split(' ')
      onRequest({ method, path, headers, body })
    }
  })
}
