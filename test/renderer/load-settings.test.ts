import { describe, expect, it } from 'vitest'
import {
  DEFAULT_LOAD,
  findLoadGap,
  findLoadMistakes,
  hasSchedule,
  type LoadSettings,
  toPlanLoad,
} from '../../src/renderer/features/operation/load-settings.ts'

const of = (change: Partial<LoadSettings>): LoadSettings => ({ ...DEFAULT_LOAD, ...change })

describe('a load test as it is typed', () => {
  it('is one that the engine takes, with the defaults of the schema', () => {
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

  it('ends with a number of requests, and drops what finds the cap reached', () => {
    const load = toPlanLoad(
      of({ pace: 'open', ratePerSecond: 12.5, endsBy: 'requests', maxInFlight: 3, whenFull: 'drop' }),
    )
    expect(load).toMatchObject({ requests: 1_000, maxInFlight: 3, whenFull: 'drop' })
    expect(load).not.toHaveProperty('durationMs')
  })

  it('keeps the cap of an open pace out of a closed one', () => {
    const stages = 'concurrency: 5@10s'
    expect(hasSchedule(of({ pace: 'stages', stages }))).toBe(false)
    expect(toPlanLoad(of({ pace: 'stages', stages, maxInFlight: 3, whenFull: 'drop' }))).toMatchObject({
      pace: { kind: 'stages', of: 'concurrency', stages: [{ from: 5, to: 5, durationMs: 10_000 }] },
      whenFull: 'wait',
    })
  })

  it('reads a threshold a line, empty lines left out, with its options', () => {
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
    [{ warmup: '2h' }, 'warmup', /at most an hour/],
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
})
