import type { FastifyReply } from 'fastify'
import type { CallbackTicket, RequestedCallback } from './callbacks/callback-queue.ts'
import { decideFault, toFaultOutcome } from './faults.ts'
import { chooseDelayMs } from './latency.ts'
import type { SandboxContext } from './sandbox-context.ts'
import { createDraw } from './seeded-draw.ts'
import { sendError, sendFault, sendJson } from './send-answer.ts'

/** A request that keeps the rules and is to be carried out. */
export interface CheckedRequest {
  /** What chance depends on beside the seed; the same for a request and its repetitions. */
  key: string
  /** Which try of this key it is, from 1. */
  tryNumber: number
  /** When it arrived, by the clock that never goes back. */
  arrivedMs: number
  /** Carries it out; `outcome` is how it is counted. May refuse it with a `SandboxRefusal`. */
  carryOut(outcome: string): CarriedOut
  /** Counts it where a fault kept it from being carried out. */
  countFault(outcome: string): void
}

/** What is answered, and posted later. */
export interface CarriedOut {
  /** JSON text. */
  answer: string
  /** Null where none was asked for. */
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
