import type { FastifyInstance, FastifyRequest } from 'fastify'
import { isAuthorized } from '../authorization.ts'
import type { SandboxContext } from '../sandbox-context.ts'
import { type SandboxErrorCode, SandboxRefusal } from '../sandbox-errors.ts'
import { sendRefusal } from '../send-answer.ts'

/** What tells endpoints apart before they are reached. */
export interface EndpointGuard {
  /** False where no header is required (docs/interface.md §5.6). */
  needsKey: boolean
  /** Counts a request that was refused; `outcome` is `rejected:CODE`. */
  countRefusal(request: FastifyRequest, outcome: string): void
  /** Statuses of codes that the endpoint pairs with another status than the rest. */
  statuses?(): Partial<Record<SandboxErrorCode, number>>
}

/** Checks key and rate of every request to the routes of this scope, and answers and counts every refusal. */
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
