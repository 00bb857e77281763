import { describe, expect, it } from 'vitest'
import {
  choosePrunable,
  NO_RETENTION,
  type RetainedRun,
  type Retention,
} from '../../../src/shared/lookback/retention.ts'

const DAY_MS = 86_400_000
const NOW_MS = Date.UTC(2026, 10, 22)

/** Runs that ended this many days ago, with their sizes. */
function createRuns(
  runs: readonly [days: number, bytes: number, keptAs?: RetainedRun['kept_as']][],
): RetainedRun[] {
  return runs.map(([days, bytes, keptAs = null]) => ({
    run_id: `${days}d`,
    name: `${days} days`,
    ended_at: new Date(NOW_MS - days * DAY_MS).toISOString(),
    size_bytes: bytes,
    kept_as: keptAs,
  }))
}

function choose(runs: readonly RetainedRun[], retention: Partial<Retention>) {
  const { runs: found, ...rest } = choosePrunable(runs, { ...NO_RETENTION, ...retention }, NOW_MS)
  return { ...rest, found: found.map(({ run_id, reason }) => [run_id, reason]) }
}

describe('retention', () => {
  const runs = createRuns([
    [1, 500],
    [10, 40],
    [40, 300],
    [50, 10],
  ])

  it('deletes nothing without a limit', () => {
    expect(choose(runs, {})).toEqual({
      found: [],
      running: 0,
      protected: 0,
      size_bytes: 850,
      kept_bytes: 850,
    })
  })

  it('deletes what is too old, oldest first', () => {
    const chosen = choose(runs, { olderThanMs: 30 * DAY_MS })
    expect(chosen.found).toEqual([
      ['50d', 'age'],
      ['40d', 'age'],
    ])
    expect(chosen.kept_bytes).toBe(540)
  })

  it('deletes what is too large, and with an age limit only if it is also old', () => {
    expect(choose(runs, { largerThanBytes: 100 }).found).toEqual([
      ['40d', 'size'],
      ['1d', 'size'],
    ])
    expect(choose(runs, { largerThanBytes: 100, olderThanMs: 30 * DAY_MS }).found).toEqual([['40d', 'age']])
  })

  it('deletes the oldest until the rest is small enough', () => {
    expect(choose(runs, { keepBelowBytes: 545 }).found).toEqual([
      ['50d', 'total'],
      ['40d', 'total'],
    ])
    expect(choose(runs, { keepBelowBytes: 850 }).found).toEqual([])
    expect(choose(runs, { keepBelowBytes: 0 }).found).toHaveLength(4)
  })

  it('never deletes a running or needed run, and counts those that exceed a limit', () => {
    const kept = createRuns([
      [60, 500, 'running'],
      [50, 100, 'protected'],
      [40, 100],
      [1, 10],
    ])
    expect(choose(kept, { olderThanMs: 30 * DAY_MS })).toEqual({
      found: [['40d', 'age']],
      running: 1,
      protected: 1,
      size_bytes: 710,
      kept_bytes: 610,
    })
    expect(choose(kept, { keepBelowBytes: 0 }).found).toEqual([
      ['40d', 'total'],
      ['1d', 'total'],
    ])
  })
})
