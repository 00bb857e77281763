import { isIPv6 } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { SluiceError } from '../../shared/messages/errors.ts'
import { toThrown } from '../../shared/messages/thrown.ts'
import { applyChange, type BehaviourChange, DEFAULT_BEHAVIOUR } from '../../shared/sandbox/behaviour.ts'
import { createAdminToken } from './admin-access.ts'
import { createArrivals } from './arrivals.ts'
import { createBehaviour } from './behaviour.ts'
import { createCallbackQueue } from './callbacks/callback-queue.ts'
import { createCallbackSender } from './callbacks/callback-sender.ts'
import { createMediaFetcher, isLoopbackName } from './media-fetcher.ts'
import { createModeration } from './moderation.ts'
import { type SandboxClock, SYSTEM_CLOCK } from './sandbox-clock.ts'
import type { SandboxContext } from './sandbox-context.ts'
import { parseSandboxOptions, type ResolvedSandboxOptions, type SandboxOptions } from './sandbox-options.ts'
import { createServer, createTaskServer } from './server.ts'
import { openStore } from './store/open-store.ts'

/** Where a sandbox listens, and what opens its admin routes. */
export interface SandboxAddress {
  /** Scheme, host and port, without a trailing slash. */
  readonly baseUrl: string
  readonly port: number
  /** The second host, which serves the v2 tasks only (docs/interface.md §5.5). */
  readonly taskBaseUrl: string
  readonly taskPort: number
  /** What the admin routes want in the header `x-sandbox-token`; another one for each start. */
  readonly adminToken: string
}

export interface Sandbox extends SandboxAddress {
  /** Changes how it behaves from the next request on. Throws `BAD_USAGE`. */
  behave(change: BehaviourChange): void
  /** Breaks off what is in flight, stops listening and closes the store. May be called again. */
  close(): Promise<void>
}

/**
 * Starts the embedded service in this thread. Throws `BAD_USAGE` for options that cannot be, `SANDBOX_UNAVAILABLE`
 * where the port or the store cannot be used.
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

/** Returns the port, a free one where 0 was asked for. */
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
