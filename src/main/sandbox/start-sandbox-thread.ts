import { Worker } from 'node:worker_threads'
import type { ErrorMessage } from '../../shared/messages/error-messages.ts'
import { SluiceError } from '../../shared/messages/errors.ts'
import type { SandboxOptions } from './sandbox-options.ts'

/** Where a sandbox listens, and what opens its admin routes. */
interface SandboxAddress {
  /** Scheme, host and port, without a trailing slash. */
  readonly baseUrl: string
  readonly port: number
  /** The second host, which serves the v2 tasks only (docs/interface.md §5.5). */
  readonly taskBaseUrl: string
  readonly taskPort: number
  /** What the admin routes want in the header `x-sandbox-token`; another one for each start. */
  readonly adminToken: string
}

/** What the sandbox's thread says. */
export type SandboxMessage =
  | ({ kind: 'listening' } & SandboxAddress)
  | { kind: 'failed'; error: ErrorMessage }

/** A sandbox that listens in a thread of its own. */
export interface SandboxThread extends SandboxAddress {
  /** Settles when the thread has ended, by `close` or on its own. */
  readonly ended: Promise<void>
  /** Stops the sandbox and ends the thread. */
  close(): Promise<void>
}

/**
 * Starts the sandbox in a thread of its own, so that it does not slow down who sends. `workerUrl` is the entry
 * `sandbox-worker.ts`, or its bundle. Throws `BAD_USAGE` or `SANDBOX_UNAVAILABLE` as `createSandbox` does.
 */
export async function startSandboxThread(
  workerUrl: URL,
  options: SandboxOptions = {},
): Promise<SandboxThread> {
  const worker = new Worker(workerUrl, { workerData: options })
  let failure: unknown = null
  const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()))
  worker.on('error', (error) => {
    failure = error
  })
  const message = await Promise.race([
    new Promise<SandboxMessage>((resolve) => worker.once('message', resolve)),
    ended.then(() => null),
  ])
  if (message === null) throw toThreadError(failure)
  if (message.kind === 'failed') {
    await ended
    throw new SluiceError(message.error)
  }
  return {
    baseUrl: message.baseUrl,
    port: message.port,
    taskBaseUrl: message.taskBaseUrl,
    taskPort: message.taskPort,
    adminToken: message.adminToken,
    ended,
    close: async () => {
      worker.postMessage({ kind: 'close' })
      await ended
    },
  }
}

function toThreadError(failure: unknown): SluiceError {
  return new SluiceError(
    { id: 'sandbox_ended', reason: failure instanceof Error ? failure.message : null },
    { cause: failure },
  )
}
