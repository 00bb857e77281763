import { describe, expect, it } from 'vitest'
import type { LoadState } from '../../../../src/main/engine/journal/load-record.ts'
import {
  describeShaped,
  isLimited,
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

/**
 * A second with requests of these durations and send delays, caused by this machine unless stated otherwise.
 */
function createSecond(durationMs: number, lagsMs: readonly number[], isOwnLag = true): OpenSecond {
  const times = new SecondTimes()
  for (const lagMs of lagsMs) {
    const [durationUs, lagUs] = [durationMs * 1000, lagMs * 1000]
    const ownLagUs = isOwnLag ? lagUs : 0
    times.addTimed(durationUs, durationUs + lagUs, lagUs, { isSuccess: true, ownLagUs, unreadUs: 0 })
  }
  return {
    tally: new LoadTally(),
    times,
    staged: new StagedRequests(),
    tagged: new TaggedRequests([]),
    rows: [],
  }
}

const CLOSED = loadSchema.parse({ pace: { kind: 'closed', concurrency: 2 }, durationMs: 1_000 })

const lags = (count: number, late: number, lateMs: number) =>
  Array.from({ length: count }, (_, i) => (i < late ? lateMs : 0.5))

describe('a second is limited by the generator', () => {
  it('not if all went well', () => {
    expect(isLimited(createSecond(20, lags(100, 0, 0)), WELL, 100)).toBe(false)
  })

  it('if requests went out so late that a figure shows it', () => {
    expect(isLimited(createSecond(20, lags(100, 1, 400)), WELL, 100)).toBe(false)
    expect(isLimited(createSecond(20, lags(100, 2, 4)), WELL, 100)).toBe(true)
  })

  it('not by an outage that delayed requests', () => {
    expect(isLimited(createSecond(20, lags(100, 50, 4_000), false), WELL, 100)).toBe(false)
  })

  it('not by a stall that no figure shows', () => {
    const stalled = { ...WELL, eventLoopMaxUs: 80_000 }
    expect(isLimited(createSecond(20, lags(100, 0, 0)), stalled, 100)).toBe(false)
  })

  it('if more than 2 % of the schedule is behind, and at a low rate more than two requests', () => {
    const second = createSecond(20, lags(100, 0, 0))
    const behind = (n: number, scheduled: number | null) =>
      isLimited(second, { ...WELL, behind: n }, scheduled)
    expect([behind(20, 1_000), behind(21, 1_000)]).toEqual([false, true])
    expect([behind(2, 5), behind(3, 5)]).toEqual([false, true])
    // A closed pace has no schedule to fall behind.
    expect(behind(500, null)).toBe(false)
  })

  it('is reported with the most that this machine may have added', () => {
    const figure = { metric: 'response_time', toldMs: 36, withoutMs: 24 } as const
    expect(
      describeShaped(
        [
          { ...figure, point: 'p90' },
          { ...figure, point: 'p99', toldMs: 80 },
          { ...figure, point: 'p50', metric: 'http_req_duration' },
        ],
        CLOSED,
      ),
    ).toEqual([
      '56.0 ms of the 80.0 ms of response_time p99 may be delays of this machine.',
      '12.0 ms of the 36.0 ms of http_req_duration p50 may be delays of this machine.',
    ])
    expect(describeShaped([], CLOSED)).toEqual([])
  })

  it('is reported with the requests that may be missing, unless pauses between them outweigh it', () => {
    const mean = { metric: 'http_req_duration', point: 'mean', toldMs: 30, withoutMs: 20 } as const
    expect(describeShaped([mean], CLOSED)).toEqual([
      'Without delays of this machine, up to 50 % more requests a second may have gone out.',
    ])
    expect(describeShaped([mean], { ...CLOSED, thinkTime: { minMs: 500, maxMs: 1_000 } })).toEqual([])
  })
})

describe('sending threads together', () => {
  it('have sent the sum of their requests, and are as slow as the slowest', () => {
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
  const read = (parts: Partial<LoadState>) => {
    const gc = { pauses: 0, maxUs: 0, sumUs: 0 }
    const state = { scheduled: 1_000, sent: 900, sentRetries: 0, retried: 0, dropped: 0, waited: 0, gc }
    const rest = { limitedReasons: [], limitedSeconds: 0 }
    return toLoadHealth(load, { ...state, ...rest, ...parts } as unknown as LoadState)
  }
  const judge = (parts: Partial<LoadState>) => read(parts).reasons

  it('was limited by this machine, even if a few requests waited for the service', () => {
    expect(judge({})).toEqual(['Only 90 % of the schedule went out.'])
    expect(judge({ waited: 1 })).toEqual(['Only 90 % of the schedule went out.'])
  })

  it('has the seconds with too few requests among the reasons, which are not enough alone', () => {
    expect(judge({ behindSeconds: 3 })).toEqual([
      'Only 90 % of the schedule went out.',
      '3 seconds sent less than 98 % of the schedule on time.',
    ])
    expect(judge({ sent: 990, behindSeconds: 1 })).toEqual([])
  })

  it('was not limited if as many waited or were dropped as are missing', () => {
    expect(judge({ waited: 100 })).toEqual([])
    expect(judge({ dropped: 100 })).toEqual([])
    expect(judge({ sent: 990 })).toEqual([])
  })

  it('tells the share that was sent, without what was dropped', () => {
    expect(read({ sent: 470, dropped: 530 })).toMatchObject({ limited: false, achievedShare: 0.47 })
    expect(judge({ sent: 800, dropped: 100 })).toEqual(['Only 80 % of the schedule went out.'])
  })
})
