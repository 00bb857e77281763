import { serveCalls } from '../worker-rpc.ts'
import { createSandbox, type Sandbox } from './sandbox.ts'
import type { SandboxCalls } from './start-sandbox-thread.ts'

let sandbox: Sandbox | null = null

serveCalls<SandboxCalls>({
  async start(options) {
    sandbox = await createSandbox(options)
    const { baseUrl, port, taskBaseUrl, taskPort, adminToken } = sandbox
    return { baseUrl, port, taskBaseUrl, taskPort, adminToken }
  },
  async close() {
    await sandbox?.close()
  },
})
