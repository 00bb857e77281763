import { serveCalls } from '../../worker-rpc.ts'
import { RunSession } from './run-session.ts'
import type { RunCalls, RunEvents } from './run-thread.ts'

let session: RunSession | null = null

const sendEvent = serveCalls<RunCalls, RunEvents>({
  run(task) {
    session = new RunSession(task, sendEvent)
    return session.run()
  },
  command(command) {
    session?.command(command)
  },
})
