import type { RunSummary } from '../../../shared/run.ts'
import type { NamedPlace } from '../../ui/connection/destination.ts'
import { isOperationKind, OPERATION_LOOKS } from '../../ui/operations/operation-looks.ts'

/** What a run does and where, in a line: `submit content · v1 sync · api.example.com`. */
export function describeRun(run: RunSummary, namePlace: (baseUrl: string) => NamedPlace): string {
  const { operation, mode, api } = run
  const isKnown = isOperationKind(operation)
  const hasModes = operation === 'task' || operation.startsWith('index-')
  const parts = [
    isKnown ? OPERATION_LOOKS[operation].title.toLowerCase() : operation,
    ...(hasModes ? [operation === 'task' ? `${api} ${mode}` : mode] : []),
    namePlace(run.base_url).name,
  ]
  if (run.parent_run_id !== null) parts.unshift('retry')
  return parts.join(' · ')
}
