import { describe, expect, test } from 'vitest'
import { createPacer, Gate } from '../../../../src/main/engine/sending/pace.ts'
import type { Judgement } from '../../../../src/main/engine/service/judgement.ts'
import { toJudgement } from '../run/to-judgement.ts'

describe('a closed pace', () => {
  test('is bounded by what is in flight alone', () => {
    const pacer = createPacer({ kind: 'closed', concurrency: 7 })
    pacer.start(0)
    expect(pacer.concurrency).toBe(7)
    expect(pacer.due(0)).toBe(Infinity)
    expect(pacer.take()).toBeNull()
    expect(pacer.due(0)).toBe(Infinity)
  })
})

describe('an open pace', () => {
  const openPacer = (ratePerSecond: number) => {
    const pacer = createPacer({ kind: 'open', ratePerSecond, maxInFlight: 3 })
    pacer.start(1_000)
    return pacer
  }

  test('has its cap in flight', () => {
    expect(openPacer(10).concurrency).toBe(3)
  })

  test('has the first request due at once, and the next a whole interval later', () => {
    const pacer = openPacer(10)
    expect(pacer.due(999)).toBe(0)
    expect(pacer.due(1_000)).toBe(1)
    expect(pacer.due(1_099)).toBe(1)
    expect(pacer.due(1_100)).toBe(2)
    expect(pacer.due(1_950)).toBe(10)
  })

  test('counts what was taken', () => {
    const pacer = openPacer(10)
    expect(pacer.take()).toBe(1_000)
    expect(pacer.due(1_050)).toBe(0)
    expect(pacer.due(1_250)).toBe(2)
    expect(pacer.take()).toBe(1_100)
    expect(pacer.due(1_250)).toBe(1)
  })

  test('keeps an absolute schedule: however late anybody looks, no lateness adds up', () => {
    const pacer = openPacer(1_000 / 3)
    let nowMs = 1_000
    for (let i = 0; i < 1_000; i += 1) {
      // Always looked at 2.9 ms too late.
      nowMs = Math.max(nowMs, 1_000 + i * 3) + 2.9
      expect(pacer.due(nowMs)).toBeGreaterThanOrEqual(1)
      expect(pacer.take()).toBeCloseTo(1_000 + i * 3, 6)
    }
  })

  test('does not make up for what would have been due in a pause', () => {
    const pacer = openPacer(10)
    pacer.take()
    pacer.start(50_000)
    expect(pacer.due(50_000)).toBe(1)
    expect(pacer.take()).toBe(50_000)
    expect(pacer.due(50_099)).toBe(0)
  })
})

/** A gate, and the way to tell it of tries, each of another row. */
function createGate() {
  const gate = new Gate(60_000)
  let item = 0
  const note = (judgement: Judgement, isAway: boolean, nowMs: number): void => {
    item += 1
    gate.note({ judgement, isAway, sentAtMs: nowMs, nowMs, item })
  }
  return { gate, note }
}

const unreached = toJudgement({ outcome: 'failed', status: null, reached: false })
const success = toJudgement()

test('the gate is open at first, and after answers of any kind', () => {
  const { gate, note } = createGate()
  expect(gate.waitMs(0)).toBe(0)
  note(success, false, 0)
  for (let i = 0; i < 20; i += 1) {
    note(toJudgement({ outcome: 'unknown', status: 503, retryAfterMs: 60_000 }), false, 0)
  }
  expect([gate.waitMs(0), gate.room(0)]).toEqual([0, Infinity])
})

test('while the service is away it opens for probes, less and less often', () => {
  const { gate, note } = createGate()
  const waits: number[] = []
  let nowMs = 0
  for (let i = 0; i < 8; i += 1) {
    note(unreached, true, nowMs)
    waits.push(gate.waitMs(nowMs))
    nowMs += gate.waitMs(nowMs)
  }
  expect(waits).toEqual([250, 500, 1_000, 2_000, 4_000, 5_000, 5_000, 5_000])
})

test('tries that were in flight together count as one probe', () => {
  const { gate, note } = createGate()
  for (let i = 0; i < 5; i += 1) note(unreached, true, 0)
  expect(gate.waitMs(0)).toBe(250)
})

test('a single row that was not reached closes nothing', () => {
  const { gate, note } = createGate()
  note(unreached, false, 0)
  expect(gate.waitMs(0)).toBe(0)
})

test('after the service is back, probing starts over next time', () => {
  const { gate, note } = createGate()
  note(unreached, true, 0)
  note(unreached, true, 250)
  note(success, false, 750)
  note(unreached, true, 1_000)
  expect(gate.waitMs(1_000)).toBe(250)
})

test('a service that is back gets twice as many requests with each round of answers', () => {
  const { gate, note } = createGate()
  expect(gate.allowed).toBe(Infinity)
  note(unreached, true, 0)
  const allowed: number[] = []
  for (let round = 0; round < 5; round += 1) {
    allowed.push(gate.allowed)
    for (let i = gate.allowed; i > 0; i -= 1) note(success, false, 250)
  }
  expect(allowed).toEqual([1, 2, 4, 8, 16])
})

test('answers to what went out before it closed let nobody in', () => {
  const { gate, note } = createGate()
  note(unreached, true, 0)
  for (let i = 0; i < 9; i += 1) note(success, false, 249)
  expect(gate.allowed).toBe(1)
})
