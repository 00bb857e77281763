import { createServer as createHttpServer, type RequestListener, type Server } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { isIPv6 } from 'node:net'
import { type FastifyInstance, fastify } from 'fastify'
import { SluiceError } from '../../shared/messages/errors.ts'
import { toThrown } from '../../shared/messages/thrown.ts'
import { applyChange, type BehaviourChange, DEFAULT_BEHAVIOUR } from '../../shared/sandbox/behaviour.ts'
import { ADMIN_PATH, createAdminToken } from './admin-access.ts'
import { acceptJsonBodies } from './answer-request.ts'
import { createArrivals } from './arrivals.ts'
import { createBehaviour } from './behaviour.ts'
import { createCallbackQueue } from './callbacks/callback-queue.ts'
import { createCallbackSender } from './callbacks/callback-sender.ts'
import { createMediaFetcher, isLoopbackName, isServedHost } from './media-fetcher.ts'
import { createModeration } from './moderation.ts'
import { registerAdminRoutes } from './routes/admin-routes.ts'
import { registerIndexRoutes, registerWatchlistRoutes } from './routes/list-routes.ts'
import { registerAppealRoutes, registerTaskRoutes } from './routes/task-routes.ts'
import { type SandboxClock, SYSTEM_CLOCK } from './sandbox-clock.ts'
import type { SandboxContext } from './sandbox-context.ts'
import { SANDBOX_ERRORS, SandboxRefusal } from './sandbox-errors.ts'
import { parseSandboxOptions, type ResolvedSandboxOptions, type SandboxOptions } from './sandbox-options.ts'
import { sendError, sendRefusal } from './send-answer.ts'
import { openStore } from './store/open-store.ts'

/** Where a sandbox listens, and the token of its admin routes. */
export interface SandboxAddress {
  /** Scheme, host and port, without a trailing slash. */
  readonly baseUrl: string
  readonly port: number
  /** The second host, which serves only v2 tasks (docs/interface.md §5.5). */
  readonly taskBaseUrl: string
  readonly taskPort: number
  /** The value of the header `x-sandbox-token` for admin routes; new at each start. */
  readonly adminToken: string
}

export interface Sandbox extends SandboxAddress {
  /** Changes the behaviour from the next request on. Throws `BAD_USAGE`. */
  behave(change: BehaviourChange): void
  /** Aborts requests in flight, stops listening and closes the store. May be called again. */
  close(): Promise<void>
}

/**
 * Starts the embedded service in this thread. Throws `BAD_USAGE` for invalid options, and
 * `SANDBOX_UNAVAILABLE` if the port or the store cannot be used.
 */
export async function createSandbox(
  options: SandboxOptions = {},
  clock: SandboxClock = SYSTEM_CLOCK,
): Promise<Sandbox> {
  const resolved = parseSandboxOptions(options)
  const behaviour = createBehaviour(applyChange(DEFAULT_BEHAVIOUR, resolved), clock.nowMs)
  const store = openStore(resolved, clock.date())
  const context: SandboxContext = {
    adminToken: createAdminToken(),
    options: resolved,
    store,
    moderation: createModeration(store),
    arrivals: createArrivals(),
    callbacks: createCallbackQueue({
      store: store.callbacks,
      sender: createCallbackSender(),
      clock,
      seed: resolved.seed,
      maxPending: resolved.maxPendingCallbacks,
      settings: () => context.behaviour.callbacks,
    }),
    media: createMediaFetcher({
      workspace: isLoopbackName(resolved.host) ? resolved.mediaWorkspace : null,
      limitBytes: resolved.mediaLimitBytes,
      timeoutMs: resolved.mediaTimeoutMs,
    }),
    clock,
    behaviour,
  }
  const servers = [createServer(context), createTaskServer(context)] as const
  let closing: Promise<void> | null = null
  const close = async (): Promise<void> => {
    context.callbacks.close()
    context.media.close()
    await Promise.all(
      servers.map(async (app) => {
        const closed = app.close()
        app.server.closeAllConnections()
        await closed
      }),
    )
    store.close()
  }
  try {
    const port = await listen(servers[0], resolved, resolved.port)
    const taskPort = await listen(servers[1], resolved, resolved.taskPort)
    context.callbacks.start()
    return {
      baseUrl: toBaseUrl(resolved, port),
      port,
      taskBaseUrl: toBaseUrl(resolved, taskPort),
      taskPort,
      adminToken: context.adminToken,
      behave: (change) => {
        context.behaviour = createBehaviour(applyChange(context.behaviour.settings, change), clock.nowMs)
      },
      close: () => {
        closing ??= close()
        return closing
      },
    }
  } catch (error) {
    await close()
    throw error
  }
}

/** Returns the port in use, a free one if 0 was asked for. */
async function listen(app: FastifyInstance, options: ResolvedSandboxOptions, port: number): Promise<number> {
  try {
    await app.listen({ host: options.host, port })
  } catch (error) {
    throw toListenError(options.host, port, error)
  }
  const address = app.server.address()
  return typeof address === 'object' && address !== null ? address.port : port
}

function toBaseUrl({ host, tls }: ResolvedSandboxOptions, port: number): string {
  return `${tls === null ? 'http' : 'https'}://${isIPv6(host) ? `[${host}]` : host}:${port}`
}

function toListenError(host: string, port: number, error: unknown): SluiceError {
  return new SluiceError({ id: 'sandbox_cannot_listen', host, port, ...toThrown(error) }, { cause: error })
}

/** How long idle connections stay open; longer than slow clients wait between requests. */
const KEEP_ALIVE_MS = 72_000

/** Longest identifier in a path, in characters. */
const MAX_PATH_PARAMETER = 8_000

/** Builds the server of the base URL. */
function createServer(context: SandboxContext): FastifyInstance {
  const app = createApp(context)
  app.register(async (tasks) => registerTaskRoutes(tasks, context, ['v1', 'v2']))
  registerIndexRoutes(app, context)
  registerWatchlistRoutes(app, context)
  registerAppealRoutes(app, context)
  app.register(async (admin) => registerAdminRoutes(admin, context), { prefix: ADMIN_PATH })
  return app
}

/** Builds the server of the second host, which has only v2 tasks (docs/interface.md §5.5). */
function createTaskServer(context: SandboxContext): FastifyInstance {
  const app = createApp(context)
  app.register(async (tasks) => registerTaskRoutes(tasks, context, ['v2']))
  return app
}

/** Builds a server without routes. It logs nothing, so that no key gets into a log. */
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
  // Requests must arrive completely in time; only the chosen latency limits answers.
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
