import { fork } from 'node:child_process'
import process from 'node:process'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'

/** A separate process that answers one message, and writes its findings to its stdout. */
export interface OwnProcess {
  stdout: Readable
  send(message: unknown): void
  onMessage(listener: (message: unknown) => void): void
  /** Calls back once the process has ended or failed to start; `reason` is part of a sentence. */
  onEnd(listener: (reason: string) => void): void
  /** Ends it at once, whatever it does. */
  kill(): void
}

/** Starts an entry file in a process with Node options. */
export type StartProcess = (entry: URL, options: readonly string[]) => OwnProcess

/** Starts a process of the running Node executable; the desktop app does this differently. */
export const forkProcess: StartProcess = (entry, options) => {
  const child = fork(fileURLToPath(entry), {
    execArgv: [...options],
    stdio: ['ignore', 'pipe', 'ignore', 'ipc'],
  })
  const kill = () => void child.kill('SIGKILL')
  process.once('exit', kill)
  child.once('exit', () => process.off('exit', kill))
  if (child.stdout === null) throw new Error('a child has a stdout')
  return {
    stdout: child.stdout,
    kill,
    send: (message) => void child.send(message as object, () => {}),
    onMessage: (listener) => void child.once('message', listener),
    onEnd(listener) {
      child.once('error', (error) => listener(error.message))
      child.once('exit', (code, signal) => listener(`it ended with ${signal ?? `code ${code}`}`))
    },
  }
}
