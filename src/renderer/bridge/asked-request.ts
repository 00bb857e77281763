import { toCauseKey, toErrorKey } from '../../shared/run/counts.ts'
import type { RowFilter } from '../../shared/run/row-filters.ts'
import type { ErrorCause, ErrorGroup } from '../../shared/run/run.ts'
import { bridge } from './client.ts'

/** Query for the request of a row, or the first that matches a filter. A service's message may quote it. */
export function askRequest(runId: string, of: { row: number } | { filter: RowFilter }) {
  return {
    queryKey: ['request that a message is about', runId, of],
    queryFn: async (): Promise<string | null> => {
      const row = 'row' in of ? of.row : await findFirst(runId, of.filter)
      return (await bridge.results.row({ runId, row })).requestBody
    },
    staleTime: Number.POSITIVE_INFINITY,
    // A row that has just ended may not be found yet.
    retry: 5,
  }
}

/** A filter for the rows of a cause; one with several messages has a code. */
export function toCauseFilter(cause: ErrorCause): RowFilter {
  return cause.messages > 1 ? { cause: toCauseKey(cause) } : toMessageFilter(cause)
}

function toMessageFilter({ outcome, status, error_code, message }: Omit<ErrorGroup, 'rows'>): RowFilter {
  return { cause: toErrorKey(outcome, status, error_code, message) }
}

/** {@link askRequest} for the message of a cause; null if the message is not the service's. */
export function askCauseRequest(runId: string, cause: Omit<ErrorGroup, 'rows'>) {
  if (cause.outcome === 'invalid' || cause.status === null || cause.message === '') return null
  return askRequest(runId, { filter: toMessageFilter(cause) })
}

async function findFirst(runId: string, filter: RowFilter): Promise<number> {
  const [first] = (await bridge.results.page({ runId, filter, offset: 0, limit: 1 })).rows
  if (first === undefined) throw new Error('no row has this cause')
  return first.row
}
