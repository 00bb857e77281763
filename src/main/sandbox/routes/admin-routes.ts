import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { ADMIN_TOKEN_HEADER, isAdminToken } from '../admin-token.ts'
import { isLoopbackAddress } from '../media/loopback-address.ts'
import type { SandboxContext } from '../sandbox-context.ts'
import { SandboxRefusal } from '../sandbox-errors.ts'
import { answerNonce, NONCE_MAX_CHARACTERS, PROOF_PATH } from '../sandbox-proof.ts'
import { registerAdminAppealRoutes } from './admin-appeal-routes.ts'
import { registerAdminBehaviourRoutes } from './admin-behaviour-routes.ts'
import { registerAdminCallbackRoutes } from './admin-callback-routes.ts'
import { registerAdminIndexRoutes } from './admin-index-routes.ts'
import { registerAdminKeyRoutes } from './admin-key-routes.ts'
import { parseAdminQuery } from './admin-page.ts'
import { registerAdminRequestRoutes } from './admin-request-routes.ts'
import { registerAdminRuleRoutes } from './admin-rule-routes.ts'
import { registerAdminTaskRoutes } from './admin-task-routes.ts'
import { registerAdminWatchlistRoutes } from './admin-watchlist-routes.ts'

const proofSchema = z.object({ nonce: z.string().min(1).max(NONCE_MAX_CHARACTERS) })

/**
 * Serves what takes the place of the service's dashboard: to programs on this machine that show the token of this
 * start. No API key opens it. One route needs no token: it proves to whoever started the sandbox that this is the one.
 */
export function registerAdminRoutes(app: FastifyInstance, context: SandboxContext): void {
  app.addHook('onRequest', (request, _reply, done) => {
    if (!isLocalProgram(request)) {
      done(new SandboxRefusal('FORBIDDEN', 'the admin routes are for programs on this machine'))
    } else if (
      request.routeOptions.url !== PROOF_PATH &&
      !isAdminToken(request.headers[ADMIN_TOKEN_HEADER], context.adminToken)
    ) {
      const message = `the admin routes need the header ${ADMIN_TOKEN_HEADER} with the token of this start`
      done(new SandboxRefusal('FORBIDDEN', message))
    } else done()
  })
  app.get(PROOF_PATH.slice(app.prefix.length), async (request) => {
    const { nonce } = parseAdminQuery(proofSchema, request.query)
    return { proof: answerNonce(nonce, context.adminToken) }
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

/** A web page that a browser on this machine shows has an Origin, at least where it changes anything. */
function isLocalProgram(request: FastifyRequest): boolean {
  return request.headers.origin === undefined && isLoopbackAddress(request.ip)
}
