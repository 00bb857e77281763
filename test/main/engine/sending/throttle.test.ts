import { expect, test } from 'vitest'
import { Throttle } from '../../../../src/main/engine/sending/throttle.ts'
import {
  createBucket,
  createChain,
  createStrays,
  createWindowLimit,
  type SimulatedRun,
  simulate,
} from '../run/simulated-service.ts'

/** Rows accepted per second, and the share of 429s among answers. */
function toFigures({ taken, throttled, endMs }: SimulatedRun) {
  return { takenPerS: (taken * 1000) / endMs, share: throttled / (taken + throttled) }
}

test.each([0.02, 0.05, 0.2])(
  'occasional 429s with Retry-After: 1 delay only their own rows, at a share of %d',
  (share) => {
    const rows = 5_572
    const without = simulate({ limiter: () => null, rows })
    const run = simulate({ limiter: createStrays(share, 1_000), rows })
    expect(run.taken).toBe(rows)
    // The last rows may wait several times in a row; nothing else takes longer than the rows' own tries.
    const own = without.endMs / (1 - share)
    expect(run.endMs).toBeLessThan(own * 1.2 + 6_000)
  },
)

const SENDERS = [
  { inFlight: 32, latencyMs: 20 },
  { inFlight: 8, latencyMs: 20 },
  { inFlight: 64, latencyMs: 5 },
  { inFlight: 64, latencyMs: 200 },
]

test.each(
  [null, 1_000].flatMap((retryAfterMs) =>
    [10, 200].flatMap((burst) => SENDERS.map((sender) => ({ retryAfterMs, burst, ...sender }))),
  ),
)(
  'a limit of 200 a second is found and kept: Retry-After $retryAfterMs, bursts of $burst, $inFlight in flight, $latencyMs ms',
  ({ retryAfterMs, burst, ...sender }) => {
    const limiter = createBucket(200, { burst, retryAfterMs })
    const { takenPerS, share } = toFigures(simulate({ limiter, rows: 6_000, ...sender }))
    expect(takenPerS).toBeGreaterThan(190)
    expect(share).toBeLessThan(0.05)
  },
)

test('a limit is found despite additional random 429s', () => {
  const limiter = createChain(
    createStrays(0.05, 1_000),
    createBucket(200, { burst: 10, retryAfterMs: 1_000 }),
  )
  const { takenPerS, share } = toFigures(simulate({ limiter, rows: 6_000 }))
  expect(takenPerS).toBeGreaterThan(185)
  expect(share).toBeLessThan(0.12)
})

test.each([
  { requests: 200, windowMs: 1_000 },
  { requests: 10, windowMs: 50 },
  { requests: 1_000, windowMs: 60_000 },
])('a limit of $requests in each $windowMs ms is used up, and 429s stay few', ({ requests, windowMs }) => {
  const rows = Math.max(2_500, (requests / windowMs) * 10_000)
  const run = simulate({ limiter: createWindowLimit(requests, windowMs), rows })
  const { takenPerS, share } = toFigures(run)
  expect(takenPerS).toBeGreaterThan((requests / windowMs) * 1000 * 0.9)
  expect(share).toBeLessThan(0.25)
})

test('a limit that falls and rises is followed within seconds', () => {
  const limitAt = (nowMs: number) => (nowMs < 10_000 ? 400 : nowMs < 30_000 ? 100 : 800)
  const run = simulate({ limiter: createBucket(limitAt, { burst: 10, retryAfterMs: 1_000 }), rows: 30_000 })
  const mean = (from: number, to: number) =>
    run.takenIn.slice(from, to).reduce((sum, taken) => sum + taken, 0) / (to - from)
  expect(mean(2, 10)).toBeGreaterThan(380)
  expect(mean(14, 30)).toBeGreaterThan(93)
  expect(mean(45, 60)).toBeGreaterThan(740)
  expect(toFigures(run).share).toBeLessThan(0.06)
})

test('a limit of a few requests a second is kept', () => {
  const limiter = createBucket(2, { burst: 2, retryAfterMs: 1_000 })
  const run = simulate({ limiter, rows: 100 })
  expect(toFigures(run).takenPerS).toBeGreaterThan(1.8)
  // About sixty at first, then one every few seconds.
  expect(run.throttled).toBeLessThan(100)
})

test('when a limit is lifted the pace is unlimited again', () => {
  const throttle = new Throttle(60_000)
  const limiter = createBucket((nowMs) => (nowMs < 10_000 ? 200 : 100_000), { burst: 100 })
  simulate({ limiter, rows: 40_000, throttle })
  expect([throttle.isThrottling, throttle.pacePerS]).toEqual([false, Infinity])
})

test('a service that answers only 429 gets single probes at growing intervals', () => {
  const run = simulate({ limiter: () => ({ retryAfterMs: null }), rows: 1_000, untilMs: 60_000 })
  expect(run.taken).toBe(0)
  expect(run.throttled).toBeLessThan(80)
})

test('a service that was throttling everything is soon used again', () => {
  const limiter = (nowMs: number) => (nowMs < 10_000 ? { retryAfterMs: 1_000 } : null)
  expect(simulate({ limiter, rows: 5_000 }).endMs).toBeLessThan(20_000)
})

/** A throttle that has just got only 429s until it holds everything. */
function createHeld(retryAfterMs: number | null, maxWaitMs = 60_000) {
  const throttle = new Throttle(maxWaitMs)
  let nowMs = 0
  for (let item = 1; throttle.nextProbeMs === null; item += 1) {
    nowMs += throttle.waitMs(nowMs)
    throttle.noteSent(nowMs)
    throttle.noteAnswer({ item, isThrottled: true, retryAfterMs, sentAtMs: nowMs, nowMs })
  }
  return { throttle, nowMs }
}

test('only 429s hold everything for as long as the service asks, a second by default, within the limit', () => {
  for (const [asked, max, waitMs] of [
    [5_000, 60_000, 5_000],
    [null, 60_000, 1_000],
    [1e12, 2_000, 2_000],
  ] as const) {
    const { throttle, nowMs } = createHeld(asked, max)
    expect(throttle.waitMs(nowMs)).toBeCloseTo(waitMs, 3)
    expect(throttle.pacePerS).toBe(0)
  }
})

test('after a hold one probe goes out, and its answer decides', () => {
  const { throttle, nowMs } = createHeld(5_000)
  const probeMs = nowMs + 5_000
  expect([throttle.waitMs(probeMs), throttle.room(probeMs)]).toEqual([0, 1])
  throttle.noteSent(probeMs)
  expect(throttle.waitMs(probeMs)).toBe(Infinity)
  // Answers to requests from before the hold say nothing about now.
  throttle.noteAnswer({
    item: 1,
    isThrottled: false,
    retryAfterMs: null,
    sentAtMs: nowMs - 1,
    nowMs: probeMs,
  })
  expect(throttle.waitMs(probeMs)).toBe(Infinity)
  throttle.noteAnswer({ item: 2, isThrottled: false, retryAfterMs: null, sentAtMs: probeMs, nowMs: probeMs })
  expect(throttle.nextProbeMs).toBeNull()
})

test('an unanswered probe is followed by another', () => {
  const { throttle, nowMs } = createHeld(null)
  throttle.noteSent(nowMs + 1_000)
  throttle.noteUnanswered(nowMs + 1_000)
  expect(throttle.waitMs(nowMs + 1_000)).toBe(0)
})

test('one row that is throttled repeatedly limits nothing', () => {
  const throttle = new Throttle(60_000)
  for (let nowMs = 0; nowMs < 20; nowMs += 1) {
    throttle.noteSent(nowMs)
    throttle.noteAnswer({ item: 1, isThrottled: true, retryAfterMs: 5_000, sentAtMs: nowMs, nowMs })
  }
  expect([throttle.isThrottling, throttle.explains429, throttle.waitMs(20)]).toEqual([false, false, 0])
})
