import { createServer as createHttpServer, type RequestListener, type Server } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { type FastifyInstance, fastify } from 'fastify'
import { ADMIN_PATH } from './admin-access.ts'
import { acceptJsonBodies } from './answer-request.ts'
import { isServedHost } from './media-fetcher.ts'
import { registerAdminRoutes } from './routes/admin-routes.ts'
import { registerIndexRoutes, registerWatchlistRoutes } from './routes/list-routes.ts'
import { registerAppealRoutes, registerTaskRoutes } from './routes/task-routes.ts'
import type { SandboxContext } from './sandbox-context.ts'
import { SANDBOX_ERRORS, SandboxRefusal } from './sandbox-errors.ts'
import { sendError, sendRefusal } from './send-answer.ts'

/** Connections may rest this long between requests; longer than clients of slow rates wait. */
const KEEP_ALIVE_MS = 72_000

/** Longest identifier in a path, in characters. */
const MAX_PATH_PARAMETER = 8_000

/** Builds the server of the base URL. */
export function createServer(context: SandboxContext): FastifyInstance {
  const app = createApp(context)
  app.register(async (tasks) => registerTaskRoutes(tasks, context, ['v1', 'v2']))
  registerIndexRoutes(app, context)
  registerWatchlistRoutes(app, context)
  registerAppealRoutes(app, context)
  app.register(async (admin) => registerAdminRoutes(admin, context), { prefix: ADMIN_PATH })
  return app
}

/** Builds the server of the second host, which has the v2 tasks only (docs/interface.md §5.5). */
export function createTaskServer(context: SandboxContext): FastifyInstance {
  const app = createApp(context)
  app.register(async (tasks) => registerTaskRoutes(tasks, context, ['v2']))
  return app
}

/** Builds a server without routes. It logs nothing, so no key can end in a log. */
function createApp(context: SandboxContext): FastifyInstance {
  const app = fastify({
    logger: false,
    serverFactory: (handler) => createNodeServer(context, handler),
    routerOptions: { maxParamLength: MAX_PATH_PARAMETER },
    frameworkErrors: (error, _request, reply) => sendRefusal(reply, error),
  })
  acceptJsonBodies(app, context.options.bodyLimitBytes)
  app.addHook('onRequest', (_request, reply, done) => {
    reply.header('x-sandbox-notice', 'not a moderation decision')
    done()
  })
  app.addHook('onRequest', (request, _reply, done) => {
    if (isServedHost(request.hostname, context.options.host)) done()
    else done(new SandboxRefusal('UNKNOWN_HOST', 'the Host header names another machine than this one'))
  })
  app.setErrorHandler((error, _request, reply) => sendRefusal(reply, error))
  app.setNotFoundHandler((request, reply) => {
    const path = request.url.split('?', 1)[0] ?? ''
    sendError(reply, {
      status: SANDBOX_ERRORS.NOT_FOUND,
      errorCode: 'NOT_FOUND',
      message: `the sandbox serves no ${request.method} ${path}`,
    })
  })
  return app
}

function createNodeServer({ options }: SandboxContext, handler: RequestListener): Server {
  // Requests have to come whole; how long an answer takes is for the latency that was asked for to say.
  const limits = {
    headersTimeout: Math.ceil(options.requestTimeoutMs / 6),
    requestTimeout: options.requestTimeoutMs,
    connectionsCheckingInterval: Math.min(1_000, options.requestTimeoutMs),
  }
  const server =
    options.tls === null
      ? createHttpServer(limits, handler)
      : createHttpsServer({ ...options.tls, ...limits }, handler)
  server.keepAliveTimeout = KEEP_ALIVE_MS
  return server
}
