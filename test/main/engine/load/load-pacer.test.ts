import { describe, expect, it } from 'vitest'
import {
  createLoadPacer,
  type LoadPacer,
  type LoadTurn,
  WARMUP_SEQUENCE,
} from '../../../../src/main/engine/load/load-pacer.ts'
import { type Load, type LoadInput, loadSchema } from '../../../../src/shared/load/load.ts'

const TIMEOUT_MS = 1_000

function parseLoad(load: LoadInput): Load {
  return loadSchema.parse(load)
}

function createPacers(load: LoadInput, count = 1): LoadPacer[] {
  const parsed = parseLoad(load)
  return Array.from({ length: count }, (_, index) => createLoadPacer(parsed, TIMEOUT_MS, { index, count }))
}

/** Everything that a pacer releases at a time. */
function takeAll(pacer: LoadPacer, ms: number): LoadTurn[] {
  const turns: LoadTurn[] = []
  for (let turn = pacer.take(ms); turn !== null; turn = pacer.take(ms)) turns.push(turn)
  return turns
}

const sequences = (turns: readonly LoadTurn[]) => turns.map(({ sequence }) => sequence)

describe('an open pace', () => {
  const load: LoadInput = { pace: { kind: 'open', ratePerSecond: 100 }, durationMs: 1_000 }

  it('releases what is due with its due time, however late it is asked', () => {
    const [pacer] = createPacers(load)
    if (pacer === undefined) throw new Error('there is one')
    expect(pacer.take(-1)).toBeNull()
    expect(takeAll(pacer, 0)).toEqual([{ sequence: 0, isMeasured: true, dueMs: 0 }])
    expect(pacer.countReady(35)).toBe(3)
    expect(takeAll(pacer, 35).map(({ dueMs }) => dueMs)).toEqual([10, 20, 30])
    // A stall of nearly a second is caught up at once, on the same schedule.
    expect(takeAll(pacer, 5_000).map(({ dueMs }) => dueMs)).toEqual(
      Array.from({ length: 96 }, (_, i) => 40 + i * 10),
    )
    expect(pacer.isOver(5_000)).toBe(true)
  })

  it.each([1, 2, 3, 7])('assigns every request once to %i threads, as evenly as possible', (count) => {
    const pacers = createPacers(load, count)
    const taken = pacers.map((pacer) => sequences(takeAll(pacer, 5_000)))
    expect(taken.flat().toSorted((a, b) => a - b)).toEqual(Array.from({ length: 100 }, (_, i) => i))
    const sizes = taken.map(({ length }) => length)
    expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1)
    expect(pacers.every((pacer) => pacer.isOver(5_000))).toBe(true)
  })

  it('limits requests in flight to rate times timeout, shared by the threads', () => {
    const caps = (parts: Partial<LoadInput>, count: number) =>
      createPacers({ ...load, ...parts }, count).map((pacer) => pacer.concurrencyAt(0))
    expect(caps({}, 1)).toEqual([100])
    expect(caps({ maxInFlight: 9 }, 2)).toEqual([5, 4])
  })

  it('warms up at its first rate, with separate numbers, and does not catch up', () => {
    const [pacer] = createPacers({ ...load, warmupMs: 200 })
    if (pacer === undefined) throw new Error('there is one')
    expect(pacer.take(-201)).toBeNull()
    const first = takeAll(pacer, -100)
    expect(first).toHaveLength(11)
    expect(first[0]).toEqual({ sequence: WARMUP_SEQUENCE, isMeasured: false, dueMs: -200 })
    expect(first.at(-1)).toMatchObject({ sequence: WARMUP_SEQUENCE + 10, dueMs: -100 })
    // Nine requests of the warm-up were never taken; measuring begins without them.
    expect(takeAll(pacer, 0)).toEqual([{ sequence: 0, isMeasured: true, dueMs: 0 }])
  })

  it('can also end after a number of requests', () => {
    const [pacer] = createPacers({ pace: load.pace, requests: 7 })
    expect(pacer === undefined ? [] : takeAll(pacer, 60_000)).toHaveLength(7)
  })

  it('follows stages from zero', () => {
    const stages = [{ from: 0, to: 100, durationMs: 1_000 }]
    const [pacer] = createPacers({ pace: { kind: 'stages', of: 'rate', stages } })
    if (pacer === undefined) throw new Error('there is one')
    expect(takeAll(pacer, 500)).toHaveLength(13)
    expect(takeAll(pacer, 1_000)).toHaveLength(37)
    expect(pacer.isOver(1_000)).toBe(true)
  })
})

describe('a closed pace', () => {
  const load: LoadInput = { pace: { kind: 'closed', concurrency: 5 }, durationMs: 1_000 }

  it('releases whatever there is room for until its time is over', () => {
    const [pacer] = createPacers(load)
    if (pacer === undefined) throw new Error('there is one')
    expect(pacer.countReady(0)).toBe(Infinity)
    expect(pacer.take(0)).toEqual({ sequence: 0, isMeasured: true, dueMs: null })
    expect(pacer.take(999)).toMatchObject({ sequence: 1 })
    expect(pacer.take(1_000)).toBeNull()
    expect(pacer.isOver(999)).toBe(false)
    expect(pacer.isOver(1_000)).toBe(true)
  })

  it('splits its number in flight among threads without losing any', () => {
    expect(createPacers(load, 2).map((pacer) => pacer.concurrencyAt(0))).toEqual([3, 2])
    expect(createPacers(load, 7).map((pacer) => pacer.concurrencyAt(0))).toEqual([1, 1, 1, 1, 1, 0, 0])
  })

  it('ends after a number of requests, each sent by one thread', () => {
    const pacers = createPacers({ pace: load.pace, requests: 11 }, 3)
    const taken = pacers.map((pacer) => sequences(takeAll(pacer, 0)))
    expect(taken.flat().toSorted((a, b) => a - b)).toEqual(Array.from({ length: 11 }, (_, i) => i))
    expect(pacers.map((pacer) => pacer.isOver(0))).toEqual([true, true, true])
  })

  it('raises and lowers its number in stages, and warms up at the first', () => {
    const stages = [
      { from: 2, to: 10, durationMs: 800 },
      { from: 10, to: 10, durationMs: 200 },
      { from: 10, to: 0, durationMs: 1_000 },
    ]
    const [pacer] = createPacers({ pace: { kind: 'stages', of: 'concurrency', stages }, warmupMs: 500 })
    if (pacer === undefined) throw new Error('there is one')
    const at = (ms: number) => pacer.concurrencyAt(ms)
    expect([-500, 0, 400, 800, 999, 1_500, 1_960, 2_000].map(at)).toEqual([2, 2, 6, 10, 10, 5, 0, 0])
    expect(pacer.take(-501)).toBeNull()
    expect(pacer.take(-500)).toMatchObject({ sequence: WARMUP_SEQUENCE, isMeasured: false })
    expect(pacer.take(1)).toMatchObject({ sequence: 0, isMeasured: true })
  })
})
