import { parentPort, workerData } from 'node:worker_threads'
import { toErrorMessage } from '../../../shared/messages/errors.ts'
import type { CommitHook } from '../journal/journal.ts'
import { RunSession } from './run-session.ts'
import type { RunCommand, RunEvent, RunTask } from './run-thread.ts'

/** Runs the thread's one session. `onCommit` is for tests that cut the process off at a commit. */
export function startRunWorker(onCommit?: CommitHook): void {
  const port = parentPort
  if (port === null) throw new Error('startRunWorker belongs into a worker thread')
  const post = (event: RunEvent): void => port.postMessage(event)
  try {
    const session = new RunSession(workerData as RunTask, post, onCommit)
    port.on('message', (command: RunCommand) => session.command(command))
    void session.run().finally(() => port.close())
  } catch (error) {
    post({ kind: 'failed', error: toErrorMessage(error) })
    port.close()
  }
}
