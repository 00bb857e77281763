import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { DeadlineTimer, ExchangeClock } from '../../../../src/main/engine/service/exchange.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

function createDeadline() {
  const deadline = { passedMs: Number.NaN, onDeadline: () => {} }
  deadline.onDeadline = () => {
    deadline.passedMs = performance.now()
  }
  return deadline
}

test('each deadline fires at its own time, although one timer serves them all', () => {
  const timer = new DeadlineTimer()
  const [first, second, third] = [createDeadline(), createDeadline(), createDeadline()]
  const startMs = performance.now()
  timer.start(first, startMs, 1_000)
  vi.advanceTimersByTime(400)
  timer.stop(first)
  timer.start(second, performance.now(), 1_000)
  expect(vi.getTimerCount()).toBe(1)
  vi.advanceTimersByTime(2_000)
  expect(second.passedMs - startMs).toBe(1_400)
  timer.start(third, performance.now(), 50)
  vi.advanceTimersByTime(49)
  expect(third.passedMs).toBeNaN()
  vi.advanceTimersByTime(1)
  expect(third.passedMs - startMs).toBe(2_450)
  expect(first.passedMs).toBeNaN()
})

test('nothing is reported, and nothing waits, if everything started was stopped', () => {
  const timer = new DeadlineTimer()
  const deadline = createDeadline()
  timer.start(deadline, performance.now(), 1_000)
  timer.stop(deadline)
  vi.advanceTimersByTime(5_000)
  expect(vi.getTimerCount()).toBe(0)
  timer.start(deadline, performance.now(), 1_000)
  timer.destroy()
  expect(vi.getTimerCount()).toBe(0)
  expect(deadline.passedMs).toBeNaN()
})

test('a request of a process that lived while the machine slept is sent by the clock of now', () => {
  vi.useFakeTimers({ toFake: ['Date', 'performance'], now: Date.now() })
  vi.setSystemTime(Date.now() + 8 * 3_600_000)
  const clock = new ExchangeClock()
  clock.startMs = performance.now()
  const sentAtMs = Date.now()
  vi.advanceTimersByTime(30)
  const { sentAtUs, durationUs } = clock.end(performance.now(), null)
  expect(sentAtUs / 1000).toBeCloseTo(sentAtMs, 2)
  expect(durationUs).toBe(30_000)
})
