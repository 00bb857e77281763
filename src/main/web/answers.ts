import type { ServerResponse } from 'node:http'
import type { ErrorMessage } from '../../shared/messages/error-messages.ts'
import { createDocumentHeaders } from '../renderer-files/document-headers.ts'

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

/** Sends a sentence. */
export function sendText(response: ServerResponse, status: number, text: string): void {
  sendAnswer(response, status, `${text}\n`, {
    ...createDocumentHeaders(''),
    'content-type': 'text/plain; charset=utf-8',
  })
}

/** Sends a value as JSON. */
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
