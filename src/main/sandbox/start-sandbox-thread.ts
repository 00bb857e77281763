import { Worker } from 'node:worker_threads'
import { SluiceError } from '../../shared/messages/errors.ts'
import { WorkerClient } from '../worker-rpc.ts'
import type { SandboxAddress } from './sandbox.ts'
import type { SandboxOptions } from './sandbox-options.ts'

/** What the sandbox's thread offers to the thread that starts it. */
export interface SandboxCalls {
  start(options: SandboxOptions): Promise<SandboxAddress>
  close(): Promise<void>
}

export interface SandboxThread extends SandboxAddress {
  /** Settles when the thread has ended, through `close` or by itself. */
  readonly ended: Promise<void>
  close(): Promise<void>
}

/**
 * Starts the sandbox in its own thread, so that it does not slow down the sender. `workerUrl` is the entry
 * `sandbox-worker.ts` or its bundle. Throws `BAD_USAGE` or `SANDBOX_UNAVAILABLE` as `createSandbox` does.
 */
export async function startSandboxThread(
  workerUrl: URL,
  options: SandboxOptions = {},
): Promise<SandboxThread> {
  const client = new WorkerClient<SandboxCalls>(new Worker(workerUrl, { name: 'sandbox' }), {
    on: {},
    toFailure: (cause) => SluiceError.because(cause, { id: 'sandbox_ended' }),
  })
  const close = async (): Promise<void> => {
    await client.call('close').catch(() => {})
    await client.close().catch(() => {})
  }
  try {
    return { ...(await client.call('start', options)), ended: client.ended, close }
  } catch (error) {
    await close()
    throw error
  }
}
