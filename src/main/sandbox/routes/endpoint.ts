import { hash } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { answerRequest, isAuthorized, type RequestResult, toReceivedJson } from '../answer-request.ts'
import type { SandboxContext } from '../sandbox-context.ts'
import { type SandboxErrorCode, SandboxRefusal } from '../sandbox-errors.ts'
import { sendRefusal } from '../send-answer.ts'
import type { LoggedEndpoint } from '../store/request-store.ts'

/** The work of a request to an endpoint other than a task's. */
export interface LoggedWork {
  /** The same for a request and its repetitions; does not depend on callback_url. */
  key: string
  /** Carries out the request; `nth` counts repetitions. May refuse it. */
  carryOut(nth: number): RequestResult & { taskId: string | null }
}

/** An endpoint whose requests are logged one by one. */
export interface LoggedRoute {
  endpoint: LoggedEndpoint
  method: 'GET' | 'POST'
  path: string
  needsKey: boolean
  /** See {@link EndpointGuard}. */
  statuses?(): Partial<Record<SandboxErrorCode, number>>
  /** The index, watchlist or appeal a request is about, if known; '' otherwise. */
  findSubject(request: FastifyRequest, body: unknown): string
  /** Checks a request and returns the work, or refuses it; a promise only if something must be fetched. */
  check(request: FastifyRequest, body: unknown): LoggedWork | Promise<LoggedWork>
}

/** Serves an endpoint in its own scope: checks key, rate and body, logs every request and its outcome. */
export function registerLoggedRoute(app: FastifyInstance, context: SandboxContext, route: LoggedRoute): void {
  const { method, path, needsKey, statuses } = route
  /** The keys of requests that got far enough to have one. */
  const keys = new WeakMap<FastifyRequest, string>()
  app.register(async (scope) => {
    guardEndpoint(scope, context, {
      needsKey,
      ...(statuses === undefined ? {} : { statuses }),
      countRefusal: (request, outcome) =>
        logRequest(context, route, request, { key: keys.get(request) ?? '', taskId: null, outcome }),
    })
    scope.route({
      method,
      url: path,
      handler: (request, reply) => {
        answerLogged(context, { ...route, keys }, request, reply)
      },
    })
  })
}

function answerLogged(
  context: SandboxContext,
  route: LoggedRoute & { keys: WeakMap<FastifyRequest, string> },
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  const arrivedMs = context.clock.nowMs()
  const received = toReceivedJson(request.body)
  if (route.method === 'POST' && received === null) {
    throw new SandboxRefusal('PARAM_REQUIRED', 'the request has no body')
  }
  const answer = (work: LoggedWork): void => {
    const key = hash('sha256', work.key).slice(0, 32)
    route.keys.set(request, key)
    const tryNumber = context.store.requests.nextTry(route.endpoint, key)
    answerRequest(context, reply, {
      key: `${route.endpoint}\n${work.key}`,
      tryNumber,
      arrivedMs,
      carryOut: (outcome) => {
        const carriedOut = work.carryOut(tryNumber)
        logRequest(context, route, request, { key, taskId: carriedOut.taskId, outcome })
        return carriedOut
      },
      countFault: (outcome) => logRequest(context, route, request, { key, taskId: null, outcome }),
    })
  }
  const work = route.check(request, received?.value)
  if (work instanceof Promise) work.then(answer).catch((error: unknown) => reply.send(error))
  else answer(work)
}

function logRequest(
  { store, options, clock, arrivals }: SandboxContext,
  route: LoggedRoute,
  request: FastifyRequest,
  end: { key: string; taskId: string | null; outcome: string },
): void {
  const received = toReceivedJson(request.body)
  const isKept =
    options.keepRequests > 0 && Buffer.byteLength(received?.text ?? '') <= options.keepRequestBytes
  const logged = {
    endpoint: route.endpoint,
    subject: route.findSubject(request, received?.value),
    outcome: end.outcome,
    arrivedOn: clock.date(),
    body: isKept && received !== null ? received.text : null,
  }
  store.requests.note({ ...end, ...logged })
  arrivals.note(logged)
}

export interface EndpointGuard {
  /** False if the endpoint needs no authorization (docs/interface.md §5.6). */
  needsKey: boolean
  /** Counts a refused request; `outcome` is `rejected:CODE`. */
  countRefusal(request: FastifyRequest, outcome: string): void
  /** Statuses of error codes that differ from other endpoints. */
  statuses?(): Partial<Record<SandboxErrorCode, number>>
}

/** Checks key and rate of every request in this scope; answers and counts every refusal. */
export function guardEndpoint(scope: FastifyInstance, context: SandboxContext, guard: EndpointGuard): void {
  scope.addHook('onRequest', (request, _reply, done) => {
    if (guard.needsKey && !isAuthorized(request.headers.authorization, context.store.keys)) {
      done(new SandboxRefusal('INVALID_API_KEY', 'no application matches the API key'))
      return
    }
    const { limiter, settings } = context.behaviour
    const waitS = limiter?.take() ?? 0
    if (waitS > 0) {
      const message = `more requests than ${settings.ratePerSecond} a second`
      done(new SandboxRefusal('RATE_LIMITED', message, { retryAfterS: waitS }))
      return
    }
    done()
  })

  scope.setErrorHandler((error, request, reply) => {
    guard.countRefusal(request, `rejected:${sendRefusal(reply, error, guard.statuses?.())}`)
  })
}
