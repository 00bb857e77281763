import { describe, expect, it } from 'vitest'
import {
  type CapacityEnd,
  type CapacitySettings,
  chooseNextStep,
  type ProbeResult,
  type ProbeVerdict,
  toCapacityEstimate,
} from '../../../src/shared/load/capacity-search.ts'

const SETTINGS: CapacitySettings = {
  unit: 'rate',
  start: 10,
  max: 5_000,
  resolution: 0.05,
  repeats: 3,
  maxProbes: 50,
  maxTimeMs: 3_600_000,
  probeMs: 10_000,
}

/** Searches a model of a service that decides how the nth probe (from 0) of a level ends. */
function search(
  model: (level: number, n: number) => ProbeVerdict,
  settings: Partial<CapacitySettings> = {},
): { probes: ProbeResult[]; end: CapacityEnd; levels: number[] } & ReturnType<typeof toCapacityEstimate> {
  const all = { ...SETTINGS, ...settings }
  const probes: ProbeResult[] = []
  for (;;) {
    const step = chooseNextStep(all, probes, probes.length * all.probeMs)
    if (step.kind === 'end') {
      const levels = probes.map(({ level }) => level)
      return { probes, end: step.end, levels, ...toCapacityEstimate(probes) }
    }
    const n = probes.filter(({ level }) => level === step.level).length
    probes.push({ level: step.level, verdict: model(step.level, n) })
  }
}

/** A service that holds every level up to its limit. */
const upTo = (limit: number) => (level: number) => (level <= limit ? 'held' : 'failed') as ProbeVerdict

describe('capacity search', () => {
  it('doubles until a level fails, bisects, and repeats both bounds', () => {
    const found = search(upTo(300))
    expect(found.levels).toEqual([10, 20, 40, 80, 160, 320, 240, 280, 300, 310, 300, 300, 310, 310])
    expect(found).toMatchObject({ end: 'found', capacity: 300 })
  })

  it('finds any limit within its resolution, with an interval that holds the limit', () => {
    for (let limit = 0.5; limit < 4_500; limit *= 1.37) {
      for (const start of [1, 10, 333]) {
        if (start / 32 > limit) continue
        const { end, capacity, low, high } = search(upTo(limit), { start })
        expect(end, `limit ${limit} from ${start}`).toBe('found')
        expect(capacity).toBeLessThanOrEqual(limit)
        expect(high).toBeGreaterThan(limit)
        expect(low).toBe(capacity)
        expect(((high ?? 0) - (low ?? 0)) / (low ?? 1)).toBeLessThanOrEqual(0.0501)
      }
    }
  })

  it('searches requests in flight down to single requests', () => {
    for (let limit = 1; limit < 200; limit += 1) {
      const { end, capacity, high } = search(upTo(limit), { unit: 'concurrency', start: 8 })
      expect(end).toBe('found')
      expect(Number.isInteger(capacity)).toBe(true)
      expect(capacity).toBeLessThanOrEqual(limit)
      expect(high).toBeGreaterThan(limit)
      if (limit < 20) expect(capacity).toBe(limit)
    }
  })

  it('halves if the first level fails, and gives up at a 64th of it', () => {
    const found = search(upTo(4), { start: 100 })
    expect(found.levels.slice(0, 6)).toEqual([100, 50, 25, 12.5, 6.25, 3.13])
    expect(found).toMatchObject({ end: 'found', capacity: 3.91 })
    const none = search(() => 'failed', { start: 64 })
    expect(none).toMatchObject({ end: 'none_held', capacity: null, low: null, high: 1 })
    expect(none.levels).toEqual([64, 32, 16, 8, 4, 2, 1, 1, 1])
  })

  it('never exceeds the highest level allowed, and repeats it before it says that it held', () => {
    const found = search(() => 'held', { max: 100 })
    expect(found.levels).toEqual([10, 20, 40, 80, 100, 100, 100])
    expect(found).toMatchObject({ end: 'max_held', capacity: 100, low: 100, high: null })
  })

  it('repeats a void probe once, and ends if it is void again', () => {
    const once = search((level, n) => (level === 40 && n === 0 ? 'void' : upTo(300)(level)))
    expect(once.levels.slice(0, 5)).toEqual([10, 20, 40, 40, 80])
    expect(once).toMatchObject({ end: 'found', capacity: 300 })
    const twice = search((level) => (level >= 160 ? 'void' : 'held'))
    expect(twice.levels).toEqual([10, 20, 40, 80, 160, 160])
    expect(twice).toMatchObject({ end: 'generator_limited', capacity: 80, low: 80, high: null })
  })

  it('continues from a bound that does not hold when repeated', () => {
    // Lets one burst pass, like a full token bucket.
    const found = search((level, n) => (level <= 300 || (level === 640 && n === 0) ? 'held' : 'failed'))
    expect(found).toMatchObject({ end: 'found', capacity: 300, low: 300 })
    const early = search((level, n) => (level === 320 && n === 0 ? 'held' : upTo(300)(level)), { start: 320 })
    expect(early.end).toBe('found')
    expect(early.capacity).toBeGreaterThan(285)
    expect(early.capacity).toBeLessThanOrEqual(300)
    // One probe held at 320, so the interval does not exclude that level.
    expect(early.high).toBeGreaterThan(320)
  })

  it('is not kept low by one probe that failed by chance', () => {
    const found = search((level, n) => (level === 20 && n === 0 ? 'failed' : upTo(300)(level)))
    expect(found.end).toBe('found')
    expect(found.capacity).toBeGreaterThan(285)
    // The failure stays in the interval.
    expect(found.low).toBeLessThan(20)
  })

  it('ends at its limits of probes and time, and says what it knows', () => {
    const few = search(upTo(300), { maxProbes: 6 })
    expect(few).toMatchObject({ end: 'probe_limit', capacity: 160, low: 160, high: 320 })
    expect(few.probes).toHaveLength(6)
    // Does not start a probe that would not end in time.
    const short = search(upTo(300), { maxTimeMs: 39_999 })
    expect(short).toMatchObject({ end: 'time_limit', capacity: 40, high: null })
    expect(short.probes).toHaveLength(3)
  })

  it('ends for any behaviour of the service', () => {
    let state = 1
    const random = () => {
      state = (state * 48_271) % 2_147_483_647
      return state / 2_147_483_647
    }
    for (let round = 0; round < 300; round += 1) {
      const verdicts: ProbeVerdict[] = ['held', 'failed', 'void']
      const { probes, capacity, low, high } = search(() => verdicts[Math.floor(random() * 2.2)] ?? 'held', {
        maxProbes: 40,
      })
      expect(probes.length).toBeLessThanOrEqual(40)
      if (low !== null && capacity !== null) expect(low).toBeLessThanOrEqual(capacity)
      if (high !== null && capacity !== null) expect(high).toBeGreaterThan(capacity)
    }
  })
})
