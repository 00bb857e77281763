import { fileURLToPath } from 'node:url'
import { type Plan, type PlanInput, planSchema } from '../../../shared/plan/plan.ts'
import { DEMO_WATCHLIST } from './script.ts'

/** Absolute path of the bundled sample, written for Sluice: mild posts, and a few rows that must not pass. */
export const SAMPLE_FILE = fileURLToPath(new URL('./sample.csv', import.meta.url))

/** Absolute path of the bundled sample for the asynchronous run: texts and addresses of media. */
const ASYNC_SAMPLE_FILE = fileURLToPath(new URL('./async-sample.csv', import.meta.url))

/** Absolute path of the bundled terms and notes; the sandbox's watchlist has two of them already. */
const TERMS_SAMPLE_FILE = fileURLToPath(new URL('./terms-sample.csv', import.meta.url))

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
