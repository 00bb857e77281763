import { readSamples } from '../../../../../src/main/engine/journal/load-writer.ts'
import { readLoadReport } from '../../../../../src/main/engine/query/load-report.ts'
import type { LoadInput } from '../../../../../src/shared/load.ts'
import type { LoadReport, LoadSample } from '../../../../../src/shared/load-report.ts'
import type { Plan, PlanInput } from '../../../../../src/shared/plan.ts'
import type { RunSummary } from '../../../../../src/shared/run.ts'
import { createInProcessRuns, type SessionOptions } from '../../../../helpers/in-process-runs.ts'
import { createRunPlan } from '../../../../helpers/test-folder.ts'

/** Everything that is known of a load test after it. */
export interface LoadResult {
  summary: RunSummary
  report: LoadReport
  samples: LoadSample[]
}

/** Starts load tests in the tests' own thread, with real sending threads. */
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
    return createRunPlan(folder, rows, baseUrl, { connection, retry: { limit: 0 }, load, ...parts })
  }

  function read(summary: RunSummary): LoadResult {
    return runs.read(summary.run_id, (view) => ({
      summary,
      report: readLoadReport(view),
      samples: [...readSamples(view.db)],
    }))
  }

  return {
    createPlan,
    start: (plan: Plan, options: SessionOptions = {}) => runs.start(plan, options),
    read,
    /** Runs a plan to its end. */
    run: async (plan: Plan, options: SessionOptions = {}) => read(await runs.start(plan, options).ended),
  }
}

/** The series of numbers from 1 on that post_ids of a load end with. */
export function toNumbers(postIds: Iterable<string>): number[] {
  return [...postIds].map((id) => Number(id.slice(id.lastIndexOf('-') + 1))).sort((a, b) => a - b)
}
