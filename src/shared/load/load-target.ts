import { taskPath } from '../operations/task.ts'
import type { Plan } from '../plan/plan.ts'

/** Base URL and path of a load test's requests (docs/interface.md §4.1, §4.2, §5.5). Tasks only. */
export function toLoadTarget({ connection, operation }: Pick<Plan, 'connection' | 'operation'>): {
  baseUrl: string
  path: string
} {
  if (operation.kind !== 'task') throw new Error(`${operation.kind} has no load test`)
  const baseUrl = operation.api === 'v2' ? (connection.taskBaseUrl ?? connection.baseUrl) : connection.baseUrl
  return { baseUrl: baseUrl.replace(/\/+$/, ''), path: taskPath(operation) }
}

/** URLs that the threshold tags `name` and `url` may have. */
export function listLoadUrls(plan: Pick<Plan, 'connection' | 'operation'>): string[] {
  const { baseUrl, path } = toLoadTarget(plan)
  return [baseUrl + path, path]
}
