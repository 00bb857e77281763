import { describe, expect, it } from 'vitest'
import {
  DEFAULT_LOAD,
  findLoadGap,
  findLoadMistakes,
  hasSchedule,
  type LoadSettings,
  toCapacityBounds,
  toPlanLoad,
} from '../../src/renderer/features/operation/load-settings.ts'

const { search: SEARCH } = DEFAULT_LOAD

const of = (change: Partial<LoadSettings>): LoadSettings => ({ ...DEFAULT_LOAD, ...change })

describe('a load test as it is typed', () => {
  it('is valid for the engine, with the defaults of the schema', () => {
    expect(toPlanLoad(DEFAULT_LOAD)).toMatchObject({
      pace: { kind: 'closed', concurrency: 10 },
      durationMs: 60_000,
      warmupMs: 5_000,
      whenFull: 'wait',
      thresholds: [],
      workers: 1,
    })
    expect(findLoadGap(DEFAULT_LOAD)).toBeNull()
  })

  it('ends after a number of requests, and drops those that find the limit in flight reached', () => {
    const load = toPlanLoad(
      of({ pace: 'open', ratePerSecond: 12.5, endsBy: 'requests', maxInFlight: 3, whenFull: 'drop' }),
    )
    expect(load).toMatchObject({ requests: 1_000, maxInFlight: 3, whenFull: 'drop' })
    expect(load).not.toHaveProperty('durationMs')
  })

  it('keeps the limit in flight of an open pace out of a closed one', () => {
    const stages = 'concurrency: 5@10s'
    expect(hasSchedule(of({ pace: 'stages', stages }))).toBe(false)
    expect(toPlanLoad(of({ pace: 'stages', stages, maxInFlight: 3, whenFull: 'drop' }))).toMatchObject({
      pace: { kind: 'stages', of: 'concurrency', stages: [{ from: 5, to: 5, durationMs: 10_000 }] },
      whenFull: 'wait',
    })
  })

  it('has a seed if rows are drawn, and weights if they are random', () => {
    const typed = { seed: 7, weight: 'share' }
    expect(toPlanLoad(of(typed))).toMatchObject({ order: 'source', seed: 1 })
    expect(toPlanLoad(of({ ...typed, order: 'shuffled' }))).not.toHaveProperty('weight')
    expect(toPlanLoad(of({ ...typed, order: 'shuffled' }))).toMatchObject({ seed: 7 })
    expect(toPlanLoad(of({ ...typed, order: 'random' }))).toMatchObject({ seed: 7, weight: 'share' })
  })

  it('reads one threshold per line with its options, ignoring empty lines', () => {
    const thresholds = 'p(99)<500\n\n  http_req_failed<0.01 abortOnFail  \n'
    expect(toPlanLoad(of({ thresholds }))?.thresholds).toEqual([
      { expression: 'p(99)<500', abortOnFail: false, delayAbortEvalMs: 0 },
      { expression: 'http_req_failed<0.01', abortOnFail: true, delayAbortEvalMs: 0 },
    ])
  })

  it.each([
    [{ thresholds: 'p(99)<500\np(99)<' }, 'thresholds', /^Line 2, character \d+: expected/],
    [{ pace: 'stages', stages: '10@soon' }, 'stages', /^At character 4: expected a duration/],
    [{ pace: 'open', ratePerSecond: 0 }, 'rate', /more than 0/],
    [{ duration: '60' }, 'duration', /60s/],
    [{ warmupMs: '2h' }, 'warm-up', /at most an hour/],
    [{ gracefulStopMs: 'soon' }, 'graceful stop', /30s/],
    [{ thinkFrom: '2s', thinkTo: '1s' }, 'think time', /shorter duration first/],
    [{ pace: 'open', workers: 4, maxInFlight: 2 }, 'sending threads', /at most as many/],
    [{ workers: 4, concurrency: 2, endsBy: 'requests' }, 'sending threads', /at most as many/],
    [{ goal: 'capacity', thresholds: 'p(99)<500', search: { ...SEARCH, max: 5 } }, 'highest level', /10/],
    [
      { goal: 'capacity', pace: 'open', thresholds: 'p(99)<500', search: { ...SEARCH, max: 2_000_000 } },
      ...(['highest level', /1,000,000/] as const),
    ],
    [
      { goal: 'capacity', thresholds: 'p(99)<500', search: { ...SEARCH, maxTimeMs: '' } },
      'longest time',
      /1h/,
    ],
  ] satisfies [Partial<LoadSettings>, string, RegExp][])(
    'says what is wrong with %j',
    (change, field, how) => {
      const mistakes = findLoadMistakes(of(change))
      expect(Object.keys(mistakes)).toEqual([field])
      expect(Object.values(mistakes)[0]).toMatch(how)
      expect(toPlanLoad(of(change))).toBeNull()
      expect(findLoadGap(of(change))).toBe(`Correct the ${field} of the load test`)
    },
  )

  it('has every option of the command line', () => {
    const load = toPlanLoad(
      of({
        ...{ thinkFrom: '500ms', thinkTo: '2s', gracefulStopMs: '1m', httpVersion: '2', http2Connections: 3 },
        ...{ workers: 2, sampleSize: 10, errorLimit: 20 },
      }),
    )
    expect(load).toMatchObject({
      thinkTime: { minMs: 500, maxMs: 2_000 },
      ...{ gracefulStopMs: 60_000, httpVersion: '2', http2Connections: 3 },
      ...{ workers: 2, sampleSize: 10, errorLimit: 20 },
    })
    expect(toPlanLoad(of({ http2Connections: 3 }))).not.toHaveProperty('http2Connections')
    expect(toPlanLoad(of({ pace: 'open', thinkFrom: '1s' }))).not.toHaveProperty('thinkTime')
  })

  it('searches a capacity with probes of their own length, and only with a threshold', () => {
    const search = of({ goal: 'capacity', pace: 'open', thresholds: 'p(99)<500' })
    expect(toPlanLoad(search)).toMatchObject({
      pace: { kind: 'open', ratePerSecond: 50 },
      durationMs: 30_000,
      warmupMs: 10_000,
    })
    expect(toCapacityBounds(search)).toEqual({ maxProbes: 25, maxTimeMs: 3_600_000, coolDownMs: 5_000 })
    expect(toCapacityBounds(of({ thresholds: 'p(99)<500' }))).toBeNull()
    expect(findLoadGap(of({ goal: 'capacity' }))).toBe('Add a threshold to search by')
  })
})
