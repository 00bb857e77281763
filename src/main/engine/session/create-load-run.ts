import type { Load } from '../../../shared/load/load.ts'
import type { Journal } from '../journal/journal.ts'
import type { RunRecord } from '../journal/run-record.ts'
import { LoadCallbacks } from '../load/load-callbacks.ts'
import { LoadRun } from '../load/load-run.ts'
import { readClockMs } from '../load/load-threads.ts'
import { InboxReader } from '../receiver/inbox-reader.ts'
import { createOperationExchange } from '../service/operation-exchange.ts'
import type { RunTask } from './run-thread.ts'

/** Builds the load test of a run; `task` is the run's. */
export function createLoadRun(
  task: Pick<RunTask, 'workspace' | 'apiKey' | 'proxyCredentials' | 'appVersion' | 'loadWorkerUrl'>,
  journal: Journal,
  record: RunRecord,
  load: Load,
): LoadRun {
  const { workspace, apiKey, proxyCredentials, appVersion } = task
  return new LoadRun({
    journal,
    record,
    load,
    workerUrl: new URL(task.loadWorkerUrl),
    task: { workspace, apiKey, proxyCredentials, appVersion },
    createCallbacks:
      record.callbackBase === null
        ? null
        : (heard) =>
            new LoadCallbacks({
              inbox: new InboxReader(workspace),
              runToken: record.runToken,
              timeoutMs: record.plan.callback.timeoutMs,
              judge: createOperationExchange(record.plan, { deliveredCodes: [], nowMs: Date.now })
                .judgeCallback,
              ...heard,
              nowMs: readClockMs,
            }),
  })
}
