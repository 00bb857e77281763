import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { isJsonObject } from '../../shared/service/json-object.ts'
import type { CallbackTicket } from './callbacks/callback-queue.ts'
import { decideFault, toFaultOutcome } from './faults.ts'
import { chooseDelayMs } from './latency.ts'
import type { SandboxContext } from './sandbox-context.ts'
import { SandboxRefusal } from './sandbox-errors.ts'
import { createDraw } from './seeded-draw.ts'
import { sendError, sendFault, sendJson } from './send-answer.ts'
import type { RequestedCallback } from './store/callback-store.ts'
import type { KeyStore } from './store/key-store.ts'

/** A valid request, ready to be carried out. */
export interface CheckedRequest {
  /** What chance depends on besides the seed; the same for a request and its repetitions. */
  key: string
  /** Which try of this key it is, from 1. */
  tryNumber: number
  /** Time of arrival on the monotonic clock. */
  arrivedMs: number
  /** Carries out the request and counts it as `outcome`. May refuse it with a `SandboxRefusal`. */
  carryOut(outcome: string): RequestResult
  /** Counts a request that a fault kept from being carried out. */
  countFault(outcome: string): void
}

/** The answer to a request, and the callback to post later. */
export interface RequestResult {
  /** JSON text. */
  answer: string
  /** Null if no callback was asked for. */
  callback: RequestedCallback | null
}

/**
 * Carries out and answers a request, with the current faults and latency. Not async: a promise per request
 * would cost too much at ten thousand a second.
 */
export function answerRequest(context: SandboxContext, reply: FastifyReply, request: CheckedRequest): void {
  const { behaviour, store } = context
  const draw = createDraw(context.options.seed, request.key, request.tryNumber)
  const fault = decideFault(behaviour.faults, request.tryNumber, draw)
  const outcome = fault === null ? 'accepted' : toFaultOutcome(fault)
  const isImmediate = fault !== null && fault.status === 429
  const delayMs = isImmediate ? 0 : chooseDelayMs(behaviour.latency, draw)
  let answer: string | null = null
  let ticket: CallbackTicket | null = null
  if (fault === null || fault.isStored) {
    const carriedOut = request.carryOut(outcome)
    answer = carriedOut.answer
    if (carriedOut.callback !== null) ticket = context.callbacks.store(carriedOut.callback, draw, delayMs)
  } else {
    request.countFault(outcome)
  }

  const send = (): void => {
    if (fault !== null) sendFault(reply, fault, answer)
    else if (answer !== null) sendJson(reply, 200, answer)
    ticket?.release()
  }
  const sendInTime = (): void => {
    const { slots } = behaviour
    if (slots !== null && delayMs > 0) {
      slots.take((release) => {
        setTimeout(() => {
          send()
          release()
        }, Math.round(delayMs)).unref()
      })
      return
    }
    const leftMs = delayMs === 0 ? 0 : delayMs - (context.clock.nowMs() - request.arrivedMs)
    if (leftMs > 0) setTimeout(send, Math.round(leftMs)).unref()
    else send()
  }
  // No answer or callback is sent before its data is committed.
  store.onCommitted((error) => {
    if (error !== null) {
      const message = 'the sandbox cannot store what it was sent'
      sendError(reply, { status: 500, errorCode: 'INTERNAL_ERROR', message })
    } else if (ticket?.isEarly === true) {
      ticket.sendEarly(sendInTime)
    } else {
      sendInTime()
    }
  })
}

const TOKEN = /^token +(\S+) *$/i

/**
 * Whether a request's authorization header is `token KEY` with a key of the project (docs/interface.md §5). A
 * missing or malformed header matches no key.
 */
export function isAuthorized(header: string | undefined, keys: KeyStore): boolean {
  const key = header === undefined ? undefined : TOKEN.exec(header)?.[1]
  return key !== undefined && keys.isValid(key)
}

/** A JSON body, as raw text and parsed. */
export interface ReceivedJson {
  text: string
  value: unknown
}

/** The string in a member; '' if there is none. */
export function readText(value: unknown, name: string): string {
  const found = isJsonObject(value) ? value[name] : null
  return typeof found === 'string' ? found : ''
}

/** The JSON read by {@link acceptJsonBodies}; null if the request had no body. */
export function toReceivedJson(body: unknown): ReceivedJson | null {
  return isJsonObject(body) && typeof body['text'] === 'string'
    ? { text: body['text'], value: body['value'] }
    : null
}

/**
 * Makes a server read JSON bodies of at most `limitBytes`. A larger body is read to its end and discarded
 * before it is refused, so that a client that is still sending gets the answer and not a broken connection.
 */
export function acceptJsonBodies(app: FastifyInstance, limitBytes: number): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(
    'application/json',
    (
      _request: FastifyRequest,
      payload: IncomingMessage,
      done: (error: Error | null, body?: unknown) => void,
    ) => {
      let chunks: Buffer[] = []
      let sizeBytes = 0
      payload.on('data', (chunk: Buffer) => {
        sizeBytes += chunk.length
        if (sizeBytes <= limitBytes) chunks.push(chunk)
        else chunks = []
      })
      payload.on('error', () => done(new SandboxRefusal('INVALID_JSON', 'the body ended early')))
      payload.on('end', () => {
        if (sizeBytes > limitBytes) {
          done(new SandboxRefusal('BODY_TOO_LARGE', `the body has more than ${limitBytes} bytes`))
          return
        }
        const text = chunks.length === 1 ? String(chunks[0]) : Buffer.concat(chunks).toString()
        try {
          done(null, { text, value: JSON.parse(text) } satisfies ReceivedJson)
        } catch {
          done(new SandboxRefusal('INVALID_JSON', 'the body is not valid JSON'))
        }
      })
    },
  )
}
