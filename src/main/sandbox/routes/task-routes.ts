import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { decideFault, toFaultOutcome } from '../faults.ts'
import { toReceivedJson } from '../json-body.ts'
import { chooseDelayMs } from '../latency.ts'
import type { SandboxContext } from '../sandbox-context.ts'
import { SandboxRefusal } from '../sandbox-errors.ts'
import { createDraw } from '../seeded-draw.ts'
import { sendError, sendFault, sendJson } from '../send-answer.ts'
import { submitTask } from '../submit-task.ts'
import { toDefaultAnswer, toLegacyAnswer } from '../task-answer.ts'
import { parseTask } from '../validate-task.ts'

/** Serves synchronous v1 tasks, with the default and the legacy response (interface §4.1). */
export function registerTaskRoutes(app: FastifyInstance, context: SandboxContext): void {
  app.post<{ Querystring: { legacy?: string | string[] } }>('/api/v1/task/sync', (request, reply) => {
    answerTask(context, request, reply, request.query.legacy === '1')
  })
}

/** Not async: a promise for each request would be felt at ten thousand a second. */
function answerTask(
  context: SandboxContext,
  request: FastifyRequest,
  reply: FastifyReply,
  isLegacy: boolean,
): void {
  const { behaviour, store } = context
  const arrivedMs = context.clock.nowMs()
  const received = toReceivedJson(request.body)
  if (received === null) throw new SandboxRefusal('PARAM_REQUIRED', 'the request has no body')
  const task = parseTask(received.value)

  const tryNumber = store.tasks.nextTry(task.post_id)
  const draw = createDraw(context.options.seed, task.post_id, tryNumber)
  const fault = decideFault(behaviour.faults, tryNumber, draw)
  const outcome = fault === null ? 'accepted' : toFaultOutcome(fault)
  let answer: string | null = null
  if (fault === null || fault.isStored) {
    const answered = submitTask(context, task, { requestText: received.text, outcome })
    answer = isLegacy ? toLegacyAnswer(answered) : toDefaultAnswer(answered)
  } else {
    store.tasks.countRefusal(task.post_id, outcome)
  }

  const isImmediate = fault !== null && fault.status === 429
  const delayMs = isImmediate ? 0 : chooseDelayMs(behaviour.latency, draw)
  const send = (): void => {
    if (fault !== null) sendFault(reply, fault, answer)
    else if (answer !== null) sendJson(reply, 200, answer)
  }
  // Nothing is answered before what the answer says is committed.
  store.onCommitted((error) => {
    if (error !== null) {
      sendError(reply, {
        status: 500,
        errorCode: 'INTERNAL_ERROR',
        message: 'the sandbox cannot store tasks',
      })
      return
    }
    const leftMs = delayMs === 0 ? 0 : delayMs - (context.clock.nowMs() - arrivedMs)
    if (leftMs > 0) setTimeout(send, Math.round(leftMs)).unref()
    else send()
  })
}
