import type { K6Plan } from '../../../../../src/main/engine/load/k6/k6-script.ts'
import { type LoadInput, loadSchema } from '../../../../../src/shared/load/load.ts'
import { type PlanInput, planSchema } from '../../../../../src/shared/plan/plan.ts'

/** A plan with a load that k6 can send. */
export function buildK6Plan(load: LoadInput, parts: Partial<PlanInput> = {}): K6Plan {
  const plan = planSchema.parse({
    connection: { baseUrl: 'https://service.test/v/', timeoutMs: 5_000 },
    source: { path: '/data/posts.csv' },
    operation: { kind: 'task' },
    ...parts,
  })
  return { connection: plan.connection, operation: plan.operation, load: loadSchema.parse(load) }
}
