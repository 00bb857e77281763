import type { Plan } from '../../../shared/plan.ts'
import { taskPath } from '../../../shared/service/endpoints.ts'
import type { ServiceRequest } from './service-client.ts'

/** Builds the request that submits a task (interface §4.1, §4.2) from its body's fields. */
export function createTaskRequests({ operation }: Plan): (body: Record<string, unknown>) => ServiceRequest {
  if (operation.kind !== 'task') throw new Error(`${operation.kind} submits no task`)
  const path = taskPath(operation)
  return (body) => ({ method: 'POST', path, body: JSON.stringify(body) })
}
