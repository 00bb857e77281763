import { countSettled } from '../../../shared/run/counts.ts'
import type { RunSnapshot } from '../../../shared/run/snapshot.ts'

type Sending = Pick<RunSnapshot, 'phase' | 'rows' | 'requests'>

/**
 * Whether all of the run is being sent or was sent. The screen learns of it only from the run if a trial had
 * all of its rows, or the connection was lost before the answer to sending the rest.
 */
export function isBeyondTrial(
  { phase, rows, requests }: Sending,
  isLoad: boolean,
  trialRows: number,
): boolean {
  if (phase === 'intake' || requests.sent === 0) return false
  if (isLoad || phase === 'ended' || rows.not_sent === 0) return true
  return countSettled(rows) + rows.awaiting > trialRows
}

/** The beginning of a sentence about such a run, which its destination ends. */
export function describeSendingTo({ phase, rows }: Sending, isLoad: boolean): string {
  // A load test may end before it has sent each row once.
  if (rows.not_sent === 0 || (phase === 'ended' && isLoad)) return 'Sent to '
  if (phase === 'ended') return 'Sent in part to '
  return phase === 'paused' ? 'Paused while being sent to ' : 'Being sent to '
}
