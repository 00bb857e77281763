import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { ErrorMessage } from '../../shared/messages/error-messages.ts'
import { createDocumentHeaders } from '../renderer-files/document-headers.ts'

/** What connections of the window's listener may hold on to; a browser opens a handful of them. */
export const LISTENER_LIMITS = {
  /** Longest time for a request's head, milliseconds. */
  headMs: 10_000,
  /** Longest time in which a connection may neither give nor take a byte, milliseconds. */
  stallMs: 30_000,
  /** How often heads are looked at, milliseconds. */
  checkEveryMs: 1_000,
  /** Connections at once; more are closed as they come. */
  connections: 1_000,
}

export type ListenerLimits = typeof LISTENER_LIMITS

/**
 * Makes a server whose half-sent requests and unread downloads end. A request as a whole is not timed, since a big
 * upload to a slow disk takes its time: it may go on as long as bytes come.
 */
export function createBoundedServer(limits: ListenerLimits = LISTENER_LIMITS): Server {
  const server = createServer({
    requestTimeout: 0,
    headersTimeout: limits.headMs,
    connectionsCheckingInterval: limits.checkEveryMs,
  })
  server.maxConnections = limits.connections
  server.setTimeout(limits.stallMs, (socket) => socket.destroy())
  return server
}

/** Has a server listen on loopback, 0 for a free port; returns the port. */
export function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', () => resolve((server.address() as AddressInfo).port))
  })
}

/** Why a request is refused, as an HTTP status and a sentence. */
export interface Refusal {
  status: number
  reason: string
}

/** The one page that another site, or a file, may lead to. */
export const ENTRY_PATH = '/enter'

const SAFE_METHODS = new Set(['GET', 'HEAD'])

/**
 * Refuses what does not come from our own page: another host name (DNS rebinding), another origin, another site. Null
 * if nothing speaks against the request. Whether the browser was let in is another question.
 */
export function checkRequest(request: IncomingMessage, origin: string): Refusal | null {
  const { method = '', headers, url = '' } = request
  if (headers.host !== new URL(origin).host)
    return { status: 421, reason: 'This address is not served here.' }
  const isUpgrade = headers.upgrade !== undefined
  const mustNameOrigin = isUpgrade || !SAFE_METHODS.has(method)
  if (headers.origin === undefined ? mustNameOrigin : headers.origin !== origin) {
    return { status: 403, reason: 'Requests from other origins are refused.' }
  }
  const site = headers['sec-fetch-site']
  const isEntry = method === 'GET' && url === ENTRY_PATH && headers['sec-fetch-mode'] === 'navigate'
  if (site === undefined || site === 'same-origin' || site === 'none' || isEntry) return null
  return { status: 403, reason: 'Requests from other sites are refused.' }
}

/** Longest time for a short body, milliseconds. */
const BODY_MS = 10_000

/** Reads a request's body as text; null if it is longer than `maxBytes` or does not arrive whole in 10 seconds. */
export async function readShortText(request: IncomingMessage, maxBytes: number): Promise<string | null> {
  const timer = setTimeout(() => request.destroy(), BODY_MS)
  const chunks: Buffer[] = []
  let sizeBytes = 0
  try {
    for await (const chunk of request) {
      const bytes = Buffer.from(chunk)
      sizeBytes += bytes.length
      if (sizeBytes > maxBytes) return null
      chunks.push(bytes)
    }
  } catch {
    return null
  } finally {
    clearTimeout(timer)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** Sends a whole answer, never to be kept by a cache unless the headers say otherwise. */
export function sendAnswer(
  response: ServerResponse,
  status: number,
  body: string | Buffer,
  headers: Record<string, string>,
): void {
  if (response.headersSent || response.destroyed) return
  response.writeHead(status, {
    'cache-control': 'no-store',
    ...headers,
    'content-length': String(Buffer.byteLength(body)),
  })
  response.end(response.req.method === 'HEAD' ? undefined : body)
}

export function sendText(response: ServerResponse, status: number, text: string): void {
  sendAnswer(response, status, `${text}\n`, {
    ...createDocumentHeaders(''),
    'content-type': 'text/plain; charset=utf-8',
  })
}

export function sendJson(response: ServerResponse, status: number, value: unknown): void {
  sendAnswer(response, status, JSON.stringify(value), {
    ...createDocumentHeaders(''),
    'content-type': 'application/json; charset=utf-8',
  })
}

/** Sends an error as the page reads it, and ends the connection, since its request may not be read to the end. */
export function sendError(response: ServerResponse, status: number, error: ErrorMessage): void {
  response.setHeader('connection', 'close')
  sendJson(response, status, error)
}

/** Refuses without reading the request's body, and so ends its connection. */
export function refuse(response: ServerResponse, status: number, reason: string): void {
  response.setHeader('connection', 'close')
  sendText(response, status, reason)
}
