import type { CallbackCounts, RequestCounts, RowCounts } from './run.ts'

/**
 * Rows by outcome, from the journal's counts by state. `unaccounted` rows were marked as sent by a
 * process that is gone and have no outcome: they are unknown. What is in none of the states was not sent.
 */
export function toRowCounts(
  states: ReadonlyMap<string, number>,
  rowsRead: number,
  unaccounted = 0,
): RowCounts {
  const of = (state: string) => states.get(state) ?? 0
  const counts = {
    read: rowsRead,
    invalid: of('invalid'),
    succeeded: of('succeeded'),
    rejected: of('rejected'),
    failed: of('failed'),
    unknown: of('unknown') + unaccounted,
    overdue: of('overdue'),
    awaiting: of('acknowledged'),
  }
  const { read, ...others } = counts
  return { ...counts, not_sent: read - Object.values(others).reduce((sum, n) => sum + n, 0) }
}

/**
 * Attempts by outcome, from the journal's counts. `lost` ones were in flight when the process ended that had sent them:
 * they are unknown.
 */
export function toRequestCounts(requests: ReadonlyMap<string, number>, lost = 0): RequestCounts {
  const of = (outcome: string) => requests.get(outcome) ?? 0
  const counts = {
    succeeded: of('succeeded'),
    rejected: of('rejected'),
    failed: of('failed'),
    unknown: of('unknown') + lost,
  }
  const sent = Object.values(counts).reduce((sum, n) => sum + n, 0)
  return { sent, ...counts, retried: of('retried') }
}

/** Callbacks by what they did, from the journal's counts. */
export function toCallbackCounts(callbacks: ReadonlyMap<string, number>): CallbackCounts {
  const of = (kind: string) => callbacks.get(kind) ?? 0
  return {
    received: of('received'),
    settled: of('settled'),
    early: of('early'),
    late: of('late'),
    doubled: of('doubled'),
    unreadable: of('unreadable'),
  }
}
