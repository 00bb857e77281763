import { describe, expect, test } from 'vitest'
import {
  createArrivalSchedule,
  createConcurrencySchedule,
} from '../../../src/shared/load/arrival-schedule.ts'
import type { Stage } from '../../../src/shared/load/load-pace.ts'
import { createDraw } from '../../helpers/seeded-draw.ts'

const HOUR_MS = 3_600_000

const LEVELS = [0, 0.001, 0.5, 1, 7.3, 33.333, 200, 1_999.999, 10_000]

function drawStages(draw: () => number, maxMs = 2 * HOUR_MS): Stage[] {
  const level = () => LEVELS[Math.floor(draw() * LEVELS.length)] ?? 0
  return Array.from({ length: 1 + Math.floor(draw() * 5) }, () => {
    const from = level()
    return { from, to: draw() < 0.5 ? from : level(), durationMs: 1 + Math.floor(draw() * maxMs) }
  })
}

/**
 * Two million times the integral of the rate up to a whole number of microseconds, rounded down, without
 * floats.
 */
function toExactUnits(stages: readonly Stage[], us: bigint): bigint {
  let units = 0n
  let startUs = 0n
  for (const { from, to, durationMs } of stages) {
    const durationUs = BigInt(durationMs) * 1000n
    const t = us - startUs < durationUs ? us - startUs : durationUs
    if (t <= 0n) break
    const f = BigInt(Math.round(from * 1000))
    const g = BigInt(Math.round(to * 1000))
    // (f t + (g - f) t² / 2 D) thousandths times microseconds, in units of a two-millionth request.
    units += (2n * f * t * durationUs + (g - f) * t * t) / (durationUs * 1000n)
    startUs += durationUs
  }
  return units
}

const UNITS = 2_000_000n

describe('a constant rate', () => {
  test('has request i due at i over the rate', () => {
    const schedule = createArrivalSchedule([{ from: 200, to: 200, durationMs: 60_000 }])
    expect(schedule).toMatchObject({ total: 12_000, durationMs: 60_000 })
    expect([0, 1, 2, 11_999].map((i) => schedule.dueMs(i))).toEqual([0, 5, 10, 59_995])
    expect(schedule.dueMs(12_000)).toBe(Infinity)
    expect([-1, 0, 4.999, 5, 59_999, 1e9].map((ms) => schedule.countDue(ms))).toEqual([
      0, 1, 1, 2, 12_000, 12_000,
    ])
    expect(schedule.plannedAt(30_000)).toBe(6_000)
    expect([schedule.rateAt(0), schedule.rateAt(59_999), schedule.rateAt(60_000)]).toEqual([200, 200, 0])
  })

  test('does not drift over hours', () => {
    const schedule = createArrivalSchedule([{ from: 33.333, to: 33.333, durationMs: 24 * HOUR_MS }])
    expect(schedule.total).toBe(2_879_972)
    for (const index of [1, 33_333, 2_000_000, 2_879_971]) {
      const exactUs = (BigInt(index) * 1_000_000_000n) / 33_333n
      expect(Math.abs(schedule.dueMs(index) * 1000 - Number(exactUs))).toBeLessThan(1)
    }
  })

  test('ends after a number of requests if one is given', () => {
    const schedule = createArrivalSchedule([{ from: 8, to: 8, durationMs: HOUR_MS }], { limit: 4 })
    expect(schedule).toMatchObject({ total: 4, durationMs: 500 })
    expect([0, 3, 4].map((i) => schedule.dueMs(i))).toEqual([0, 375, Infinity])
    expect([schedule.countDue(374), schedule.countDue(1e6), schedule.plannedAt(1e6)]).toEqual([3, 4, 4])
    expect(schedule.rateAt(499)).toBe(8)
    expect(schedule.rateAt(500)).toBe(0)
  })

  test('has no more requests than its stages send, whatever the limit', () => {
    expect(createArrivalSchedule([{ from: 8, to: 8, durationMs: 1000 }], { limit: 99 })).toMatchObject({
      total: 8,
      durationMs: 1000,
    })
  })
})

describe('a ramp', () => {
  test('sends as many requests as the area under it', () => {
    const schedule = createArrivalSchedule([
      { from: 50, to: 50, durationMs: 30_000 },
      { from: 50, to: 200, durationMs: 120_000 },
    ])
    expect(schedule.total).toBe(1_500 + 15_000)
    expect(schedule.dueMs(1_500)).toBe(30_000)
    expect(schedule.rateAt(90_000)).toBe(125)
    expect(schedule.plannedAt(90_000)).toBe(1_500 + 5_250)
  })

  test('up and down is symmetric', () => {
    const up = createArrivalSchedule([{ from: 0, to: 100, durationMs: 10_000 }])
    const down = createArrivalSchedule([{ from: 100, to: 0, durationMs: 10_000 }])
    for (let i = 1; i < 500; i += 1) {
      expect(up.dueMs(i) + down.dueMs(500 - i)).toBeCloseTo(10_000, 6)
    }
    expect([up.dueMs(0), down.dueMs(0)]).toEqual([0, 0])
  })

  test('from zero sends its first request at once, and the second when the area is one', () => {
    const schedule = createArrivalSchedule([{ from: 0, to: 2, durationMs: 2_000 }])
    expect(schedule.total).toBe(2)
    expect(schedule.dueMs(1)).toBeCloseTo(Math.SQRT2 * 1000, 9)
  })

  test('waits through a stage at zero', () => {
    const schedule = createArrivalSchedule([
      { from: 0, to: 0, durationMs: 5_000 },
      { from: 10, to: 10, durationMs: 1_000 },
      { from: 0, to: 0, durationMs: 5_000 },
      { from: 10, to: 10, durationMs: 1_000 },
    ])
    expect(schedule.total).toBe(20)
    expect([0, 9, 10, 19].map((i) => schedule.dueMs(i))).toEqual([5_000, 5_900, 11_000, 11_900])
    expect(schedule.countDue(4_999)).toBe(0)
    expect(schedule.countDue(10_000)).toBe(10)
  })
})

describe('any schedule', () => {
  const cases = Array.from({ length: 200 }, (_, seed) => {
    const draw = createDraw(seed)
    return { draw, stages: drawStages(draw) }
  })

  test('has as many requests as the integral of its rate, rounded up', () => {
    for (const { stages } of cases) {
      const durationMs = stages.reduce((sum, stage) => sum + stage.durationMs, 0)
      const units = toExactUnits(stages, BigInt(durationMs) * 1000n)
      expect(createArrivalSchedule(stages).total).toBe(Number((units + UNITS - 1n) / UNITS))
    }
  })

  test('has every request due when the integral reaches its number, to the microsecond', () => {
    for (const { stages, draw } of cases) {
      const schedule = createArrivalSchedule(stages)
      for (let tries = 0; tries < 20 && schedule.total > 0; tries += 1) {
        const index = Math.floor(draw() * schedule.total)
        const us = BigInt(Math.floor(schedule.dueMs(index) * 1000))
        const wanted = BigInt(index) * UNITS
        expect(toExactUnits(stages, us > 0n ? us - 1n : 0n)).toBeLessThanOrEqual(wanted)
        expect(toExactUnits(stages, us + 2n)).toBeGreaterThanOrEqual(wanted)
      }
    }
  })

  test('never has a request due before the previous one, or after the end', () => {
    for (const { stages, draw } of cases) {
      const schedule = createArrivalSchedule(stages)
      const from = Math.floor(draw() * schedule.total)
      let before = schedule.dueMs(from)
      for (let index = from + 1; index < Math.min(schedule.total, from + 500); index += 1) {
        const due = schedule.dueMs(index)
        expect(due).toBeGreaterThanOrEqual(before)
        before = due
      }
      if (schedule.total > 0) expect(schedule.dueMs(schedule.total - 1)).toBeLessThan(schedule.durationMs)
    }
  })

  test('counts exactly the due requests', () => {
    for (const { stages, draw } of cases) {
      const schedule = createArrivalSchedule(stages)
      for (let tries = 0; tries < 20; tries += 1) {
        const ms = draw() * schedule.durationMs
        const count = schedule.countDue(ms)
        if (count > 0) expect(schedule.dueMs(count - 1)).toBeLessThanOrEqual(ms)
        expect(schedule.dueMs(count)).toBeGreaterThan(ms)
        expect(Math.abs(schedule.plannedAt(ms) - count)).toBeLessThanOrEqual(1.000001)
      }
      for (let index = 0; index < Math.min(50, schedule.total); index += 1) {
        expect(schedule.countDue(schedule.dueMs(index))).toBeGreaterThan(index)
      }
    }
  })

  test('with a limit is unchanged up to that limit', () => {
    for (const { stages, draw } of cases) {
      const whole = createArrivalSchedule(stages)
      const limit = Math.floor(draw() * whole.total) + 1
      const cut = createArrivalSchedule(stages, { limit })
      expect(cut.total).toBe(Math.min(limit, whole.total))
      expect(cut.dueMs(limit - 1)).toBe(whole.dueMs(limit - 1))
      expect(cut.durationMs).toBeLessThanOrEqual(whole.durationMs)
      if (limit < whole.total) expect(cut.durationMs).toBe(whole.dueMs(limit))
      expect(cut.countDue(cut.durationMs)).toBe(cut.total)
    }
  })
})

describe('stages of requests in flight', () => {
  const schedule = createConcurrencySchedule([
    { from: 10, to: 10, durationMs: 1_000 },
    { from: 10, to: 20, durationMs: 10_000 },
    { from: 0, to: 0, durationMs: 1_000 },
    { from: 5, to: 1, durationMs: 4_000 },
  ])

  test('hold and change their level by whole requests', () => {
    const times = [-1, 0, 999, 1_000, 1_400, 1_600, 6_000, 10_999, 11_000, 12_000, 15_999, 16_000]
    expect(times.map((ms) => schedule.concurrencyAt(ms))).toEqual([0, 10, 10, 10, 10, 11, 15, 20, 0, 5, 1, 0])
    expect(schedule).toMatchObject({ durationMs: 16_000, peak: 20 })
  })
})
