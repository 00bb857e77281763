import { describe, expect, it } from 'vitest'
import {
  addStage,
  changeDuration,
  changeLevels,
  changeUnit,
  createStages,
  formatStages,
  moveLevel,
  readStages,
  removeStage,
  STAGE_SHAPES,
  toDurationStep,
  toStep,
} from '../../src/renderer/features/operation/stages.ts'
import type { StagesPace } from '../../src/shared/load/load-pace.ts'

function read(text: string): StagesPace {
  return readStages(text) ?? expect.fail(`not stages: ${text}`)
}

describe('stages that are edited', () => {
  it.each([
    '10@30s',
    '10@30s, 10..50@1m, 50..0@30s',
    'concurrency: 5@10s, 8@1m30s',
    '0.5..1.25@500ms',
    '5@10s base, 8@1m30s',
  ])('are written as the text they were read from: %s', (text) => expect(formatStages(read(text))).toBe(text))

  it('remain joined where they met, and apart where there is a jump', () => {
    const ramp = read('0..50@1m, 50@2m, 50..0@30s')
    expect(formatStages(moveLevel(ramp, 0, 'to', 80))).toBe('0..80@1m, 80..50@2m, 50..0@30s')
    expect(formatStages(moveLevel(ramp, 1, 'line', 80))).toBe('0..80@1m, 80@2m, 80..0@30s')
    const steps = read('10@1m, 20@1m, 30@1m')
    expect(formatStages(moveLevel(steps, 1, 'line', 25))).toBe('10@1m, 25@1m, 30@1m')
    expect(formatStages(moveLevel(steps, 1, 'from', 15))).toBe('10@1m, 15..20@1m, 30@1m')
  })

  it('have no levels that a plan does not allow', () => {
    expect(formatStages(moveLevel(read('10@1m'), 0, 'line', -5))).toBe('10@1m')
    expect(formatStages(moveLevel(read('10@1m'), 0, 'line', 1.23456))).toBe('1.235@1m')
    expect(formatStages(moveLevel(read('concurrency: 10@1m'), 0, 'line', 12.6))).toBe('concurrency: 13@1m')
    expect(formatStages(moveLevel(read('concurrency: 10@1m'), 0, 'to', 99_999))).toBe(
      'concurrency: 10..10000@1m',
    )
    expect(formatStages(changeLevels(read('10@1m'), 0, { from: 0, to: 0 }))).toBe('10@1m')
  })

  it('take exact levels without moving their neighbours', () => {
    const stages = read('0..50@1m, 50@2m')
    expect(formatStages(changeLevels(stages, 1, { to: 70 }))).toBe('0..50@1m, 50..70@2m')
  })

  it('last at least a moment, and at most a week together', () => {
    expect(formatStages(changeDuration(read('10@1m'), 0, -5))).toBe('10@100ms')
    expect(formatStages(changeDuration(read('10@1h, 20@1h'), 1, 1e12))).toBe('10@1h, 20@167h')
  })

  it('are added at the level reached before them, and removed except for the last that sends', () => {
    expect(formatStages(addStage(read('0..50@1m, 20@5s'), 0))).toBe('0..50@1m, 50@1m, 20@5s')
    expect(formatStages(removeStage(read('10@1m, 20@1m'), 0))).toBe('20@1m')
    expect(formatStages(removeStage(read('10@1m'), 0))).toBe('10@1m')
    expect(formatStages(removeStage(read('10@1m, 0@1m'), 0))).toBe('10@1m, 0@1m')
  })

  it('become whole numbers if they are requests in flight', () => {
    expect(formatStages(changeUnit(read('0.5..2.6@1m'), 'concurrency'))).toBe('concurrency: 1..3@1m')
    expect(formatStages(changeUnit(read('concurrency: 2@1m'), 'rate'))).toBe('2@1m')
  })

  it.each(STAGE_SHAPES)('begin as a $label that can be sent', ({ shape }) => {
    for (const of of ['rate', 'concurrency'] as const) {
      for (const peak of [0, 1, 50]) {
        const pace = createStages(shape, of, peak)
        expect(read(formatStages(pace))).toEqual(pace)
      }
    }
  })
})

describe('a step of an arrow key', () => {
  it.each([
    [50, 1, 1],
    [250, 1, 2],
    [1_000, 1, 10],
    [0.4, 0.001, 0.002],
  ])('in a range of %d, at least %d, is %d', (range, least, step) => {
    expect(toStep(range, least)).toBeCloseTo(step, 9)
  })

  it.each([
    [2_000, 100],
    [60_000, 1_000],
    [3_600_000, 60_000],
  ])('in a time of %d ms is %d ms', (totalMs, step) => expect(toDurationStep(totalMs)).toBe(step))
})
