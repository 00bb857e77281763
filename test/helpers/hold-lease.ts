import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const CHILD = fileURLToPath(new URL('./lease-child.ts', import.meta.url))

/** A process that holds the lease of a file. */
export interface LeaseHolder {
  /** Kills it with SIGKILL; resolves after its end. */
  kill(): Promise<void>
}

/** Starts a process that takes the lease of a file; resolves once it has it. */
export async function holdLease(file: string): Promise<LeaseHolder> {
  const child = spawn(process.execPath, [CHILD, file], { stdio: ['ignore', 'pipe', 'inherit'] })
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  await Promise.race([untilOutput(child), exited.then(() => Promise.reject(new Error('took no lease')))])
  return {
    kill: () => {
      child.kill('SIGKILL')
      return exited
    },
  }
}

function untilOutput(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => child.stdout?.once('data', () => resolve()))
}
