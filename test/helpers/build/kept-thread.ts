import process from 'node:process'
import { type MessagePort, parentPort } from 'node:worker_threads'
import {
  checkpointJournals,
  forgetAll,
  type QueryCalls,
  queries,
} from '../../../src/main/engine/query/queries.ts'
import { RunSession } from '../../../src/main/engine/session/run-session.ts'
import type { RunCalls, RunEvents } from '../../../src/main/engine/session/run-thread.ts'
import { serveCalls } from '../../../src/main/worker-rpc.ts'
import type { NextUse } from './kept-worker.ts'

// A thread for runs or queries, one after another, each over its own port.

const starter = parentPort

function serveRun(port: MessagePort): void {
  let session: RunSession | null = null
  const sendEvent = serveCalls<RunCalls, RunEvents>(
    {
      run(task) {
        session = new RunSession(task, sendEvent)
        return session.run()
      },
      command(command) {
        session?.command(command)
      },
    },
    { port },
  )
}

function serveQueries(port: MessagePort): void {
  let open = 0
  const counted = Object.entries(queries).map(([name, query]) => {
    const ask = async (...args: never[]): Promise<unknown> => {
      open += 1
      try {
        return await (query as (...args: never[]) => unknown)(...args)
      } finally {
        open -= 1
      }
    }
    return [name, ask]
  })
  serveCalls<QueryCalls>(Object.fromEntries(counted), {
    port,
    afterCall: checkpointJournals,
    end() {
      // Only the end of the thread stops work that is still in progress.
      if (open > 0) process.exit()
      forgetAll()
      port.close()
    },
  })
}

starter?.on('message', ({ use, port, env }: NextUse) => {
  for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name]
  Object.assign(process.env, env)
  port.once('close', () => starter.postMessage('free'))
  if (use === 'run') serveRun(port)
  else serveQueries(port)
})
