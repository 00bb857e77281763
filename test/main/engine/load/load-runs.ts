import { readSamples } from '../../../../src/main/engine/journal/load-record.ts'
import { readLoadReport } from '../../../../src/main/engine/results/load-report.ts'
import { summarizeRun } from '../../../../src/main/engine/results/run-summary.ts'
import type { LoadInput } from '../../../../src/shared/load/load.ts'
import type { LoadReport, LoadSample } from '../../../../src/shared/load/load-report.ts'
import type { Plan, PlanInput } from '../../../../src/shared/plan/plan.ts'
import type { RunSummary } from '../../../../src/shared/run/run.ts'
import {
  type FaultServer,
  startFaultServer,
  toErrorAnswer,
  toTaskAnswer,
  type WireRequest,
} from '../../../helpers/fault-server.ts'
import { createInProcessRuns, type SessionOptions } from '../../../helpers/in-process-runs.ts'
import { createRunPlan } from '../../../helpers/test-folder.ts'

/** All results of a load test. */
export interface LoadResult {
  summary: RunSummary
  report: LoadReport
  samples: LoadSample[]
}

/** Starts load tests in the test's own thread, with real sending threads. */
export function createLoadRuns(folder: string) {
  const runs = createInProcessRuns(folder)

  function createPlan(
    rows: number | readonly string[],
    baseUrl: string,
    load: LoadInput,
    parts: Partial<PlanInput> = {},
  ): Plan {
    // A machine that is busy with other tests must not make requests time out.
    const connection = { baseUrl, timeoutMs: 30_000 }
    // Tests of the first request name it; the others count all requests.
    return createRunPlan(folder, rows, baseUrl, {
      connection,
      retry: { limit: 0 },
      load: { firstRequest: 'skip', ...load },
      ...parts,
    })
  }

  function look(runId: string): LoadResult {
    return runs.read(runId, (view) => ({
      summary: summarizeRun(view),
      report: readLoadReport(view),
      samples: [...readSamples(view.db)],
    }))
  }

  return {
    createPlan,
    start: (plan: Plan, options: SessionOptions = {}) => runs.start(plan, options),
    /** The run's record in its journal. */
    look,
    /** Runs a plan to its end. */
    run: async (plan: Plan, options: SessionOptions = {}) =>
      look((await runs.start(plan, options).ended).run_id),
  }
}

/** A service that answers after this many milliseconds, with 429 for requests that `isRefused` picks. */
export function startService(
  delayMs = 0,
  isRefused: (request: WireRequest) => boolean = () => false,
): Promise<FaultServer> {
  return startFaultServer({
    onRequest: (request, wire) => {
      const answer = () =>
        isRefused(request)
          ? wire.send(429, toErrorAnswer(429, 'RATE_LIMITED', 'slow down'))
          : wire.send(200, toTaskAnswer(request))
      setTimeout(answer, delayMs)
    },
  })
}

/** The numbers from 1 on with which a load's post_ids end. */
export function toNumbers(postIds: Iterable<string>): number[] {
  return [...postIds].map((id) => Number(id.slice(id.lastIndexOf('-') + 1))).sort((a, b) => a - b)
}
