import type { RetryRules } from '../../../shared/plan/plan.ts'

/**
 * The wait before an item is tried again, milliseconds: exponential back-off with full jitter (Brooker,
 * "Exponential Backoff And Jitter", 2015), or what the service asked for, each within its limit; a run asked
 * for more is held (`LongWaits`). `attempt` is 1 after the first try; `random` gives a number in [0, 1).
 */
export function toRetryDelayMs(
  attempt: number,
  retryAfterMs: number | null,
  rules: RetryRules,
  random: () => number,
): number {
  // A little jitter on top, so that not everyone told to wait "1 second" comes back at once.
  if (retryAfterMs !== null) {
    return Math.round(Math.min(retryAfterMs, rules.maxRetryAfterMs) + random() * rules.baseMs)
  }
  const ceiling = Math.min(rules.maxMs, rules.baseMs * 2 ** Math.min(attempt - 1, 30))
  return Math.round(ceiling * random())
}

/** Most free retries of one item, so that an item at fault itself is not retried forever. */
const SPARED_MAX = 100

/** The retries that items have used in this stretch of sending. */
export class RetryBudget {
  readonly #limit: number
  readonly #items = new Map<number, { used: number; spared: number }>()

  /** `limit` is the number of retries per item, 0 for none. */
  constructor(limit: number) {
    this.#limit = limit
  }

  /**
   * Whether the item may be resent; if so, uses up a retry. `isSpared` tries are not the item's fault, since
   * a service that throttles or is away would answer any item alike: they use up nothing, unless no retries
   * are wanted.
   */
  take(item: number, isSpared: boolean): boolean {
    const { used, spared } = this.#items.get(item) ?? { used: 0, spared: 0 }
    if (isSpared && this.#limit > 0 && spared < SPARED_MAX) {
      this.#items.set(item, { used, spared: spared + 1 })
      return true
    }
    if (used >= this.#limit) return false
    this.#items.set(item, { used: used + 1, spared })
    return true
  }

  used(item: number): number {
    return this.#items.get(item)?.used ?? 0
  }

  forget(item: number): void {
    this.#items.delete(item)
  }

  /** Gives every item all of its retries again. */
  reset(): void {
    this.#items.clear()
  }
}
