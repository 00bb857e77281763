import type { RowState } from '../../../shared/run/results.ts'
import type { RowCounts } from '../../../shared/run/run.ts'

/** A state and how many rows are in it. */
export interface StateCount {
  state: RowState
  rows: number
}

/** A run's counts in the order they are shown everywhere; `not_sent` covers what waits and what is on its way. */
export function toStateCounts(rows: RowCounts): StateCount[] {
  return [
    { state: 'succeeded', rows: rows.succeeded },
    { state: 'rejected', rows: rows.rejected },
    { state: 'failed', rows: rows.failed },
    { state: 'unknown', rows: rows.unknown },
    { state: 'overdue', rows: rows.overdue },
    { state: 'acknowledged', rows: rows.awaiting },
    { state: 'invalid', rows: rows.invalid },
    { state: 'pending', rows: rows.not_sent },
  ]
}

/** Rows that no longer change without a new request, except invalid ones. */
export function countSettled(rows: RowCounts): number {
  return rows.succeeded + rows.rejected + rows.failed + rows.unknown + rows.overdue
}

/** Rows that a retry would send: rejected, failed, unknown and overdue. */
export function countRetryable(rows: RowCounts): number {
  return rows.rejected + rows.failed + rows.unknown + rows.overdue
}
