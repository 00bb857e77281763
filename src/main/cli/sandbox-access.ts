import type { SandboxOptions } from '../sandbox/sandbox-options.ts'
import { type SandboxThread, startSandboxThread } from '../sandbox/start-sandbox-thread.ts'

/** Starts the embedded service in a thread of its own. Throws `BAD_USAGE` or `SANDBOX_UNAVAILABLE`. */
export function openSandbox(options: SandboxOptions): Promise<SandboxThread> {
  return startSandboxThread(new URL('../sandbox/sandbox-worker.ts', import.meta.url), options)
}
