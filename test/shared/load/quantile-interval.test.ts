import type { Histogram } from 'hdr-histogram-js'
import { describe, expect, test } from 'vitest'
import { createHistogram, recordUs } from '../../../src/shared/load/latency-meter.ts'
import { toLatencyHistory, toQuantileInterval } from '../../../src/shared/load/quantile-interval.ts'
import { createDraw } from '../../helpers/seeded-draw.ts'

/** Seconds of requests; what a second has in common makes all of its requests slower. */
function drawSeconds(seed: number, seconds: number, perSecond: number, shared: number): Histogram[] {
  const draw = createDraw(seed)
  return Array.from({ length: seconds }, () => {
    const histogram = createHistogram()
    const slow = Math.exp(shared * toNormal(draw))
    for (let i = 0; i < perSecond; i += 1) recordUs(histogram, 20_000 * slow * Math.exp(0.3 * toNormal(draw)))
    return histogram
  })
}

function toNormal(draw: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - draw())) * Math.cos(2 * Math.PI * draw())
}

function merge(seconds: readonly Histogram[]): Histogram {
  const total = createHistogram()
  for (const second of seconds) total.add(second)
  return total
}

/** How often, in percent, the interval of the median holds the true median of 20 ms. */
function cover(shared: number, isBatched: boolean, tries: number): number {
  let hits = 0
  for (let seed = 1; seed <= tries; seed += 1) {
    const seconds = drawSeconds(seed, 16, 60, shared)
    const history = toLatencyHistory(merge(seconds), isBatched ? seconds : [])
    const { low, high } = toQuantileInterval(history, 50, 0.95).interval
    if (low !== null && high !== null && low <= 20_020 && high >= 20_000) hits += 1
  }
  return (hits / tries) * 100
}

describe('the interval of a quantile', () => {
  test('holds the truth as often as it says for independent requests', () => {
    expect(cover(0, false, 30)).toBeGreaterThanOrEqual(90)
    expect(cover(0, true, 30)).toBeGreaterThanOrEqual(90)
  })

  test('holds the truth for requests that are slow together, thanks to the batches', () => {
    expect(cover(0.5, true, 30)).toBeGreaterThanOrEqual(88)
    expect(cover(0.5, false, 30)).toBeLessThan(60)
  })

  test('is made of order statistics', () => {
    const total = createHistogram()
    for (let i = 1; i <= 1_000; i += 1) recordUs(total, i)
    const { valueUs, interval, isBatched } = toQuantileInterval({ total, batches: [] }, 50, 0.95)
    // Ranks 469 and 532 of 1,000, the exact binomial ones.
    expect([valueUs, interval.low, interval.high, isBatched]).toEqual([500, 469, 532, false])
  })

  test('has no bound where too few requests lie beyond', () => {
    const total = createHistogram()
    for (let i = 1; i <= 1_000; i += 1) recordUs(total, i)
    expect(toQuantileInterval({ total, batches: [] }, 99.9, 0.99).interval).toMatchObject({ high: null })
    const few = createHistogram()
    for (let i = 1; i <= 5; i += 1) recordUs(few, i)
    expect(toQuantileInterval({ total: few, batches: [] }, 50, 0.99).interval).toEqual({
      low: null,
      high: null,
    })
  })

  test('is told from at most thirty batches of consecutive seconds', () => {
    const seconds = drawSeconds(1, 61, 2, 0)
    const { batches } = toLatencyHistory(merge(seconds), seconds)
    expect(batches.map(({ counts }) => counts.at(-1))).toEqual([...Array(20).fill(6), 2])
    expect(toLatencyHistory(createHistogram(), []).batches).toEqual([])
    // One at a time, as they come from a journal, they are the same.
    expect(toLatencyHistory(merge(seconds), seconds.values(), 61).batches).toEqual(batches)
  })
})
