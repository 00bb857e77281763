import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import {
  describeLoad,
  type LoadInput,
  loadSchema,
  toArrivalSchedule,
  toConcurrencySchedule,
  toMaxInFlight,
  toMeasuredMs,
  toPlannedRequests,
} from '../../../src/shared/load/load.ts'
import { toWarmupLevel } from '../../../src/shared/load/load-pace.ts'

const OPEN: LoadInput = { pace: { kind: 'open', ratePerSecond: 200 }, durationMs: 60_000 }
const CLOSED: LoadInput = { pace: { kind: 'closed', concurrency: 64 }, requests: 5_000 }
const RAMP: LoadInput = {
  pace: { kind: 'stages', of: 'rate', stages: [{ from: 0, to: 100, durationMs: 10_000 }] },
}
const STEPS: LoadInput = {
  pace: {
    kind: 'stages',
    of: 'concurrency',
    stages: [
      { from: 2, to: 2, durationMs: 10_000 },
      { from: 2, to: 1_500, durationMs: 5_000 },
    ],
  },
}

const parse = (input: LoadInput) => loadSchema.parse(input)

describe('a load', () => {
  test('has a default for everything except its pace and its end', () => {
    expect(parse(OPEN)).toEqual({
      ...OPEN,
      warmupMs: 0,
      order: 'source',
      seed: 1,
      firstRequest: 'check',
      gracefulStopMs: 30_000,
      whenFull: 'wait',
      thresholds: [],
      sampleSize: 1_000,
      errorLimit: 1_000,
      httpVersion: '1.1',
      workers: 1,
    })
  })

  test('is unchanged after storing', () => {
    const load = parse({ ...RAMP, thresholds: ['p(99)<500 abortOnFail', { expression: 'dropped==0' }] })
    expect(loadSchema.parse(JSON.parse(JSON.stringify(load)))).toEqual(load)
  })

  test('has a JSON schema', () => {
    expect(JSON.stringify(z.toJSONSchema(loadSchema, { io: 'input' }))).toContain('ratePerSecond')
  })

  test.each<[string, object, string]>([
    ['no end', { pace: OPEN.pace }, 'either a duration or a number of requests'],
    ['two ends', { ...OPEN, requests: 5 }, 'either a duration or a number of requests'],
    ['a duration beside stages', { ...RAMP, durationMs: 5 }, 'stages say themselves'],
    [
      'a threshold on one of more stages than have figures',
      {
        pace: { kind: 'stages', of: 'rate', stages: Array(101).fill({ from: 1, to: 1, durationMs: 1_000 }) },
        thresholds: ['http_reqs{stage:3}:count<1'],
      },
      'needs at most 100 stages',
    ],
    ['a number beside stages', { ...STEPS, requests: 5 }, 'stages say themselves'],
    ['a think time of an open pace', { ...OPEN, thinkTime: { minMs: 1, maxMs: 2 } }, 'closed pace'],
    ['a think time the wrong way round', { ...CLOSED, thinkTime: { minMs: 2, maxMs: 1 } }, 'minMs must not'],
    ['a cap of a closed pace', { ...CLOSED, maxInFlight: 5 }, 'belongs to an open pace'],
    ['more workers than requests in flight', { ...OPEN, maxInFlight: 1, workers: 2 }, 'must not exceed'],
    [
      'more workers than a closed pace has in flight',
      { pace: { kind: 'closed', concurrency: 1 }, requests: 5, workers: 2 },
      'must not exceed',
    ],
    ['dropping at a closed pace', { ...CLOSED, whenFull: 'drop' }, 'belongs to an open pace'],
    ['a wrong threshold', { ...OPEN, thresholds: ['p(99)<500ms'] }, 'character 10'],
    ['a rate too fine', { ...OPEN, pace: { kind: 'open', ratePerSecond: 1.0001 } }, 'at most three decimals'],
    [
      'stages of nothing',
      { pace: { kind: 'stages', of: 'rate', stages: [{ from: 0, to: 0, durationMs: 5 }] } },
      'send something',
    ],
    [
      'half a request in flight',
      { pace: { kind: 'stages', of: 'concurrency', stages: [{ from: 1, to: 1.5, durationMs: 5 }] } },
      'whole requests in flight',
    ],
    [
      'stages of two weeks',
      { pace: { kind: 'stages', of: 'rate', stages: Array(14).fill({ from: 1, to: 1, durationMs: 1e8 }) } },
      'longer than a week',
    ],
  ])('refuses %s and says why', (_, input, message) => {
    const { success, error } = loadSchema.safeParse(input)
    expect(success).toBe(false)
    expect(error?.issues.map((issue) => issue.message).join()).toContain(message)
  })

  test('lasts as long as its pace says', () => {
    expect([OPEN, RAMP, STEPS, CLOSED].map((one) => toMeasuredMs(parse(one)))).toEqual([
      60_000,
      10_000,
      15_000,
      null,
    ])
    expect(toMeasuredMs(parse({ pace: OPEN.pace, requests: 300 }))).toBe(1_500)
    expect(toMeasuredMs(parse({ pace: CLOSED.pace, durationMs: 7 }))).toBe(7)
  })

  test('sends as many requests as its pace says', () => {
    expect([OPEN, RAMP, STEPS, CLOSED].map((one) => toPlannedRequests(parse(one)))).toEqual([
      12_000,
      500,
      null,
      5_000,
    ])
    const load = parse({ pace: OPEN.pace, requests: 300 })
    expect([toPlannedRequests(load), toArrivalSchedule(load).total]).toEqual([300, 300])
    expect(toConcurrencySchedule(parse(STEPS)).concurrencyAt(12_500)).toBe(751)
  })

  test('has at most its rate times the timeout in flight by default', () => {
    expect(toMaxInFlight(parse(OPEN), 500)).toBe(100)
    expect(toMaxInFlight(parse(OPEN), 60_000)).toBe(10_000)
    expect(toMaxInFlight(parse({ ...OPEN, maxInFlight: 8 }), 60_000)).toBe(8)
    expect(toMaxInFlight(parse(RAMP), 1)).toBe(1)
    expect(toMaxInFlight(parse(CLOSED), 1)).toBe(64)
    expect(toMaxInFlight(parse(STEPS), 1)).toBe(1_500)
  })

  test('is warmed up at its first level', () => {
    expect([OPEN, CLOSED, RAMP, STEPS].map((one) => toWarmupLevel(parse(one).pace))).toEqual([
      200, 64, 100, 2,
    ])
  })

  test('is described in words', () => {
    const loads: LoadInput[] = [
      {
        ...OPEN,
        warmupMs: 10_000,
        whenFull: 'drop',
        maxInFlight: 1_500,
        workers: 2,
        thresholds: ['p(99)<500'],
      },
      { ...CLOSED, thinkTime: { minMs: 100, maxMs: 900 } },
      RAMP,
      STEPS,
    ]
    const texts = loads.map((one) => describeLoad(parse(one), 60_000).join('; '))
    expect(texts).toEqual([
      'open, 200 requests a second for 1 min; after a warm-up of 10 s; at most 1,500 in flight, dropping when full; HTTP/1.1; 2 sending threads; graceful stop 30 s; thresholds p(99)<500',
      'closed, 64 requests in flight, 5,000 requests in total; think time 100 ms to 900 ms; HTTP/1.1; graceful stop 30 s',
      'open, requests a second: 0 to 100 for 10 s (500 requests); at most 6,000 in flight, waiting when full; HTTP/1.1; graceful stop 30 s',
      'closed, requests in flight: 2 for 10 s, 2 to 1,500 for 5 s; HTTP/1.1; graceful stop 30 s',
    ])
  })
})
