import type { RunSummary } from '../../../shared/run.ts'
import { isOperationKind, OPERATION_LOOKS } from '../../ui/operations/operation-looks.ts'

/** What a run does, in a line: `retry · submit content · v1 sync`. */
export function describeRun(run: RunSummary): string {
  const { operation, mode, api } = run
  const isKnown = isOperationKind(operation)
  const hasModes = operation === 'task' || operation.startsWith('index-')
  const parts = [
    isKnown ? OPERATION_LOOKS[operation].title.toLowerCase() : operation,
    ...(hasModes ? [operation === 'task' ? `${api} ${mode}` : mode] : []),
  ]
  if (run.parent_run_id !== null) parts.unshift('retry')
  return parts.join(' · ')
}
