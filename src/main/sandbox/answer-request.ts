import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { isJsonObject } from '../../shared/service/json-object.ts'
import type { CallbackTicket, RequestedCallback } from './callbacks/callback-queue.ts'
import { decideFault, toFaultOutcome } from './faults.ts'
import { chooseDelayMs } from './latency.ts'
import type { SandboxContext } from './sandbox-context.ts'
import { SandboxRefusal } from './sandbox-errors.ts'
import { createDraw } from './seeded-draw.ts'
import { sendError, sendFault, sendJson } from './send-answer.ts'
import type { KeyStore } from './store/key-store.ts'

/** A request that keeps the rules and is to be carried out. */
export interface CheckedRequest {
  /** What randomness depends on in addition to the seed; the same for a request and its repetitions. */
  key: string
  /** Which try of this key it is, from 1. */
  tryNumber: number
  /** When it arrived, by the clock that never goes back. */
  arrivedMs: number
  /** Carries it out; `outcome` is how it is counted. May refuse it with a `SandboxRefusal`. */
  carryOut(outcome: string): RequestResult
  /** Counts it where a fault kept it from being carried out. */
  countFault(outcome: string): void
}

/** What is answered, and posted later. */
export interface RequestResult {
  /** JSON text. */
  answer: string
  /** Null if none was asked for. */
  callback: RequestedCallback | null
}

/**
 * Carries a request out and answers it, with the faults and the latency in force. Not async: a promise for each request
 * would be felt at ten thousand a second.
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
  // Nothing is answered, or posted, before what it says is committed.
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
 * Whether a request's authorization header is `token KEY` with a key of the project (docs/interface.md §5). A missing
 * or malformed header matches no key.
 */
export function isAuthorized(header: string | undefined, keys: KeyStore): boolean {
  const key = header === undefined ? undefined : TOKEN.exec(header)?.[1]
  return key !== undefined && keys.isValid(key)
}

/** A JSON body, as it came and as it reads. */
export interface ReceivedJson {
  text: string
  value: unknown
}

/** The text of a member; '' if there is none. */
export function readText(value: unknown, name: string): string {
  const found = isJsonObject(value) ? value[name] : null
  return typeof found === 'string' ? found : ''
}

/** The JSON that {@link acceptJsonBodies} read, or null if the request had no body. */
export function toReceivedJson(body: unknown): ReceivedJson | null {
  return isJsonObject(body) && typeof body['text'] === 'string'
    ? { text: body['text'], value: body['value'] }
    : null
}

/**
 * Makes a server read JSON bodies of at most `limitBytes`. A larger body is read to its end and thrown away before it
 * is refused, so that a client which is still sending gets the answer instead of a broken connection.
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
