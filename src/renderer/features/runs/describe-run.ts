import { formatCounted } from '../../../shared/messages/figure-text.ts'
import type { RunSummary } from '../../../shared/run/run.ts'
import { isOperationKind, LOAD_LOOK, OPERATION_LOOKS } from '../../ui/operations/operation-looks.ts'
import { describeThresholds, isLoadTest } from '../../ui/states/is-load-test.ts'

/** What a run does, in a line: `retry · submit content · v1 sync`, `load test · v1 sync · 1,200 requests`. */
export function describeRun(run: RunSummary): string {
  const { operation, mode, api } = run
  if (isLoadTest(run)) return describeLoad(run)
  const isKnown = isOperationKind(operation)
  const hasModes = operation === 'task' || operation.startsWith('index-')
  const parts = [
    isKnown ? OPERATION_LOOKS[operation].title.toLowerCase() : operation,
    ...(hasModes ? [operation === 'task' ? `${api} ${mode}` : mode] : []),
  ]
  if (run.parent_run_id !== null) parts.unshift('retry')
  if (run.retries.length > 0) parts.push(formatCounted(run.retries.length, 'retry', 'retries'))
  return parts.join(' · ')
}

function describeLoad(run: RunSummary): string {
  const { api, mode, requests } = run
  return [
    LOAD_LOOK.title.toLowerCase(),
    describeThresholds(run),
    `${api} ${mode}`,
    formatCounted(requests.sent, 'request'),
  ]
    .filter((part) => part !== null)
    .join(' · ')
}
