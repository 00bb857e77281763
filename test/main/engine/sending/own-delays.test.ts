import { expect, test } from 'vitest'
import { type OwnDelay, OwnDelays, toOwnLagUs } from '../../../../src/main/engine/sending/own-delays.ts'
import { LatencyMeter } from '../../../../src/shared/load/latency-meter.ts'

const NONE = { durationUs: null, responseUs: null, lagUs: 0, unreadUs: 0 } satisfies OwnDelay

/**
 * That many requests which take the service 20 ms, the last of which had delays of this machine;
 * milliseconds.
 */
function listShaped(
  count: number,
  delayed: number,
  { lagMs = 0, unreadMs = 0, hasSchedule = true },
  serviceMs = 20,
) {
  const told = new LatencyMeter()
  const own = new OwnDelays()
  for (let i = 0; i < count; i += 1) {
    const [lagUs, unreadUs] = i >= count - delayed ? [lagMs * 1000, unreadMs * 1000] : [0, 0]
    const durationUs = serviceMs * 1000 + unreadUs
    const responseUs = durationUs + lagUs
    told.record('http_req_duration', durationUs)
    if (hasSchedule) told.record('response_time', responseUs)
    own.add({ durationUs, responseUs: hasSchedule ? responseUs : null, lagUs, unreadUs })
  }
  return own.listShaped(told).map(({ metric, point }) => `${metric} ${point}`)
}

test('unread answers affect both latencies, late starts only the one that begins when a request is due', () => {
  expect(listShaped(200, 10, { unreadMs: 5 })).toEqual(['http_req_duration p99', 'response_time p99'])
  expect(listShaped(200, 10, { lagMs: 5 })).toEqual(['response_time p99'])
  expect(listShaped(200, 30, { lagMs: 5 })).toEqual(['response_time p90', 'response_time p99'])
  expect(listShaped(200, 120, { lagMs: 5 })).toHaveLength(3)
})

test('delays that no percentile shows affect none, however long', () => {
  expect(listShaped(200, 1, { lagMs: 500, unreadMs: 500 })).toEqual([])
})

test('delays that no percentile shows affect the mean, and so the rate, of requests without a schedule', () => {
  const unscheduled = { unreadMs: 500, hasSchedule: false }
  expect(listShaped(200, 1, unscheduled)).toEqual(['http_req_duration mean'])
  expect(listShaped(400, 1, unscheduled)).toEqual([])
  expect(listShaped(1, 1, unscheduled)).toEqual([])
})

test('a figure may be off by a millisecond or by a tenth', () => {
  expect(listShaped(200, 200, { lagMs: 0.8 }, 2)).toEqual([])
  expect(listShaped(200, 200, { lagMs: 1.1 }, 2)).toHaveLength(3)
  expect(listShaped(200, 200, { lagMs: 9 }, 100)).toEqual([])
  expect(listShaped(200, 200, { lagMs: 11 }, 100)).toHaveLength(3)
})

test('a percentile of too few requests, which is their maximum, is not judged', () => {
  expect(listShaped(99, 1, { lagMs: 50 })).toEqual([])
  expect(listShaped(9, 1, { lagMs: 50 })).toEqual([])
  expect(listShaped(9, 5, { lagMs: 50 })).toEqual(['response_time p50'])
  expect(listShaped(1, 1, { lagMs: 50 })).toEqual([])
})

test('merged measurements are judged as a whole', () => {
  const told = new LatencyMeter()
  const own = new OwnDelays()
  const addSecond = (lagMs: number) => {
    const second = new OwnDelays()
    for (let i = 0; i < 100; i += 1) {
      second.add({ ...NONE, responseUs: 20_000 + lagMs * 1000, lagUs: lagMs * 1000 })
      told.record('response_time', 20_000 + lagMs * 1000)
    }
    own.addAll(second)
  }
  addSecond(50)
  for (let i = 0; i < 9; i += 1) addSecond(0)
  expect(own.listShaped(told).map(({ point }) => point)).toEqual(['p99'])
  for (let i = 0; i < 100; i += 1) addSecond(0)
  expect(own.listShaped(told)).toEqual([])
})

test('reports how much of a figure is left without the delays', () => {
  const told = new LatencyMeter()
  const own = new OwnDelays()
  for (let i = 0; i < 2; i += 1) {
    told.record('response_time', 36_000)
    own.add({ ...NONE, responseUs: 36_000, lagUs: 10_000, unreadUs: 2_000 })
  }
  const [shaped] = own.listShaped(told)
  expect(shaped).toMatchObject({ metric: 'response_time', point: 'p50' })
  expect(shaped?.toldMs).toBeCloseTo(36, 1)
  expect(shaped?.withoutMs).toBeCloseTo(24, 1)
})

test('a late start is caused by the limit of requests in flight, opening a connection, or this machine', () => {
  const lag = { lagUs: 9_000, hasWaited: false, connectUs: null, blockedUs: 100 }
  expect(toOwnLagUs(lag)).toBe(9_000)
  expect(toOwnLagUs({ ...lag, hasWaited: true })).toBe(0)
  expect(toOwnLagUs({ ...lag, connectUs: 7_000, blockedUs: 7_500 })).toBe(1_500)
  expect(toOwnLagUs({ ...lag, lagUs: null })).toBe(0)
})
