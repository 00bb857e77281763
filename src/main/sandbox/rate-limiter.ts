/** Says whether a request may pass. */
export interface RateLimiter {
  /** 0 where it may, and it is then counted; otherwise the whole seconds after which it may be tried again. */
  take(): number
}

/**
 * A bucket of tokens, filled at `ratePerSecond`, that holds one second's worth and at least one. `nowMs` is a clock
 * that never goes back.
 */
export function createRateLimiter(ratePerSecond: number, nowMs: () => number): RateLimiter {
  const capacity = Math.max(1, ratePerSecond)
  let tokens = capacity
  let filledAtMs = nowMs()
  return {
    take: () => {
      const atMs = nowMs()
      tokens = Math.min(capacity, tokens + ((atMs - filledAtMs) / 1_000) * ratePerSecond)
      filledAtMs = atMs
      if (tokens >= 1) {
        tokens -= 1
        return 0
      }
      return Math.max(1, Math.ceil((1 - tokens) / ratePerSecond))
    },
  }
}
