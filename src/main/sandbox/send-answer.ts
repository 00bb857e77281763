import { TLSSocket } from 'node:tls'
import type { FastifyReply } from 'fastify'
import { RETRY_AFTER_HEADER } from '../../shared/service/endpoints.ts'
import type { DecidedFault } from './faults.ts'
import { SANDBOX_ERRORS, type SandboxErrorCode, toErrorBody, toRefusal } from './sandbox-errors.ts'

const JSON_TYPE = 'application/json; charset=utf-8'

/** Error codes of faults by status; others have `INJECTED_FAULT`. */
const FAULT_CODES: Record<number, string> = {
  403: 'INVALID_API_KEY',
  429: 'RATE_LIMITED',
  500: 'INTERNAL_ERROR',
  502: 'BAD_GATEWAY',
  503: 'SERVICE_UNAVAILABLE',
  504: 'GATEWAY_TIMEOUT',
}

const HTML_PAGE =
  '<!doctype html><html><head><title>Sandbox gateway</title></head><body><h1>This is not the answer</h1></body></html>'

/** Sends JSON text unchanged. */
export function sendJson(reply: FastifyReply, status: number, text: string): void {
  reply.code(status).header('content-type', JSON_TYPE).send(text)
}

/** Sends an error in the shape of docs/interface.md §7, with Retry-After if given. */
export function sendError(
  reply: FastifyReply,
  error: { status: number; errorCode: string; message: string; retryAfterS?: number | null },
): void {
  if (error.retryAfterS !== null && error.retryAfterS !== undefined) {
    reply.header(RETRY_AFTER_HEADER, String(error.retryAfterS))
  }
  sendJson(reply, error.status, JSON.stringify(toErrorBody(error.status, error.errorCode, error.message)))
}

/**
 * Answers anything thrown with the matching refusal, and returns its code. `statuses` are the endpoint's own
 * statuses of codes.
 */
export function sendRefusal(
  reply: FastifyReply,
  error: unknown,
  statuses: Partial<Record<SandboxErrorCode, number>> = {},
): SandboxErrorCode {
  const { errorCode, message, retryAfterS } = toRefusal(error)
  const status = statuses[errorCode] ?? SANDBOX_ERRORS[errorCode]
  sendError(reply, { status, errorCode, message, retryAfterS })
  return errorCode
}

/** Carries out the fault. `answer` is the regular answer; null if the task was not accepted. */
export function sendFault(reply: FastifyReply, { fault, status }: DecidedFault, answer: string | null): void {
  switch (fault.kind) {
    case 'status':
      sendError(reply, {
        status,
        errorCode: FAULT_CODES[status] ?? 'INJECTED_FAULT',
        message: `fault ${fault.name} of the sandbox`,
        retryAfterS: fault.retryAfterS,
      })
      return
    case 'html':
      reply.code(status).header('content-type', 'text/html; charset=utf-8').send(HTML_PAGE)
      return
    case 'broken-json':
      sendJson(reply, 200, toHalf(answer))
      return
    case 'truncated':
      sendTruncated(reply, answer ?? '')
      return
    case 'reset':
      resetConnection(reply)
      return
    case 'stall':
      if (fault.stallMs !== null) setTimeout(() => endStall(reply, answer), fault.stallMs).unref()
      return
    default:
      fault.kind satisfies never
  }
}

function endStall(reply: FastifyReply, answer: string | null): void {
  if (answer !== null) sendJson(reply, 200, answer)
  else sendError(reply, { status: 504, errorCode: 'GATEWAY_TIMEOUT', message: 'fault stall of the sandbox' })
}

/** Half of a JSON object is never JSON. */
function toHalf(answer: string | null): string {
  return (answer ?? '{}').slice(0, Math.max(1, Math.floor((answer ?? '').length / 2)))
}

function sendTruncated(reply: FastifyReply, answer: string): void {
  reply.hijack()
  const { raw } = reply
  raw.writeHead(200, { 'content-type': JSON_TYPE, 'content-length': Buffer.byteLength(answer) })
  raw.write(toHalf(answer), () => raw.socket?.destroy())
}

function resetConnection(reply: FastifyReply): void {
  reply.hijack()
  const { socket } = reply.raw
  // Only a plain TCP socket can send a reset; a TLS socket is just destroyed.
  if (socket === null || socket instanceof TLSSocket) socket?.destroy()
  else socket.resetAndDestroy()
}
