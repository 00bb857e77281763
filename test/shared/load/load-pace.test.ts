import { describe, expect, test } from 'vitest'
import { createStageFinder, loadPaceSchema, parseStages } from '../../../src/shared/load/load-pace.ts'
import { formatTextMistake } from '../../../src/shared/messages/text-mistake.ts'

describe('stages in text', () => {
  test('hold a level, or go from one to another', () => {
    expect(parseStages('50@30s, 50..200@2m ,..0.5@1m30s')).toEqual({
      ok: true,
      pace: {
        kind: 'stages',
        of: 'rate',
        stages: [
          { from: 50, to: 50, durationMs: 30_000 },
          { from: 50, to: 200, durationMs: 120_000 },
          { from: 200, to: 0.5, durationMs: 90_000 },
        ],
      },
    })
  })

  test('start from zero if only the end of the first is given', () => {
    expect(parseStages('..200@2m')).toMatchObject({ pace: { stages: [{ from: 0, to: 200 }] } })
  })

  test('are requests in flight if the text says so', () => {
    expect(parseStages('concurrency: 5@10s,..20@10s')).toMatchObject({
      pace: { of: 'concurrency', stages: [{ from: 5, to: 5 }, { to: 20 }] },
    })
    expect(parseStages('rate:5@10s')).toMatchObject({ pace: { of: 'rate' } })
  })

  test.each(['50@30s', '0..50@30s,50@1m,50..0@500ms', 'concurrency:1@1s,1..64@1m', '33.333@1h'])(
    'make a valid pace of a plan: %s',
    (text) => {
      const result = parseStages(text)
      expect(result.ok).toBe(true)
      expect(result.ok && loadPaceSchema.parse(result.pace)).toEqual(result.ok && result.pace)
    },
  )

  test.each([
    ['50', 1, 'a duration after the level, as in `50@30s`'],
    ['', 1, 'stages such as `50@30s,50..200@2m`'],
    ['50@30s,', 8, 'stages such as'],
    ['50@30', 4, 'a duration such as 30s or 1m30s, at most 168h, found `30`'],
    ['50@30s,200@0s', 12, 'a duration such as'],
    ['50@200h', 4, 'a duration such as'],
    ['10@1s,1.2345@30s', 7, 'with at most three decimals, found `1.2345`'],
    ['10@1s,1..2000000@30s', 10, 'requests a second, at most 1000000'],
    ['1.2.3..5@30s', 1, 'requests a second'],
    ['concurrency:1.5@30s', 13, 'a whole number of requests in flight, at most 10000, found `1.5`'],
    ['concurrency:1@30s,20000@1s', 19, 'a whole number of requests in flight'],
    ['-5@30s', 1, 'stages such as'],
    ['50x@30s', 1, 'stages such as'],
    ['50@30s;60@30s', 4, 'a duration such as'],
    ['0@30s', 1, 'at least one stage that sends something'],
    ['1@100h,2@100h', 1, 'stages of 168h in all at most'],
  ])('that are wrong say where and what is expected: %s', (text, at, expected) => {
    const result = parseStages(text)
    expect(result).toMatchObject({ ok: false, mistake: { at } })
    expect(!result.ok && formatTextMistake('stages', text, result.mistake)).toContain(expected)
  })
})

describe('a stage', () => {
  test('may have a name, by which it is found at a time', () => {
    const parsed = parseStages('50@30s base,50..200@2m  ramp , 200@1s')
    if (!parsed.ok) throw new Error('it was not read')
    expect(parsed.pace.stages.map(({ name }) => name)).toEqual(['base', 'ramp', undefined])
    const toStage = createStageFinder(parsed.pace)
    expect([0, 29_999, 30_000, 150_500, 999_999, 10].map((ms) => toStage?.(ms))).toEqual([0, 0, 1, 2, 2, 0])
  })

  test.each([
    ['50@30s 1st', 8, 'a name of letters'],
    ['50@30s a,60@30s a', 17, 'another name'],
  ])('says what is wrong with the name in `%s`', (text, at, expected) => {
    const parsed = parseStages(text)
    expect(parsed).toMatchObject({ ok: false, mistake: { at } })
    expect(!parsed.ok && parsed.mistake.expected).toContain(expected)
  })

  test('is counted separately only while there are not too many', () => {
    const stages = Array.from({ length: 101 }, () => ({ from: 1, to: 1, durationMs: 1 }))
    expect(createStageFinder({ kind: 'stages', of: 'rate', stages })).toBeNull()
    expect(createStageFinder({ kind: 'closed', concurrency: 1 })).toBeNull()
  })
})
