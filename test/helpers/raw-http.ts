import { connect, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

/** An answer as received. */
export interface RawAnswer {
  /** 0 if the connection was closed without an answer. */
  status: number
  /** Names in lower case. */
  headers: Record<string, string>
  body: Buffer
}

/** Opens a connection, closed when the current test ends. */
export async function openSocket(baseUrl: string): Promise<Socket> {
  const { hostname, port } = new URL(baseUrl)
  const socket = connect(Number(port), hostname)
  onTestFinished(() => {
    socket.destroy()
  })
  socket.on('error', () => {})
  await new Promise((resolve) => socket.once('connect', resolve))
  return socket
}

/** Writes bytes unchanged and reads everything until the other end closes. */
export async function sendRaw(baseUrl: string, bytes: string | Buffer): Promise<RawAnswer> {
  const socket = await openSocket(baseUrl)
  const answer = readAnswer(socket)
  socket.write(bytes)
  return answer
}

/** Sends a request whose target stays unchanged, while other clients would normalize it. */
export function requestRaw(
  baseUrl: string,
  method: string,
  target: string,
  headers: Record<string, string> = {},
  body = '',
): Promise<RawAnswer> {
  const all = {
    host: 'receiver',
    connection: 'close',
    ...(body === '' ? {} : { 'content-length': String(Buffer.byteLength(body)) }),
    ...headers,
  }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return sendRaw(baseUrl, `${method} ${target} HTTP/1.1\r\n${lines.join('')}\r\n${body}`)
}

/** Reads everything until the other end closes. */
export async function readAnswer(socket: Socket): Promise<RawAnswer> {
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  await new Promise((resolve) => socket.once('close', resolve))
  const all = Buffer.concat(chunks)
  const end = all.indexOf('\r\n\r\n')
  const [first = '', ...lines] = all.subarray(0, Math.max(0, end)).toString('latin1').split('\r\n')
  return {
    status: Number(first.split(' ')[1] ?? 0),
    headers: Object.fromEntries(
      lines.map((line) => {
        const at = line.indexOf(':')
        return [line.slice(0, at).toLowerCase(), line.slice(at + 1).trim()]
      }),
    ),
    body: all.subarray(end + 4),
  }
}
