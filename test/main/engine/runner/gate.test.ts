import { expect, test } from 'vitest'
import { Gate } from '../../../../src/main/engine/runner/gate.ts'
import { toJudgement } from './to-judgement.ts'

const throttled = (retryAfterMs: number | null = null) =>
  toJudgement({ outcome: 'rejected', status: 429, repeat: 'safe', retryAfterMs })
const unreached = toJudgement({ outcome: 'failed', status: null, reached: false })
const success = toJudgement()

test('the gate is open at first, and after answers of any kind', () => {
  const gate = new Gate(60_000)
  expect(gate.closedForMs(0)).toBe(0)
  gate.note(success, false, 0)
  gate.note(toJudgement({ outcome: 'unknown', status: 503 }), false, 0)
  expect(gate.closedForMs(0)).toBe(0)
})

test('one or two rows that are throttled in passing close nothing', () => {
  const gate = new Gate(60_000)
  gate.note(throttled(5_000), false, 0)
  gate.note(throttled(5_000), false, 0)
  gate.note(success, false, 0)
  gate.note(throttled(5_000), false, 0)
  gate.note(throttled(5_000), false, 0)
  expect(gate.closedForMs(0)).toBe(0)
})

test('three in a row close it for as long as the service asked', () => {
  const gate = new Gate(60_000)
  for (let i = 0; i < 3; i += 1) gate.note(throttled(5_000), false, 1_000)
  expect(gate.closedForMs(1_000)).toBe(5_000)
  expect(gate.closedForMs(5_999)).toBe(1)
  expect(gate.closedForMs(6_000)).toBe(0)
})

test('it closes for a second where the service does not say how long, and never beyond the bound', () => {
  const silent = new Gate(60_000)
  const absurd = new Gate(2_000)
  for (let i = 0; i < 3; i += 1) {
    silent.note(throttled(), false, 0)
    absurd.note(throttled(1e12), false, 0)
  }
  expect(silent.closedForMs(0)).toBe(1_000)
  expect(absurd.closedForMs(0)).toBe(2_000)
})

test('a shorter wait does not cut a longer one', () => {
  const gate = new Gate(60_000)
  for (let i = 0; i < 3; i += 1) gate.note(throttled(9_000), false, 0)
  gate.note(throttled(100), false, 0)
  expect(gate.closedForMs(0)).toBe(9_000)
})

test('while the service is away it opens for probes, less and less often', () => {
  const gate = new Gate(60_000)
  const waits: number[] = []
  let nowMs = 0
  for (let i = 0; i < 8; i += 1) {
    gate.note(unreached, true, nowMs)
    waits.push(gate.closedForMs(nowMs))
    nowMs += gate.closedForMs(nowMs)
  }
  expect(waits).toEqual([250, 500, 1_000, 2_000, 4_000, 5_000, 5_000, 5_000])
})

test('tries that were in flight together count as one probe', () => {
  const gate = new Gate(60_000)
  for (let i = 0; i < 5; i += 1) gate.note(unreached, true, 0)
  expect(gate.closedForMs(0)).toBe(250)
})

test('a single row that was not reached closes nothing', () => {
  const gate = new Gate(60_000)
  gate.note(unreached, false, 0)
  expect(gate.closedForMs(0)).toBe(0)
})

test('when the service is back, probing begins anew the next time', () => {
  const gate = new Gate(60_000)
  gate.note(unreached, true, 0)
  gate.note(unreached, true, 250)
  gate.note(success, false, 750)
  gate.note(unreached, true, 1_000)
  expect(gate.closedForMs(1_000)).toBe(250)
})
