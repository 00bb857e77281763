import type { RetryRules } from '../../../shared/plan/plan.ts'

/**
 * How long to wait before an item is tried again, in milliseconds: exponential back-off with full jitter (Brooker,
 * "Exponential Backoff And Jitter", 2015), or what the service asked for, each within its bound; a run that is asked for
 * more is held (`LongWaits`).
 * `attempt` is 1 after the first try; `random` gives a number in [0, 1).
 */
export function toRetryDelayMs(
  attempt: number,
  retryAfterMs: number | null,
  rules: RetryRules,
  random: () => number,
): number {
  // A little jitter on top, so that not everybody who was asked to wait "1 second" comes back at once.
  if (retryAfterMs !== null) {
    return Math.round(Math.min(retryAfterMs, rules.maxRetryAfterMs) + random() * rules.baseMs)
  }
  const ceiling = Math.min(rules.maxMs, rules.baseMs * 2 ** Math.min(attempt - 1, 30))
  return Math.round(ceiling * random())
}

/** Maximum free retries of one item, so that an item that is itself at fault is not retried forever. */
const SPARED_MAX = 100

/** What the items that are to be sent again have used of their retries in this stretch of sending. */
export class RetryBudget {
  readonly #limit: number
  readonly #items = new Map<number, { used: number; spared: number }>()

  /** `limit` is how many retries an item has, 0 for none. */
  constructor(limit: number) {
    this.#limit = limit
  }

  /**
   * Whether the item may be sent again; if so, takes that off its retries. `isSpared` tries are no fault of the item,
   * which a service that throttles or is away would answer alike: they use nothing up, unless no retries are wanted.
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

  /** How many retries the item has used. */
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
