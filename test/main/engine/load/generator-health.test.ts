import { describe, expect, it } from 'vitest'
import type { LoadState } from '../../../../src/main/engine/journal/load-record.ts'
import {
  describeLimits,
  findLimits,
  mergeHealth,
  toLoadHealth,
} from '../../../../src/main/engine/load/generator-health.ts'
import type { OpenSecond } from '../../../../src/main/engine/load/load-ledger.ts'
import { LoadTally } from '../../../../src/main/engine/load/load-tally.ts'
import type { SecondHealth } from '../../../../src/main/engine/load/load-threads.ts'
import { StagedRequests, TaggedRequests } from '../../../../src/main/engine/load/tagged-requests.ts'
import { SecondTimes } from '../../../../src/main/engine/sending/second-meter.ts'
import { loadSchema } from '../../../../src/shared/load/load.ts'

const WELL = {
  sent: 100,
  retries: 0,
  dropped: 0,
  behind: 0,
  inFlightMax: 5,
  eventLoopMaxUs: 3_000,
  gcPauses: 1,
  gcMaxUs: 900,
  gcUs: 900,
} satisfies Omit<SecondHealth, 'second'>

/** A second whose requests took this long and went out so late. */
function createSecond(durationMs: number, lagsMs: readonly number[]): OpenSecond {
  const times = new SecondTimes()
  for (const lagMs of lagsMs)
    times.addTimed(durationMs * 1000, null, lagMs * 1000, { isSuccess: true, isOwnLag: true })
  return {
    tally: new LoadTally(),
    times,
    staged: new StagedRequests(),
    tagged: new TaggedRequests([]),
    rows: [],
  }
}

const lags = (count: number, late: number, lateMs: number) =>
  Array.from({ length: count }, (_, i) => (i < late ? lateMs : 0.5))

describe('a second is limited by the generator', () => {
  it('not when all went well', () => {
    expect(findLimits(createSecond(20, lags(100, 0, 0)), WELL, 100)).toEqual([])
  })

  it.each([
    ['one late request of a hundred is nobody', 20, lags(100, 1, 400), []],
    ['two of a hundred are the p99', 20, lags(100, 2, 5.5), ['lag']],
    ['5 ms are nobody', 20, lags(100, 50, 4.9), []],
    ['a tenth of a slow median is nobody', 200, lags(100, 50, 19), []],
    ['more than a tenth of it', 200, lags(100, 50, 21), ['lag']],
  ] as const)('where requests went out late: %s', (_, durationMs, lagsMs, expected) => {
    expect(findLimits(createSecond(durationMs, lagsMs), WELL, 100)).toEqual(expected)
  })

  it('not for what was late in an earlier second, where nothing is due any more', () => {
    expect(findLimits(createSecond(20, lags(100, 50, 400)), { ...WELL, sent: 0 }, 0)).toEqual([])
  })

  it('where its event loop stood still for more than 50 ms', () => {
    const second = createSecond(20, lags(100, 0, 0))
    expect(findLimits(second, { ...WELL, eventLoopMaxUs: 50_000 }, 100)).toEqual([])
    expect(findLimits(second, { ...WELL, eventLoopMaxUs: 50_001 }, 100)).toEqual(['event_loop'])
    expect(findLimits(second, { ...WELL, eventLoopMaxUs: 50_001 }, null)).toEqual(['event_loop'])
  })

  it('where more than 2 % of the schedule is behind, and at a slow one more than two requests', () => {
    const second = createSecond(20, lags(100, 0, 0))
    expect(findLimits(second, { ...WELL, behind: 20 }, 1_000)).toEqual([])
    expect(findLimits(second, { ...WELL, behind: 21 }, 1_000)).toEqual(['behind'])
    expect(findLimits(second, { ...WELL, behind: 2 }, 5)).toEqual([])
    expect(findLimits(second, { ...WELL, behind: 3 }, 5)).toEqual(['behind'])
    // A closed pace has no schedule to be behind of.
    expect(findLimits(second, { ...WELL, behind: 500 }, null)).toEqual([])
  })

  it('is reported with all its reasons, how often and how much', () => {
    const seconds = new Map([
      ['lag', 3],
      ['event_loop', 1],
      ['behind', 2],
    ] as const)
    const reasons = describeLimits(seconds, 212_345)
    expect(reasons).toHaveLength(3)
    expect(reasons[0]).toMatch(/more than 50 ms in 1 second, at most 212 ms/)
    expect(reasons[1]).toMatch(/late in 3 seconds/)
    expect(reasons[2]).toMatch(/98 % of the schedule went out in 2 seconds/)
    expect(describeLimits(new Map(), 0)).toEqual([])
  })
})

describe('sending threads together', () => {
  it('have sent what all have sent, and are as slow as the slowest', () => {
    const slow = { ...WELL, second: 4, eventLoopMaxUs: 80_000, gcMaxUs: 5_000, behind: 3, dropped: 1 }
    expect(mergeHealth([{ ...WELL, second: 4 }, slow])).toEqual({
      sent: 200,
      retries: 0,
      dropped: 1,
      behind: 3,
      inFlightMax: 10,
      eventLoopMaxUs: 80_000,
      gcPauses: 2,
      gcMaxUs: 5_000,
      gcUs: 1_800,
    })
    expect(mergeHealth([])).toMatchObject({ sent: 0, eventLoopMaxUs: 0 })
  })
})

describe('a load of which less went out than was scheduled', () => {
  const load = loadSchema.parse({ pace: { kind: 'open', ratePerSecond: 100 }, durationMs: 10_000 })
  const judge = (parts: Partial<LoadState>) => {
    const gc = { pauses: 0, maxUs: 0, sumUs: 0 }
    const state = { scheduled: 1_000, sent: 900, sentRetries: 0, retried: 0, dropped: 0, waited: 0, gc }
    const rest = { limitedReasons: [], limitedSeconds: 0 }
    return toLoadHealth(load, { ...state, ...rest, ...parts } as unknown as LoadState).reasons
  }

  it('was limited by this machine, also if a few requests waited for the service', () => {
    expect(judge({})).toEqual(['Only 90 % of the schedule went out.'])
    expect(judge({ waited: 1 })).toEqual(['Only 90 % of the schedule went out.'])
  })

  it('was not, if as many waited or were dropped as are missing', () => {
    expect(judge({ waited: 100 })).toEqual([])
    expect(judge({ dropped: 100 })).toEqual([])
    expect(judge({ sent: 990 })).toEqual([])
  })
})
