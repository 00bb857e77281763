import { RunSession } from '../../../src/main/engine/session/run-session.ts'
import type { RunCalls, RunEvents } from '../../../src/main/engine/session/run-thread.ts'
import { serveCalls } from '../../../src/main/worker-rpc.ts'

/** `before:12` or `after:12`: kills the process right before or after the run's twelfth commit. */
const [when, number] = (process.env['CRASH_AT_COMMIT'] ?? '').split(':')

let session: RunSession | null = null

const sendEvent = serveCalls<RunCalls, RunEvents>({
  run(task) {
    session = new RunSession(task, sendEvent, {
      onCommit(at, commit) {
        if (at === when && commit === Number(number)) process.kill(process.pid, 'SIGKILL')
      },
    })
    return session.run()
  },
  command(command) {
    session?.command(command)
  },
})
