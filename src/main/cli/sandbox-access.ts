import type { SandboxOptions } from '../sandbox/sandbox-options.ts'
import { type SandboxThread, startSandboxThread } from '../sandbox/start-sandbox-thread.ts'
import { WORKER_URLS } from '../worker-urls.ts'

/** Starts the embedded service in a thread of its own. Throws `BAD_USAGE` or `SANDBOX_UNAVAILABLE`. */
export function openSandbox(options: SandboxOptions): Promise<SandboxThread> {
  return startSandboxThread(WORKER_URLS.sandbox, options)
}
