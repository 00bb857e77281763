import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'

const CHILD = fileURLToPath(new URL('./receiver-child.ts', import.meta.url))

/** A receiver in a process of its own. */
export interface ReceiverProcess {
  baseUrl: string
  secret: string
  role: string
  /** Kills it with SIGKILL. */
  kill(): void
  exited: Promise<unknown>
}

/** Starts a receiver in a process of its own, which is killed after the running test. */
export async function spawnReceiver(workspace: string): Promise<ReceiverProcess> {
  const child = spawn(process.execPath, [CHILD, workspace], { stdio: ['ignore', 'pipe', 'inherit'] })
  const exited = once(child, 'exit')
  const kill = () => void child.kill('SIGKILL')
  onTestFinished(kill)
  const [line] = await once(child.stdout.setEncoding('utf8'), 'data')
  return { ...JSON.parse(String(line)), kill, exited }
}
