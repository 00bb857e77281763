import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Api, Mode } from '../../../shared/service/endpoints.ts'
import { answerRequest, type RequestResult, readText, toReceivedJson } from '../answer-request.ts'
import { toAppealResponse } from '../appeals.ts'
import type { SandboxContext } from '../sandbox-context.ts'
import { SandboxRefusal } from '../sandbox-errors.ts'
import { submitTask } from '../submit-task.ts'
import {
  type AnsweredTask,
  toAcknowledgement,
  toDefaultAnswer,
  toLegacyAnswer,
  toV2Answer,
} from '../task-answer.ts'
import { type CheckedTask, parseTask, parseV2Task } from '../validate-request.ts'
import { guardEndpoint, type LoggedWork, registerLoggedRoute } from './endpoint.ts'

type TaskQuery = { Querystring: { legacy?: string | string[] } }

/** Serves the sync and async task endpoints of these versions (docs/interface.md §4.1, §4.2). */
export function registerTaskRoutes(
  app: FastifyInstance,
  context: SandboxContext,
  apis: readonly Api[],
): void {
  const { tasks } = context.store
  guardEndpoint(app, context, {
    needsKey: true,
    countRefusal: (request, outcome) => {
      const postId = findPostId(request)
      tasks.countRefusal(postId, outcome)
      noteArrival(context, toEndpointName(request.url), postId, outcome, toReceivedJson(request.body)?.text)
    },
  })
  for (const api of apis) {
    for (const mode of ['sync', 'async'] as const) {
      app.post<TaskQuery>(`/api/${api}/task/${mode}`, (request, reply) => {
        answerTask(context, { api, mode }, request, reply)
      })
    }
  }
}

function answerTask(
  context: SandboxContext,
  endpoint: { api: Api; mode: Mode },
  request: FastifyRequest<TaskQuery>,
  reply: FastifyReply,
): void {
  const { store } = context
  const arrivedMs = context.clock.nowMs()
  const received = toReceivedJson(request.body)
  if (received === null) throw new SandboxRefusal('PARAM_REQUIRED', 'the request has no body')
  const task =
    endpoint.api === 'v1' ? parseTask(received.value) : parseV2Task(received.value, store.indexes.has)
  const isCalledBack = endpoint.mode === 'async' && task.callbackUrl !== null
  if (isCalledBack) context.callbacks.checkRoom()
  const toResult = toResultWriter(endpoint.api, request.query.legacy === '1')
  const name = `task/${endpoint.api}/${endpoint.mode}`

  const answer = (mediaHash: string | null): void =>
    answerRequest(context, reply, {
      key: task.postId,
      tryNumber: store.tasks.nextTry(task.postId),
      arrivedMs,
      carryOut: (outcome): RequestResult => {
        const answered = submitTask(context, task, {
          endpoint: name,
          requestText: received.text,
          outcome,
          mediaHash,
        })
        noteArrival(context, name, task.postId, outcome, received.text)
        if (endpoint.mode === 'sync') return { answer: toResult(answered), callback: null }
        return {
          answer: toAcknowledgement(answered),
          callback:
            task.callbackUrl === null
              ? null
              : { taskId: answered.taskId, url: task.callbackUrl, body: toResult(answered) },
        }
      },
      countFault: (outcome) => {
        store.tasks.countRefusal(task.postId, outcome)
        noteArrival(context, name, task.postId, outcome, received.text)
      },
    })

  const mediaUrl = findMediaUrl(context, task)
  if (mediaUrl === null) answer(null)
  else
    context.media
      .fetchHash(mediaUrl)
      .then(answer)
      .catch((error: unknown) => reply.send(error))
}

function noteArrival(
  { arrivals, clock }: SandboxContext,
  endpoint: string,
  subject: string,
  outcome: string,
  body: string | undefined,
): void {
  arrivals.note({ endpoint, subject, outcome, arrivedOn: clock.date(), body: body ?? null })
}

/** `/api/v1/task/sync?legacy=1` becomes the endpoint `task/v1/sync`. */
function toEndpointName(url: string): string {
  const [, api, mode] = /^\/api\/(v[12])\/task\/(sync|async)/.exec(url) ?? []
  return `task/${api}/${mode}`
}

/** The address of media to compare with the items of a custom index; null if nothing must be fetched. */
function findMediaUrl({ store, media }: SandboxContext, { content, models }: CheckedTask): string | null {
  if (content.kind !== 'url' || !models.some((model) => store.indexes.has(model))) return null
  return media.isFetched(content.url) ? content.url : null
}

/**
 * Returns the function that writes the result of a task, the same for sync answers and callbacks; v2 has no
 * legacy shape (docs/interface.md §9).
 */
function toResultWriter(api: Api, isLegacy: boolean): (task: AnsweredTask) => string {
  if (api === 'v2') return toV2Answer
  return isLegacy ? toLegacyAnswer : toDefaultAnswer
}

function findPostId(request: FastifyRequest): string {
  return readText(toReceivedJson(request.body)?.value, 'post_id')
}

/** Serves the status of appeals, without a key (docs/interface.md §4.7). */
export function registerAppealRoutes(app: FastifyInstance, context: SandboxContext): void {
  registerLoggedRoute(app, context, {
    endpoint: 'appeal-status',
    method: 'GET',
    path: '/api/v1/appeals/status/:appealId',
    needsKey: false,
    findSubject: findAppealId,
    check: (request) => checkAppeal(context, findAppealId(request)),
  })
}

function checkAppeal({ store, clock }: SandboxContext, appealId: string): LoggedWork {
  return {
    key: appealId,
    carryOut: () => {
      const found = store.appeals.find(appealId)
      if (found === null) throw new SandboxRefusal('INVALID_APPEAL', `there is no appeal "${appealId}"`)
      store.appeals.noteRead(appealId)
      const ageMs = clock.date().getTime() - found.createdOn.getTime()
      const answer = toAppealResponse(found.appeal, { reads: found.reads, ageMs })
      return { answer: JSON.stringify(answer), callback: null, taskId: null }
    },
  }
}

function findAppealId({ params }: FastifyRequest): string {
  return readText(params, 'appealId')
}
