import { afterEach, expect, test, vi } from 'vitest'
import { toMonotonicMs, toUnixMs } from '../../src/shared/unix-clock.ts'

const HOUR_MS = 3_600_000

afterEach(() => {
  vi.useRealTimers()
})

/** Moves the machine's clock while `performance.now()` stands still, as it does in its sleep. */
function setClock(byMs: number): void {
  vi.useFakeTimers({ toFake: ['Date', 'performance'], now: Date.now() })
  vi.setSystemTime(Date.now() + byMs)
}

test.each([
  ['has slept for eight hours', 8 * HOUR_MS],
  ['was set back by an hour', -HOUR_MS],
])('times are those of a machine that %s', (_, byMs) => {
  setClock(byMs)
  expect(toUnixMs()).toBeCloseTo(Date.now(), 3)
  expect(toMonotonicMs(Date.now() + 250)).toBeCloseTo(performance.now() + 250, 3)
})

test('moments are as far apart as measured while the clock is corrected by less than a second', () => {
  setClock(0)
  const beforeMs = toUnixMs()
  vi.setSystemTime(Date.now() - 900)
  vi.advanceTimersByTime(20)
  expect(toUnixMs() - beforeMs).toBeCloseTo(20, 3)
})
