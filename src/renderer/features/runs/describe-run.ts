import type { RunSummary } from '../../../shared/run.ts'

const OPERATIONS: Record<string, string> = { task: 'submit content' }

/** What a run does and where, in a line: `submit content · v1 sync · api.example.com`. */
export function describeRun(run: RunSummary): string {
  const operation = OPERATIONS[run.operation] ?? run.operation
  const parts = [operation, `${run.api} ${run.mode}`, toHost(run.base_url)]
  if (run.parent_run_id !== null) parts.unshift('retry')
  return parts.join(' · ')
}

function toHost(baseUrl: string): string {
  try {
    return new URL(baseUrl).host
  } catch {
    return baseUrl
  }
}
