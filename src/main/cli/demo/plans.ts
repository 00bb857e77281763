import { type Plan, type PlanInput, planSchema } from '../../../shared/plan/plan.ts'
import { ASYNC_SAMPLE_FILE, SAMPLE_FILE, TERMS_SAMPLE_FILE } from './sample-file.ts'
import { DEMO_WATCHLIST } from './script.ts'

const RETRIES = 6
const CONCURRENCY = 8

/** The plans of the demo, for a sandbox at that address. */
export function createDemoPlans(baseUrl: string): { tasks: Plan; async: Plan; terms: Plan } {
  const toPlan = (name: string, path: string, operation: PlanInput['operation']) =>
    planSchema.parse({
      name,
      connection: { baseUrl },
      source: { path },
      operation,
      pace: { kind: 'closed', concurrency: CONCURRENCY },
      retry: { limit: RETRIES },
    })
  return {
    tasks: toPlan('Demo', SAMPLE_FILE, { kind: 'task' }),
    async: toPlan('Demo, asynchronous', ASYNC_SAMPLE_FILE, { kind: 'task', mode: 'async' }),
    terms: toPlan('Demo, watchlist', TERMS_SAMPLE_FILE, { kind: 'watchlist-add', watchlist: DEMO_WATCHLIST }),
  }
}
