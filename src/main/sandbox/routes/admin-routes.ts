import type { FastifyInstance, FastifyRequest } from 'fastify'
import { isLoopbackAddress, isLoopbackName } from '../media/loopback-address.ts'
import type { SandboxContext } from '../sandbox-context.ts'
import { SandboxRefusal } from '../sandbox-errors.ts'
import { registerAdminAppealRoutes } from './admin-appeal-routes.ts'
import { registerAdminBehaviourRoutes } from './admin-behaviour-routes.ts'
import { registerAdminCallbackRoutes } from './admin-callback-routes.ts'
import { registerAdminIndexRoutes } from './admin-index-routes.ts'
import { registerAdminKeyRoutes } from './admin-key-routes.ts'
import { registerAdminRequestRoutes } from './admin-request-routes.ts'
import { registerAdminRuleRoutes } from './admin-rule-routes.ts'
import { registerAdminTaskRoutes } from './admin-task-routes.ts'
import { registerAdminWatchlistRoutes } from './admin-watchlist-routes.ts'

/** Serves what takes the place of the service's dashboard. For programs on this machine only, so without a key. */
export function registerAdminRoutes(app: FastifyInstance, context: SandboxContext): void {
  app.addHook('onRequest', (request, _reply, done) => {
    if (isLocalProgram(request)) done()
    else done(new SandboxRefusal('FORBIDDEN', 'the admin routes are for programs on this machine'))
  })
  registerAdminTaskRoutes(app, context)
  registerAdminKeyRoutes(app, context)
  registerAdminRuleRoutes(app, context)
  registerAdminWatchlistRoutes(app, context)
  registerAdminIndexRoutes(app, context)
  registerAdminAppealRoutes(app, context)
  registerAdminCallbackRoutes(app, context)
  registerAdminRequestRoutes(app, context)
  registerAdminBehaviourRoutes(app, context)
}

/** A web page that a browser on this machine shows has an Origin, or comes by a name that is not of this machine. */
function isLocalProgram(request: FastifyRequest): boolean {
  const isBrowserPage = request.headers.origin !== undefined
  return !isBrowserPage && isLoopbackAddress(request.ip) && isLoopbackName(request.hostname)
}
