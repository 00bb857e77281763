import type { RetryRules } from '../../../shared/plan/plan.ts'

/**
 * How long to wait before an item is tried again, in milliseconds: exponential back-off with full jitter (Brooker,
 * "Exponential Backoff And Jitter", 2015), or what the service asked for, each within its bound.
 * `attempt` is 1 after the first try; `random` gives a number in [0, 1).
 */
export function toRetryDelayMs(
  attempt: number,
  retryAfterMs: number | null,
  rules: RetryRules,
  random: () => number,
): number {
  // A little jitter on top, so that everybody who was told "1 second" does not come back at once.
  if (retryAfterMs !== null) {
    return Math.round(Math.min(retryAfterMs, rules.maxRetryAfterMs) + random() * rules.baseMs)
  }
  const ceiling = Math.min(rules.maxMs, rules.baseMs * 2 ** Math.min(attempt - 1, 30))
  return Math.round(ceiling * random())
}
