import type { FastifyInstance, FastifyRequest } from 'fastify'
import { RETRY_AFTER_HEADER } from '../../../shared/service/endpoints.ts'
import { isJsonObject } from '../../../shared/service/json-object.ts'
import { isAuthorized } from '../authorization.ts'
import { toReceivedJson } from '../json-body.ts'
import type { SandboxContext } from '../sandbox-context.ts'
import { SandboxRefusal } from '../sandbox-errors.ts'
import { sendRefusal } from '../send-answer.ts'
import { registerTaskRoutes } from './task-routes.ts'

/** Serves the endpoints that need an API key: checks the key and the rate, and counts every refusal. */
export function registerServiceRoutes(app: FastifyInstance, context: SandboxContext): void {
  const { store } = context

  app.addHook('onRequest', (request, reply, done) => {
    if (!isAuthorized(request.headers.authorization, store.keys)) {
      done(new SandboxRefusal('INVALID_API_KEY', 'no application matches the API key'))
      return
    }
    const waitS = context.behaviour.limiter?.take() ?? 0
    if (waitS > 0) {
      reply.header(RETRY_AFTER_HEADER, String(waitS))
      done(
        new SandboxRefusal(
          'RATE_LIMITED',
          `more requests than ${context.behaviour.settings.ratePerSecond} a second`,
        ),
      )
      return
    }
    done()
  })

  app.setErrorHandler((error, request, reply) => {
    store.tasks.countRefusal(findPostId(request), `rejected:${sendRefusal(reply, error)}`)
  })

  registerTaskRoutes(app, context)
}

function findPostId(request: FastifyRequest): string {
  const value = toReceivedJson(request.body)?.value
  const postId = isJsonObject(value) ? value['post_id'] : null
  return typeof postId === 'string' ? postId : ''
}
