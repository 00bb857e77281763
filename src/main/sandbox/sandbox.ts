import { isIPv6 } from 'node:net'
import { performance } from 'node:perf_hooks'
import { SluiceError } from '../../shared/errors.ts'
import { applyChange, type BehaviourChange, createBehaviour } from './behaviour.ts'
import { createModeration } from './moderation.ts'
import type { SandboxClock, SandboxContext } from './sandbox-context.ts'
import { parseSandboxOptions, type ResolvedSandboxOptions, type SandboxOptions } from './sandbox-options.ts'
import { createServer } from './server.ts'
import { openStore } from './store/open-store.ts'

/** A sandbox that is listening. */
export interface Sandbox {
  /** Scheme, host and port, without a trailing slash. */
  readonly baseUrl: string
  readonly port: number
  /** Changes latency, faults or rate from the next request on. Throws `BAD_USAGE`. */
  behave(change: BehaviourChange): void
  /** Breaks off what is in flight, stops listening and closes the store. May be called again. */
  close(): Promise<void>
}

const SYSTEM_CLOCK: SandboxClock = { nowMs: () => performance.now(), date: () => new Date() }

/**
 * Starts the embedded service in this thread. Throws `BAD_USAGE` for options that cannot be, `SANDBOX_UNAVAILABLE`
 * where the port or the store cannot be used.
 */
export async function createSandbox(
  options: SandboxOptions = {},
  clock: SandboxClock = SYSTEM_CLOCK,
): Promise<Sandbox> {
  const resolved = parseSandboxOptions(options)
  const { latency, faults, ratePerSecond } = resolved
  const behaviour = createBehaviour({ latency, faults, ratePerSecond }, clock.nowMs)
  const store = openStore(resolved)
  const context: SandboxContext = {
    options: resolved,
    store,
    moderation: createModeration(store),
    clock,
    behaviour,
  }
  const app = createServer(context)
  try {
    await app.listen({ host: resolved.host, port: resolved.port })
  } catch (error) {
    await app.close()
    store.close()
    throw toListenError(resolved, error)
  }
  const address = app.server.address()
  const port = typeof address === 'object' && address !== null ? address.port : resolved.port
  const host = isIPv6(resolved.host) ? `[${resolved.host}]` : resolved.host
  let closing: Promise<void> | null = null
  const close = async (): Promise<void> => {
    const closed = app.close()
    app.server.closeAllConnections()
    await closed
    store.close()
  }
  return {
    baseUrl: `${resolved.tls === null ? 'http' : 'https'}://${host}:${port}`,
    port,
    behave: (change) => {
      context.behaviour = createBehaviour(applyChange(context.behaviour.settings, change), clock.nowMs)
    },
    close: () => {
      closing ??= close()
      return closing
    },
  }
}

function toListenError(options: ResolvedSandboxOptions, error: unknown): SluiceError {
  const code = error instanceof Error && 'code' in error ? error.code : null
  const where = `${options.host}:${options.port}`
  const reason = error instanceof Error ? error.message : String(error)
  return new SluiceError({
    code: 'SANDBOX_UNAVAILABLE',
    message:
      code === 'EADDRINUSE'
        ? `the sandbox cannot listen on ${where}: another program does already`
        : `the sandbox cannot listen on ${where}: ${reason}`,
    hint: 'Choose another port, or 0 to take a free one.',
    cause: error,
  })
}
