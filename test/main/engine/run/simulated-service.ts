import { Throttle } from '../../../../src/main/engine/sending/throttle.ts'

/** Response of a simulated service: null if it accepts the request, else its Retry-After in milliseconds. */
export type Limiter = (nowMs: number) => { retryAfterMs: number | null } | null

/** A service that accepts that many requests a second, in bursts of up to `burst`. */
export function createBucket(
  ratePerS: number | ((nowMs: number) => number),
  options: { burst?: number; retryAfterMs?: number | null } = {},
): Limiter {
  const { burst = 1, retryAfterMs = null } = options
  let tokens = burst
  let atMs = 0
  return (nowMs) => {
    const rate = typeof ratePerS === 'number' ? ratePerS : ratePerS(nowMs)
    tokens = Math.min(burst, tokens + ((nowMs - atMs) * rate) / 1000)
    atMs = nowMs
    if (tokens < 1) return { retryAfterMs }
    tokens -= 1
    return null
  }
}

/** A service that accepts that many requests in each time window, as gateways count them. */
export function createWindowLimit(requests: number, windowMs: number): Limiter {
  let window = -1
  let taken = 0
  return (nowMs) => {
    const current = Math.floor(nowMs / windowMs)
    if (current !== window) taken = 0
    window = current
    taken += 1
    return taken <= requests ? null : { retryAfterMs: (current + 1) * windowMs - nowMs }
  }
}

/** A service that answers a share of its requests with 429, at any pace. */
export function createStrays(share: number, retryAfterMs: number | null, random = createRandom(7)): Limiter {
  return () => (random() < share ? { retryAfterMs } : null)
}

/** Several limiters in sequence. */
export function createChain(...limiters: readonly Limiter[]): Limiter {
  return (nowMs) => {
    for (const limiter of limiters) {
      const refusal = limiter(nowMs)
      if (refusal !== null) return refusal
    }
    return null
  }
}

/** Numbers in [0, 1), the same for each seed. */
function createRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296
    return state / 4_294_967_296
  }
}

/** The result of sending to a simulated service. */
export interface SimulatedRun {
  taken: number
  throttled: number
  /** When the last row was accepted, milliseconds. */
  endMs: number
  /** Rows accepted in each second. */
  takenIn: number[]
  paces: number[]
}

interface Waiting {
  item: number
  atMs: number
}

/**
 * Sends rows through a throttle to a simulated service on a simulated clock, as lanes do; 429s wait and are
 * sent again.
 */
export function simulate(options: {
  limiter: Limiter
  rows: number
  inFlight?: number
  latencyMs?: number
  /** Time limit, milliseconds. */
  untilMs?: number
  throttle?: Throttle
}): SimulatedRun {
  const { limiter, rows, inFlight = 32, latencyMs = 20, untilMs = 600_000 } = options
  const throttle = options.throttle ?? new Throttle(60_000)
  const random = createRandom(11)
  const flights: { item: number; sentAtMs: number; endMs: number; refusal: ReturnType<Limiter> }[] = []
  const waiting: Waiting[] = []
  const run: SimulatedRun = { taken: 0, throttled: 0, endMs: 0, takenIn: [], paces: [] }
  let next = 0
  let nowMs = 0
  while (run.taken < rows && nowMs < untilMs) {
    while (flights.length > 0 && (flights[0]?.endMs ?? Infinity) <= nowMs) {
      const flight = flights.shift()
      if (flight === undefined) break
      const { item, sentAtMs, refusal } = flight
      const retryAfterMs = refusal?.retryAfterMs ?? null
      throttle.noteAnswer({ item, sentAtMs, isThrottled: refusal !== null, retryAfterMs, nowMs })
      if (refusal === null) {
        run.taken += 1
        run.endMs = nowMs
        const second = Math.floor(nowMs / 1000)
        run.takenIn[second] = (run.takenIn[second] ?? 0) + 1
      } else {
        run.throttled += 1
        waiting.push({ item, atMs: nowMs + (retryAfterMs ?? random() * 200) + random() * 200 })
      }
    }
    if (nowMs >= run.paces.length * 1000) run.paces.push(throttle.pacePerS)
    while (flights.length < inFlight && throttle.waitMs(nowMs) === 0) {
      const index = waiting.findIndex(({ atMs }) => atMs <= nowMs)
      const item = index >= 0 ? waiting.splice(index, 1)[0]?.item : next < rows ? next++ : undefined
      if (item === undefined) break
      throttle.noteSent(nowMs)
      // Each request arrives at its own instant.
      const jitterMs = random()
      flights.push({
        item,
        sentAtMs: nowMs,
        endMs: nowMs + latencyMs + jitterMs,
        refusal: limiter(nowMs + jitterMs / 2),
      })
    }
    nowMs += 1
  }
  return run
}
