import type { Histogram } from 'hdr-histogram-js'
import { describe, expect, test } from 'vitest'
import { createHistogram, recordUs } from '../../../src/shared/load/latency-meter.ts'
import {
  toBinomialQuantile,
  toDesignEffect,
  toLatencyHistory,
  toMeanInterval,
  toNormalQuantile,
  toQuantileInterval,
  toStudentQuantile,
  toWilsonInterval,
} from '../../../src/shared/load/statistics.ts'
import { createDraw } from '../../helpers/seeded-draw.ts'

describe('quantiles agree with published tables', () => {
  test.each([
    [0.5, 0],
    [0.975, 1.959964],
    [0.995, 2.575829],
    [0.0001, -3.719016],
    [0.9999999, 5.199338],
  ])('normal, %d', (probability, quantile) => {
    expect(toNormalQuantile(probability)).toBeCloseTo(quantile, 5)
  })

  test.each([
    [0.975, 9, 2.262157],
    [0.975, 29, 2.04523],
    [0.995, 7, 3.499483],
    [0.995, 29, 2.756386],
    [0.995, 1e9, 2.575829],
  ])('Student, %d with %d degrees', (probability, degrees, quantile) => {
    expect(Math.abs(toStudentQuantile(probability, degrees) / quantile - 1)).toBeLessThan(0.002)
  })

  test.each([
    [10, 0.5, 0.025, 2],
    [10, 0.5, 0.975, 8],
    [100, 0.99, 0.025, 97],
    [100, 0.99, 0.975, 100],
    [1_000, 0.001, 0.995, 4],
    [5, 0, 0.9, 0],
    [5, 1, 0.1, 5],
    [0, 0.5, 0.5, 0],
  ])('binomial, %d trials of %d, %d', (trials, share, probability, quantile) => {
    expect(toBinomialQuantile(trials, share, probability)).toBe(quantile)
  })

  test('binomial, exact and expanded, agree at the transition', () => {
    for (const share of [0.02, 0.3, 0.5, 0.98]) {
      for (const probability of [0.005, 0.5, 0.995]) {
        const at = (variance: number) => Math.round(variance / (share * (1 - share)))
        const [below, above] = [at(9_990), at(10_010)]
        const slope =
          toBinomialQuantile(above, share, probability) - toBinomialQuantile(below, share, probability)
        expect(Math.abs(slope - (above - below) * share)).toBeLessThan(3)
      }
    }
  })
})

describe("Wilson's interval", () => {
  test('agrees with the examples of Newcombe 1998', () => {
    const examples = [
      [81, 263, 0.2553, 0.3662],
      [15, 148, 0.0624, 0.1605],
      [0, 20, 0, 0.1611],
      [1, 29, 0.0061, 0.1718],
    ] as const
    for (const [hits, trials, low, high] of examples) {
      const interval = toWilsonInterval(hits / trials, trials, 0.95)
      expect(interval.low).toBeCloseTo(low, 4)
      expect(interval.high).toBeCloseTo(high, 4)
    }
    expect(toWilsonInterval(1, 20, 0.95)).toMatchObject({ high: 1 })
    expect(toWilsonInterval(0, 0, 0.95)).toEqual({ low: 0, high: 1 })
  })
})

describe('the design effect', () => {
  test('is about 1 for independent requests and grows with their dependence', () => {
    const draw = createDraw(7)
    const together = Array.from({ length: 30 }, (_, i) => ({ count: 200, hits: i % 10 === 0 ? 100 : 2 }))
    const apart = Array.from({ length: 30 }, () => ({
      count: 200,
      hits: Array.from({ length: 200 }, () => draw() < 0.1).filter(Boolean).length,
    }))
    expect(toDesignEffect(apart, 0.99)).toBeLessThan(2)
    expect(toDesignEffect(together, 0.99)).toBeGreaterThan(20)
  })

  test('is never below 1, and unknown with few batches', () => {
    expect(toDesignEffect(Array(30).fill({ count: 100, hits: 10 }), 0.99)).toBeGreaterThanOrEqual(1)
    expect(toDesignEffect(Array(30).fill({ count: 100, hits: 0 }), 0.99)).toBeGreaterThanOrEqual(1)
    expect(toDesignEffect(Array(7).fill({ count: 100, hits: 10 }), 0.99)).toBeNull()
    const withEmpty = [...Array(7).fill({ count: 100, hits: 10 }), { count: 0, hits: 0 }]
    expect(toDesignEffect(withEmpty, 0.99)).toBeNull()
  })
})

describe('the interval of a mean', () => {
  test("is Student's", () => {
    const interval = toMeanInterval([4, 5, 6, 7, 8, 9, 10, 11, 12], 0.95)
    expect(interval?.mean).toBe(8)
    expect(interval?.reach).toBeCloseTo(2.306 * Math.sqrt(7.5 / 9), 2)
    expect(toMeanInterval([1, 2, 3], 0.95)).toBeNull()
  })
})

/** Seconds of requests; each second has a factor that slows all of its requests. */
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

/** How often, in percent, the interval of the median contains the true median of 20 ms. */
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
  test('contains the true value as often as claimed for independent requests', () => {
    expect(cover(0, false, 30)).toBeGreaterThanOrEqual(90)
    expect(cover(0, true, 30)).toBeGreaterThanOrEqual(90)
  })

  test('contains the true value for requests that are slow together, thanks to the batches', () => {
    expect(cover(0.5, true, 30)).toBeGreaterThanOrEqual(88)
    expect(cover(0.5, false, 30)).toBeLessThan(60)
  })

  test('consists of order statistics', () => {
    const total = createHistogram()
    for (let i = 1; i <= 1_000; i += 1) recordUs(total, i)
    const { valueUs, interval, isBatched } = toQuantileInterval({ total, batches: [] }, 50, 0.95)
    // Ranks 469 and 532 of 1,000, the exact binomial ones.
    expect([valueUs, interval.low, interval.high, isBatched]).toEqual([500, 469, 532, false])
  })

  test('has no bound if too few requests lie beyond it', () => {
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

  test('is computed from at most thirty batches of consecutive seconds', () => {
    const seconds = drawSeconds(1, 61, 2, 0)
    const { batches } = toLatencyHistory(merge(seconds), seconds)
    expect(batches.map(({ counts }) => counts.at(-1))).toEqual([...Array(20).fill(6), 2])
    expect(toLatencyHistory(createHistogram(), []).batches).toEqual([])
    // Read one at a time, as from a journal, they are the same.
    expect(toLatencyHistory(merge(seconds), seconds.values(), 61).batches).toEqual(batches)
  })
})
