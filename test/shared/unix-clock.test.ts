import { afterEach, expect, test, vi } from 'vitest'

const HOUR_MS = 3_600_000

afterEach(() => {
  vi.useRealTimers()
})

/** The clock of a process that has just begun. */
async function beginProcess() {
  vi.resetModules()
  return await import('../../src/shared/unix-clock.ts')
}

/** Moves the machine's clock while `performance.now()` stands still, as it does in its sleep. */
function setClock(byMs: number): void {
  vi.useFakeTimers({ toFake: ['Date', 'performance'], now: Date.now() })
  vi.setSystemTime(Date.now() + byMs)
}

test.each([
  ['has slept for eight hours', 8 * HOUR_MS],
  ['was set back by an hour', -HOUR_MS],
])('times are those of a machine that %s', async (_, byMs) => {
  const { toMonotonicMs, toUnixMs } = await beginProcess()
  setClock(byMs)
  expect(toUnixMs()).toBeCloseTo(Date.now(), 3)
  expect(toMonotonicMs(Date.now() + 250)).toBeCloseTo(performance.now() + 250, 3)
})

test('moments are as far apart as measured while the clock is corrected by less than a second', async () => {
  const { toUnixMs } = await beginProcess()
  setClock(0)
  const beforeMs = toUnixMs()
  vi.setSystemTime(Date.now() - 900)
  vi.advanceTimersByTime(20)
  expect(toUnixMs() - beforeMs).toBeCloseTo(20, 3)
})

test.each([
  ['forward', 20_000],
  ['back', -20_000],
])('what was noted before or after the clock was set %s is not older than measured', async (_, byMs) => {
  setClock(0)
  const { toUnixMs, toUnixMsAgo } = await beginProcess()
  toUnixMs()
  const notedBefore = toUnixMs()
  vi.advanceTimersByTime(3_000)
  vi.setSystemTime(Date.now() + byMs)
  const notedAfter = toUnixMs()
  expect(toUnixMsAgo(15_000)).toBeLessThan(Math.min(notedBefore, notedAfter))
  vi.advanceTimersByTime(12_100)
  expect(toUnixMsAgo(15_000)).toBeLessThan(notedAfter)
  vi.advanceTimersByTime(23_000)
  expect(toUnixMsAgo(15_000)).toBeGreaterThan(Math.max(notedBefore, notedAfter))
})

test.each([
  ['forward', 20_000],
  ['back', -20_000],
])('times before and after the clock was set %s are no distance', async (_, byMs) => {
  setClock(0)
  const { toUnixMs, wasClockSet } = await beginProcess()
  const long = toUnixMs()
  vi.advanceTimersByTime(60_000)
  const before = toUnixMs()
  expect(wasClockSet(long, before)).toBe(false)
  vi.advanceTimersByTime(1_000)
  vi.setSystemTime(Date.now() + byMs)
  vi.advanceTimersByTime(1_000)
  const after = toUnixMs()
  expect(wasClockSet(before, after)).toBe(true)
  expect(wasClockSet(after + 60_000, after + 90_000)).toBe(false)
})
