import { describe, expect, it } from 'vitest'
import { layOutDistribution, MARKS_HEIGHT } from '../../../src/shared/load/chart-scale.ts'
import {
  createHistogram,
  recordUs,
  toLatencyBars,
  toPercentiles,
} from '../../../src/shared/load/latency-meter.ts'

const FRAME = { width: 500, height: 250, left: 50, right: 10, top: MARKS_HEIGHT, bottom: 20, labelWidth: 60 }

function layOut(valuesMs: readonly number[], frame = FRAME) {
  const histogram = createHistogram()
  for (const ms of valuesMs) recordUs(histogram, Math.round(ms * 1000))
  return layOutDistribution(toLatencyBars(histogram), toPercentiles(histogram), frame)
}

const EVENLY = Array.from({ length: 1_000 }, (_, i) => 10 ** (i / 333))

describe('a distribution that is drawn', () => {
  it('has round values on its axis at equal ratios', () => {
    const { ticks } = layOut(EVENLY)
    expect(ticks.map(({ ms }) => ms)).toEqual([1, 3, 10, 30, 100, 300])
    const [one, , ten, , hundred] = ticks
    expect((ten?.x ?? 0) - (one?.x ?? 0)).toBeCloseTo((hundred?.x ?? 0) - (ten?.x ?? 0), 0)
  })

  it('has more of them if there is room', () => {
    expect(layOut(EVENLY, { ...FRAME, width: 900 }).ticks.map(({ ms }) => ms)).toEqual([
      ...[1, 2, 5, 10, 20, 50, 100, 200, 500],
    ])
  })

  it.each([
    ['latencies that hardly differ', [10.1, 10.4, 10.9]],
    ['a single latency', [12]],
    ['latencies of little more than a decade', [9.5, 96, 190, 214]],
    ['latencies from microseconds to an hour', [0.001, 3_600_000]],
  ])('labels its axis for %s, without crowding it', (_name, values) => {
    const { ticks } = layOut(values)
    expect(ticks.length).toBeLessThanOrEqual(8)
    for (const [index, { x }] of ticks.entries()) {
      expect(x - (ticks[index - 1]?.x ?? Number.NEGATIVE_INFINITY)).toBeGreaterThanOrEqual(45)
      expect(x).toBeGreaterThanOrEqual(FRAME.left - 1)
      expect(x).toBeLessThanOrEqual(FRAME.width - FRAME.right + 1)
    }
  })

  it('labels its axis up to its end if that is far from the next power of ten', () => {
    const { ticks } = layOut([41, 60, 80, 112, 168, 199])
    expect(ticks.at(-1)?.ms).toBe(150)
  })

  it('marks percentiles and maximum in order, and no label covers another', () => {
    for (const values of [EVENLY, [10, 10, 10], [1, 5_000]]) {
      const { marks } = layOut(values)
      expect(marks.map(({ name }) => name)).toEqual(['p50', 'p90', 'p95', 'p99', 'max'])
      const boxes = marks.map(({ x, labelY, isLabelLeft }) => ({ from: isLabelLeft ? x - 90 : x, labelY }))
      for (const [index, box] of boxes.entries()) {
        expect(box.labelY).toBeLessThan(MARKS_HEIGHT)
        for (const other of boxes.slice(index + 1)) {
          expect(other.labelY !== box.labelY || Math.abs(other.from - box.from) >= 90).toBe(true)
        }
      }
    }
  })
})
