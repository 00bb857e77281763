import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { ErrorMessage } from '../../shared/messages/error-messages.ts'
import { createDocumentHeaders } from '../renderer-files/document-headers.ts'

/** Limits for connections to the window's server; a browser opens only a few. */
export const LISTENER_LIMITS = {
  /** Longest time for a request's head, milliseconds. */
  headMs: 10_000,
  /** Longest time without any byte in either direction, milliseconds. */
  stallMs: 30_000,
  /** How often heads are checked, milliseconds. */
  checkEveryMs: 1_000,
  /** Most connections at once; further ones are closed on arrival. */
  connections: 1_000,
}

export type ListenerLimits = typeof LISTENER_LIMITS

/**
 * Creates a server that ends half-sent requests and unread downloads. A whole request has no time limit,
 * since a big upload to a slow disk may continue as long as bytes arrive.
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

/** Starts listening on loopback, 0 for a free port; returns the port. */
export function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', () => resolve((server.address() as AddressInfo).port))
  })
}

/** Why a request is refused: an HTTP status and a sentence. */
export interface Refusal {
  status: number
  reason: string
}

/** The only page that other sites or files may link to. */
export const ENTRY_PATH = '/enter'

const SAFE_METHODS = new Set(['GET', 'HEAD'])

/**
 * Refuses requests that do not come from our own page: with another host name (DNS rebinding), another origin
 * or another site. Returns null for all others; whether the browser was let in is checked elsewhere.
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

/** Longest time for a short body to arrive, milliseconds. */
const BODY_MS = 10_000

/** Reads a request's body as text; null if it exceeds `maxBytes` or is incomplete after 10 seconds. */
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

/** Sends a complete answer, which no cache may keep unless the headers say otherwise. */
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

/** Sends an error as the page reads it, and ends the connection: the request may not have been read whole. */
export function sendError(response: ServerResponse, status: number, error: ErrorMessage): void {
  response.setHeader('connection', 'close')
  sendJson(response, status, error)
}

/** Refuses without reading the request's body, and therefore ends the connection. */
export function refuse(response: ServerResponse, status: number, reason: string): void {
  response.setHeader('connection', 'close')
  sendText(response, status, reason)
}
