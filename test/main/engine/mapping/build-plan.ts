import { type Body, writeBody } from '../../../../src/main/engine/mapping/json-text.ts'
import { type Plan, type PlanInput, planSchema } from '../../../../src/shared/plan/plan.ts'

/** A plan of a task with the given parts and otherwise minimal values. */
export function buildPlan(
  parts: Partial<PlanInput> & { api?: 'v1' | 'v2'; mode?: 'sync' | 'async' } = {},
): Plan {
  const { api = 'v1', mode = 'sync', ...rest } = parts
  return planSchema.parse({
    connection: { baseUrl: 'http://127.0.0.1:1' },
    source: { path: '/source.csv' },
    operation: { kind: 'task', api, mode },
    ...rest,
  })
}

/** The parsed body. */
export function readBody(body: Readonly<Body>): Record<string, unknown> {
  return JSON.parse(writeBody(body))
}
