import type { Outcome } from '../../../shared/run/item-state.ts'

/** Codes of tries that were never sent because a time-out passed: our own, and that of opening a connection. */
const TIME_OUT_CODES: ReadonlySet<string> = new Set(['TIMEOUT', 'UND_ERR_CONNECT_TIMEOUT'])

/**
 * Whether a try has an http_req_duration: it was sent, or it timed out before (docs/load-tests.md §1). A `failed` try
 * is one that was not sent, so that this can be told of a journaled try too.
 */
export function isTimed(attempt: { outcome: Outcome; errorCode: string | null }): boolean {
  return attempt.outcome !== 'failed' || TIME_OUT_CODES.has(attempt.errorCode ?? '')
}
