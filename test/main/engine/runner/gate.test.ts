import { expect, test } from 'vitest'
import { Gate } from '../../../../src/main/engine/runner/gate.ts'
import type { Judgement } from '../../../../src/main/engine/service/judgement.ts'
import { toJudgement } from './to-judgement.ts'

let items = 0

/** A gate, and the way to tell it of tries, each of another row unless told. */
function createGate(maxMs = 60_000) {
  const gate = new Gate(maxMs)
  const note = (
    judgement: Judgement,
    isAway: boolean,
    nowMs: number,
    parts: { item?: number; inFlight?: number } = {},
  ): void => {
    items += 1
    gate.note({ judgement, isAway, nowMs, item: items, inFlight: 64, ...parts })
  }
  return Object.assign(note, { gate })
}

const throttled = (retryAfterMs: number | null = null) =>
  toJudgement({ outcome: 'rejected', status: 429, repeat: 'safe', retryAfterMs })
const unreached = toJudgement({ outcome: 'failed', status: null, reached: false })
const success = toJudgement()

test('the gate is open at first, and after answers of any kind', () => {
  const note = createGate()
  expect(note.gate.closedForMs(0)).toBe(0)
  note(success, false, 0)
  note(toJudgement({ outcome: 'unknown', status: 503 }), false, 0)
  expect(note.gate.closedForMs(0)).toBe(0)
})

test('one or two rows that are throttled in passing close nothing', () => {
  const note = createGate()
  note(throttled(5_000), false, 0)
  note(throttled(5_000), false, 0)
  note(success, false, 0)
  note(throttled(5_000), false, 0)
  note(throttled(5_000), false, 0)
  expect(note.gate.closedForMs(0)).toBe(0)
})

test('three in a row close it for as long as the service asked', () => {
  const note = createGate()
  for (let i = 0; i < 3; i += 1) note(throttled(5_000), false, 1_000)
  expect(note.gate.closedForMs(1_000)).toBe(5_000)
  expect(note.gate.closedForMs(5_999)).toBe(1)
  expect(note.gate.closedForMs(6_000)).toBe(0)
})

test('it closes for a second where the service does not say how long, and never beyond the bound', () => {
  const silent = createGate()
  const absurd = createGate(2_000)
  for (let i = 0; i < 3; i += 1) {
    silent(throttled(), false, 0)
    absurd(throttled(1e12), false, 0)
  }
  expect(silent.gate.closedForMs(0)).toBe(1_000)
  expect(absurd.gate.closedForMs(0)).toBe(2_000)
})

test('a shorter wait does not cut a longer one', () => {
  const note = createGate()
  for (let i = 0; i < 3; i += 1) note(throttled(9_000), false, 0)
  note(throttled(100), false, 0)
  expect(note.gate.closedForMs(0)).toBe(9_000)
})

test('while the service is away it opens for probes, less and less often', () => {
  const note = createGate()
  const waits: number[] = []
  let nowMs = 0
  for (let i = 0; i < 8; i += 1) {
    note(unreached, true, nowMs)
    waits.push(note.gate.closedForMs(nowMs))
    nowMs += note.gate.closedForMs(nowMs)
  }
  expect(waits).toEqual([250, 500, 1_000, 2_000, 4_000, 5_000, 5_000, 5_000])
})

test('tries that were in flight together count as one probe', () => {
  const note = createGate()
  for (let i = 0; i < 5; i += 1) note(unreached, true, 0)
  expect(note.gate.closedForMs(0)).toBe(250)
})

test('a single row that was not reached closes nothing', () => {
  const note = createGate()
  note(unreached, false, 0)
  expect(note.gate.closedForMs(0)).toBe(0)
})

test('when the service is back, probing begins anew the next time', () => {
  const note = createGate()
  note(unreached, true, 0)
  note(unreached, true, 250)
  note(success, false, 750)
  note(unreached, true, 1_000)
  expect(note.gate.closedForMs(1_000)).toBe(250)
})

test('one row that is throttled again and again closes nothing', () => {
  const note = createGate()
  for (let i = 0; i < 9; i += 1) note(throttled(5_000), false, 0, { item: 1 })
  expect([note.gate.closedForMs(0), note.gate.isThrottled(0)]).toEqual([0, false])
})

test('after throttling one probe is allowed, then twice as many with each round, then one more', () => {
  const note = createGate()
  for (let i = 0; i < 3; i += 1) note(throttled(1_000), false, 0, { inFlight: 20 })
  const allowed: number[] = []
  for (let round = 0; round < 7; round += 1) {
    allowed.push(note.gate.allowed)
    for (let i = note.gate.allowed; i > 0; i -= 1) note(success, false, 1_000)
  }
  expect(allowed).toEqual([1, 2, 4, 8, 10, 11, 12])
})

test('answers to what went out before it closed let nobody in', () => {
  const note = createGate()
  for (let i = 0; i < 3; i += 1) note(throttled(1_000), false, 0)
  for (let i = 0; i < 9; i += 1) note(success, false, 999)
  expect(note.gate.allowed).toBe(1)
})

test('while it is throttled a single 429 closes it and halves what is allowed; that ends after ten calm seconds', () => {
  const note = createGate()
  for (let i = 0; i < 3; i += 1) note(throttled(1_000), false, 0)
  for (let i = 0; i < 1 + 2 + 4; i += 1) note(success, false, 1_000)
  expect(note.gate.allowed).toBe(8)
  note(throttled(1_000), false, 2_000)
  expect([note.gate.closedForMs(2_000), note.gate.allowed]).toEqual([1_000, 1])
  for (let i = 0; i < 1 + 2 + 4; i += 1) note(success, false, 3_000)
  expect(note.gate.allowed).toBe(5)
  expect([note.gate.isThrottled(12_999), note.gate.isThrottled(13_000)]).toEqual([true, false])
})

test('probes that are throttled again come less and less often, whatever the service asks for', () => {
  const note = createGate()
  const waits: number[] = []
  let nowMs = 0
  for (let i = 0; i < 2; i += 1) note(throttled(0), false, nowMs)
  for (let i = 0; i < 9; i += 1) {
    note(throttled(0), false, nowMs)
    waits.push(note.gate.closedForMs(nowMs))
    nowMs += note.gate.closedForMs(nowMs)
  }
  expect(waits).toEqual([0, 250, 500, 1_000, 2_000, 4_000, 8_000, 10_000, 10_000])
})

test('a service that is away is probed by one request at a time, and more when it is back', () => {
  const note = createGate()
  expect(note.gate.allowed).toBe(Infinity)
  note(unreached, true, 0)
  expect(note.gate.allowed).toBe(1)
  note(success, false, 250)
  expect(note.gate.allowed).toBe(2)
})
