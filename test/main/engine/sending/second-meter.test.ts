import { expect, onTestFinished, test } from 'vitest'
import { type MeasuredTry, SecondMeter } from '../../../../src/main/engine/sending/second-meter.ts'
import { LatencyMeter } from '../../../../src/shared/load/latency-meter.ts'
import type { Outcome } from '../../../../src/shared/run/item-state.ts'

const START_S = 1_700_000_000
const toUs = (s: number): number => Math.round(s * 1_000_000)

/** A meter whose clock the test sets, in seconds since the start. */
function createMeter(total = new LatencyMeter()) {
  const clock = { s: 0 }
  const meter = new SecondMeter({ total, nowUs: () => toUs(START_S + clock.s) })
  onTestFinished(() => meter.close())
  /** Records a try that ends now. */
  const note = (
    outcome: Outcome = 'succeeded',
    durationUs = 1_000,
    scheduledBeforeUs: number | null = null,
    parts: Partial<MeasuredTry> = {},
  ) => {
    const endUs = toUs(START_S + clock.s)
    const sentAtUs = endUs - durationUs
    meter.note({
      outcome,
      timings: { sentAtUs, durationUs, waitingUs: durationUs / 2, connectUs: null, tlsUs: null },
      isSent: true,
      isTimed: true,
      scheduledAtUs: scheduledBeforeUs === null ? null : sentAtUs - scheduledBeforeUs,
      hasWaited: false,
      ...parts,
    })
  }
  return { meter, clock, note, total }
}

test('a second is taken when it is over, once, with everything that ended in it', () => {
  const { meter, clock, note } = createMeter()
  clock.s = 0.2
  note()
  note('rejected')
  clock.s = 0.9
  note('unknown')
  note('failed')
  expect(meter.take()).toEqual([])
  clock.s = 1
  const [second, ...others] = meter.take()
  expect(others).toEqual([])
  expect(second).toMatchObject({ at: START_S, succeeded: 1, rejected: 1, failed: 1, unknown: 1 })
  expect(second?.latency.percentiles('http_req_duration')?.count).toBe(4)
  expect(meter.take()).toEqual([])
})

test('the current second is taken too if all are requested', () => {
  const { meter, note } = createMeter()
  note()
  expect(meter.take(true)).toMatchObject([{ at: START_S, succeeded: 1 }])
  expect(meter.take(true)).toEqual([])
})

test('tries after the clock was set back count in seconds of their own', () => {
  const { meter, clock, note } = createMeter()
  clock.s = 3_600
  note()
  for (clock.s = 0; clock.s < 3; clock.s += 1) note()
  expect(meter.take(true).map(({ at, succeeded }) => [at - START_S, succeeded])).toEqual([
    [3_600, 1],
    [0, 1],
    [1, 1],
    [2, 1],
  ])
})

test('seconds in which nothing ended are left out', () => {
  const { meter, clock, note } = createMeter()
  note()
  clock.s = 5
  note()
  clock.s = 9
  expect(meter.take().map(({ at }) => at - START_S)).toEqual([0, 5])
})

test('seconds of a rolled back transaction come again, in order', () => {
  const { meter, clock, note } = createMeter()
  note()
  clock.s = 1
  note()
  clock.s = 2
  const taken = meter.take()
  note()
  clock.s = 3
  meter.giveBack(taken)
  expect(meter.take().map(({ at }) => at - START_S)).toEqual([0, 1, 2])
})

test('the rate is that of the last whole second; in the first, of the time so far', () => {
  const { meter, clock, note } = createMeter()
  for (let i = 0; i < 3; i += 1) note()
  expect(meter.ratePerSecond).toBe(3)
  clock.s = 1.1
  for (let i = 0; i < 5; i += 1) note()
  expect(meter.ratePerSecond).toBe(3)
  clock.s = 2
  meter.take()
  expect(meter.ratePerSecond).toBe(5)
  clock.s = 4
  meter.take()
  expect(meter.ratePerSecond).toBe(0)
})

test('a try counts in the second in which it ended, not when it was sent', () => {
  const { meter, clock, note } = createMeter()
  clock.s = 1.5
  note('succeeded', 1_400_000)
  clock.s = 2
  expect(meter.take()).toMatchObject([{ at: START_S + 1, succeeded: 1 }])
})

test('an open pace also measures from when a request was due, a closed one has no such series', () => {
  const { meter, clock, note } = createMeter()
  clock.s = 0.5
  note('succeeded', 10_000, 4_000)
  note('succeeded', 10_000)
  clock.s = 1
  const [second] = meter.take()
  expect(second?.latency.percentiles('start_lag')).toMatchObject({ count: 1, max: 4 })
  expect(second?.latency.percentiles('response_time')?.max).toBeCloseTo(14, 1)
  expect(second?.latency.percentiles('http_req_duration')?.count).toBe(2)
  expect(second?.latency.percentiles('http_req_connecting')).toBeNull()
})

test('the total includes what earlier sessions measured', () => {
  const earlier = new LatencyMeter()
  earlier.record('http_req_duration', 9_000)
  const { meter, clock, note } = createMeter(earlier)
  note()
  clock.s = 1
  meter.take()
  expect(meter.total.percentiles('http_req_duration')).toMatchObject({ count: 2, min: 1, max: 9 })
})

test('a try that was not sent is counted without a latency; a timed-out one has a latency', () => {
  const { meter, clock, note } = createMeter()
  clock.s = 0.5
  note('failed', 7_000, 1_000, { isSent: false, isTimed: false })
  note('failed', 250_000, 1_000, { isSent: false })
  clock.s = 1
  const [second] = meter.take()
  expect(second?.failed).toBe(2)
  expect(second?.latency.percentiles('http_req_duration')).toMatchObject({ count: 1 })
  expect(second?.latency.percentiles('http_req_duration')?.min).toBeCloseTo(250, 0)
  expect(second?.latency.percentiles('response_time')?.count).toBe(1)
  expect(second?.latency.percentiles('start_lag')).toBeNull()
})

const OPENED = {
  sentAtUs: toUs(START_S + 0.5),
  durationUs: 9_000,
  waitingUs: 1,
  connectUs: 8_000,
  tlsUs: null,
}

test.each<[string, boolean, number, number, Partial<MeasuredTry>]>([
  ['that is late by its own doing', true, 2_000, 1_200, {}],
  ['within a millisecond', false, 2_000, 900, {}],
  ['within a tenth of what the service took', false, 100_000, 9_000, {}],
  ['over a tenth of it', true, 100_000, 11_000, {}],
  ['that waited for the cap', false, 1_000, 2_000_000, { hasWaited: true }],
  ['that opened its connection', false, 1_000, 9_000, { timings: OPENED }],
])('a second of requests %s: limited by the generator is %s', (_, limited, durationUs, lagUs, parts) => {
  const { meter, clock, note } = createMeter()
  clock.s = 0.6
  for (let i = 0; i < 2; i += 1) note('succeeded', durationUs, lagUs, parts)
  clock.s = 1
  expect(meter.take()).toMatchObject([{ generatorLimited: limited }])
  for (let i = 0; i < 2; i += 1) note('succeeded', 1_000, 10)
  clock.s = 2
  expect(meter.take()).toMatchObject([{ generatorLimited: false }])
})
