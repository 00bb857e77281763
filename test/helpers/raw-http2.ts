import type { AddressInfo, Socket } from 'node:net'
import { createServer, type TLSSocket, type TlsOptions } from 'node:tls'
import { onTestFinished } from 'vitest'

const PREFACE = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'

const TYPES = { data: 0, headers: 1, reset: 3, settings: 4, ping: 6, goaway: 7, windowUpdate: 8 } as const
const MAX_CONCURRENT_STREAMS = 3

/** Flag of DATA and HEADERS that ends a stream (RFC 9113 §6.1). */
export const END_STREAM = 1
const ACK = 1
const END_HEADERS = 4

/** Codes of RST_STREAM and GOAWAY (RFC 9113 §7). */
export const H2_CODES = { noError: 0, internal: 2, refused: 7, cancel: 8, enhanceYourCalm: 11 } as const

/** A test's actions on one connection, on which nothing else is sent except SETTINGS and acks. */
export interface RawHttp2Wire {
  /** Number of the connection, from 0. */
  connection: number
  /** HEADERS; without a status they are trailers. */
  headers(
    stream: number,
    status: number | null,
    options?: { flags?: number; fields?: Record<string, string> },
  ): void
  data(stream: number, bytes: string | Buffer, flags?: number): void
  reset(stream: number, code: number): void
  goaway(lastStream: number, code: number): void
  settings(maxConcurrentStreams: number): void
  /** Collects what follows and writes it in one piece, so that it arrives in one read. */
  together(act: () => void): void
  /** Closes gracefully (FIN). */
  end(): void
  /** Closes immediately. */
  destroy(): void
}

/**
 * A TLS server that sends HTTP/2 frames as a test commands. `onRequest` is called after a request's HEADERS;
 * its first SETTINGS contain `maxConcurrentStreams`; null for a server that sends nothing at all.
 */
export async function startRawHttp2Server(options: {
  tls: TlsOptions
  onRequest: (wire: RawHttp2Wire, stream: number, count: number) => void
  maxConcurrentStreams?: number | null
  onConnection?: (wire: RawHttp2Wire) => void
  answersPings?: boolean
  /**
   * Whether a GOAWAY of the client ends the connection at once with everything in flight, as with hypercorn.
   */
  endsAtGoaway?: boolean
}): Promise<{ baseUrl: string; connections: number; requests: number; resets: number[] }> {
  const state = { baseUrl: '', connections: 0, requests: 0, resets: [] as number[] }
  const sockets = new Set<Socket>()
  const isSilent = options.maxConcurrentStreams === null
  const server = createServer({ ...options.tls, ALPNProtocols: ['h2'] }, (socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.setNoDelay()
    socket.on('close', () => sockets.delete(socket))
    const wire = createWire(socket, state.connections)
    state.connections += 1
    if (!isSilent) wire.settings(options.maxConcurrentStreams ?? 100)
    options.onConnection?.(wire)
    readFrames(socket, ({ type, flags, stream, payload }) => {
      if (isSilent) return
      if (type === TYPES.settings && (flags & ACK) === 0) writeFrame(socket, TYPES.settings, ACK, 0, '')
      if (type === TYPES.ping && (flags & ACK) === 0 && options.answersPings !== false)
        writeFrame(socket, TYPES.ping, ACK, 0, payload)
      if (type === TYPES.goaway && options.endsAtGoaway === true) socket.destroy()
      if (type === TYPES.reset) state.resets.push(payload.readUInt32BE(0))
      if (type === TYPES.headers) {
        state.requests += 1
        options.onRequest(wire, stream, state.requests)
      }
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  state.baseUrl = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
  return state
}

function createWire(socket: TLSSocket, connection: number): RawHttp2Wire {
  const toUInt32 = (...values: number[]): Buffer => {
    const bytes = Buffer.alloc(4 * values.length)
    for (const [at, value] of values.entries()) bytes.writeUInt32BE(value, 4 * at)
    return bytes
  }
  let gathered: Buffer[] | null = null
  const write = (type: number, flags: number, stream: number, payload: Buffer | string): void => {
    const frame = toFrame(type, flags, stream, payload)
    if (gathered === null) socket.write(frame)
    else gathered.push(frame)
  }
  return {
    connection,
    headers: (stream, status, { flags = 0, fields = {} } = {}) =>
      write(TYPES.headers, END_HEADERS | flags, stream, toHeaderBlock(status, fields)),
    data: (stream, bytes, flags = 0) => write(TYPES.data, flags, stream, bytes),
    reset: (stream, code) => write(TYPES.reset, 0, stream, toUInt32(code)),
    goaway: (lastStream, code) => write(TYPES.goaway, 0, 0, toUInt32(lastStream, code)),
    settings(streams) {
      const payload = Buffer.concat([Buffer.from([0, MAX_CONCURRENT_STREAMS]), toUInt32(streams)])
      write(TYPES.settings, 0, 0, payload)
    },
    together(act) {
      gathered = []
      act()
      socket.write(Buffer.concat(gathered))
      gathered = null
    },
    end: () => socket.end(),
    destroy: () => socket.destroy(),
  }
}

/** HPACK (RFC 7541) without tables of its own: an index for 200, literals for the rest. */
function toHeaderBlock(status: number | null, fields: Record<string, string>): Buffer {
  const literal = (text: string): Buffer => Buffer.concat([Buffer.from([text.length]), Buffer.from(text)])
  const named = status === null || status === 200 ? [] : [Buffer.from([8]), literal(String(status))]
  const first = status === 200 ? [Buffer.from([0x88])] : named
  const others = Object.entries(fields).map(([name, value]) =>
    Buffer.concat([Buffer.from([0]), literal(name), literal(value)]),
  )
  return Buffer.concat([...first, ...others])
}

function toFrame(type: number, flags: number, stream: number, payload: Buffer | string): Buffer {
  const body = Buffer.from(payload)
  const head = Buffer.alloc(9)
  head.writeUIntBE(body.length, 0, 3)
  head[3] = type
  head[4] = flags
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, body])
}

function writeFrame(
  socket: Socket,
  type: number,
  flags: number,
  stream: number,
  payload: Buffer | string,
): void {
  if (!socket.destroyed) socket.write(toFrame(type, flags, stream, payload))
}

function readFrames(
  socket: Socket,
  onFrame: (frame: { type: number; flags: number; stream: number; payload: Buffer }) => void,
): void {
  let rest = Buffer.alloc(0)
  let hasPreface = false
  socket.on('data', (bytes: Buffer) => {
    rest = Buffer.concat([rest, bytes])
    if (!hasPreface && rest.length >= PREFACE.length) {
      hasPreface = true
      rest = rest.subarray(PREFACE.length)
    }
    while (hasPreface && rest.length >= 9) {
      const end = 9 + rest.readUIntBE(0, 3)
      if (rest.length < end) return
      const [type = 0, flags = 0] = rest.subarray(3, 5)
      const frame = { type, flags, stream: rest.readUInt32BE(5), payload: rest.subarray(9, end) }
      rest = rest.subarray(end)
      onFrame(frame)
    }
  })
}
