import { parentPort, workerData } from 'node:worker_threads'
import { toErrorMessage } from '../../shared/messages/errors.ts'
import { isJsonObject } from '../../shared/service/json-object.ts'
import { createSandbox } from './sandbox.ts'
import type { SandboxMessage } from './start-sandbox-thread.ts'

/** Entry of the sandbox's thread: its options are the worker's data, what it says is a {@link SandboxMessage}. */
const port = parentPort
const post = (message: SandboxMessage): void => port?.postMessage(message)

try {
  const sandbox = await createSandbox(workerData)
  port?.on('message', (message: unknown) => {
    if (!isJsonObject(message) || message['kind'] !== 'close') return
    void sandbox.close().finally(() => port.close())
  })
  const { baseUrl, port: ownPort, taskBaseUrl, taskPort, adminToken } = sandbox
  post({ kind: 'listening', baseUrl, port: ownPort, taskBaseUrl, taskPort, adminToken })
} catch (error) {
  post({ kind: 'failed', error: toErrorMessage(error) })
}
