import type { RunSnapshot } from '../../../shared/run/snapshot.ts'

/** How far a run is, in rows that can be sent. */
export interface RowProgress {
  done: number
  total: number
  /** From 0 to 1. */
  share: number
}

/** Rows that are settled, of those that passed validation. */
export function toRowProgress({ rows }: RunSnapshot): RowProgress {
  const total = rows.read - rows.invalid
  const done = rows.succeeded + rows.rejected + rows.failed + rows.unknown + rows.overdue
  return { done, total, share: total === 0 ? 0 : done / total }
}

/** What the run is doing, in a word. */
export function toPhaseLabel(phase: RunSnapshot['phase']): string {
  switch (phase) {
    case 'intake':
      return 'Reading'
    case 'ready':
      return 'Checked'
    case 'running':
      return 'Sending'
    case 'paused':
      return 'Paused'
    case 'draining':
      return 'Stopping'
    case 'awaiting':
      return 'Awaiting'
    case 'ended':
      return 'Ended'
  }
}
