import type { Draw } from '../seeded-draw.ts'
import type { AttemptResult } from './callback-sender.ts'

/** Longest wait between two attempts, also where Retry-After asks for more, in milliseconds. */
const MAX_WAIT_MS = 30_000

/** Waits are spread by this share to either side, so that callbacks that failed together do not come back together. */
const JITTER = 0.25

/**
 * How long to wait after the `attempts`-th failed attempt, in milliseconds: `backoffMs`, doubled after each further
 * failure and jittered, and at least what Retry-After asks for; nothing after a connection that was stale.
 */
export function toRetryWaitMs(
  { isStaleConnection, retryAfterMs }: AttemptResult,
  { attempts, backoffMs, draw }: { attempts: number; backoffMs: number; draw: Draw },
): number {
  if (isStaleConnection) return 0
  const spread = 1 + JITTER * (2 * draw('callback retry') - 1)
  const waitMs = backoffMs * 2 ** Math.min(attempts - 1, 20) * spread
  return Math.min(MAX_WAIT_MS, Math.max(waitMs, retryAfterMs ?? 0))
}
