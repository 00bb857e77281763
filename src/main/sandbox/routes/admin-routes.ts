import { isIP } from 'node:net'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { SandboxContext } from '../sandbox-context.ts'
import { SandboxRefusal } from '../sandbox-errors.ts'
import { registerAdminBehaviourRoutes } from './admin-behaviour-routes.ts'
import { registerAdminKeyRoutes } from './admin-key-routes.ts'
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
  registerAdminBehaviourRoutes(app, context)
}

/** A web page that a browser on this machine shows has an Origin, or comes by a name that is not of this machine. */
function isLocalProgram(request: FastifyRequest): boolean {
  const isBrowserPage = request.headers.origin !== undefined
  return !isBrowserPage && isLoopback(request.ip) && isLoopbackName(request.hostname)
}

function isLoopbackName(hostname: string): boolean {
  return hostname === 'localhost' || isLoopback(hostname.replace(/^\[|\]$/g, ''))
}

function isLoopback(address: string): boolean {
  const plain = address.startsWith('::ffff:') ? address.slice('::ffff:'.length) : address
  return plain === '::1' || (isIP(plain) === 4 && plain.startsWith('127.'))
}
