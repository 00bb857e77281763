import { expect, test } from 'vitest'
import { Gate } from '../../../../src/main/engine/run/service-limits.ts'
import type { Judgement } from '../../../../src/main/engine/service/judgement.ts'
import { toJudgement } from './to-judgement.ts'

const success = toJudgement()
const unreached = toJudgement({ outcome: 'failed', status: null, reached: false, message: 'refused' })

/** A gate, and a function that reports tries to it, each of another row. */
function createGate() {
  const gate = new Gate(60_000)
  let item = 0
  const note = (judgement: Judgement, isAway: boolean, nowMs: number): void => {
    item += 1
    gate.note({ judgement, isAway, sentAtMs: nowMs, nowMs, item })
  }
  return { gate, note }
}

test('the gate is open at first, and after any answer', () => {
  const { gate, note } = createGate()
  expect(gate.waitMs(0)).toBe(0)
  note(success, false, 0)
  for (let i = 0; i < 20; i += 1) {
    note(toJudgement({ outcome: 'unknown', status: 503, retryAfterMs: 60_000 }), false, 0)
  }
  expect([gate.waitMs(0), gate.room(0)]).toEqual([0, Infinity])
})

test('while the service is away it opens for probes at growing intervals', () => {
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

test('a single unreached row does not close the gate', () => {
  const { gate, note } = createGate()
  note(unreached, false, 0)
  expect(gate.waitMs(0)).toBe(0)
})

test('after the service is back, probing starts over the next time', () => {
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

test('answers to requests from before it closed let nobody in', () => {
  const { gate, note } = createGate()
  note(unreached, true, 0)
  for (let i = 0; i < 9; i += 1) note(success, false, 249)
  expect(gate.allowed).toBe(1)
})
