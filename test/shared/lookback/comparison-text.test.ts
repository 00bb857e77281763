import { describe, expect, it } from 'vitest'
import {
  countOtherRules,
  describeChance,
  describeNoMoves,
  formatP,
  formatPoints,
  formatScoreMove,
} from '../../../src/shared/lookback/comparison-text.ts'

describe('a change in words', () => {
  it.each([
    [{ newly: 0, no_longer: 0, p: 1 }, 'no change'],
    [{ newly: 3, no_longer: 2, p: 1 }, 'may be chance'],
    [{ newly: 9, no_longer: 1, p: 0.021 }, 'probably not chance'],
    [{ newly: 30, no_longer: 1, p: 0.0000001 }, 'hardly chance'],
  ])('says whether flips may be chance: %j', (flips, words) => expect(describeChance(flips)).toBe(words))

  it.each([
    [0.00001, '<0.0001'],
    [0.03125, '0.0313'],
    [0.5, '0.50'],
  ])('writes the probability %d as %s', (p, text) => expect(formatP(p)).toBe(text))

  it('counts rows that trigger rules in both runs, but not the same ones, so that all changes add up', () => {
    const overall = { both: 80, newly: 7, no_longer: 1, neither: 77, p: 1 }
    const listed = [{ a: 'unknown', b: 'succeeded', rows: 90 }]
    const joined = { changed: 104, overall }
    expect(countOtherRules({ joined, outcomes: { listed, further_rows: 2 } })).toBe(4)
    expect(countOtherRules({ joined, outcomes: { listed, further_rows: 6 } })).toBe(0)
  })

  it('says whether no score moved or there are no scores', () => {
    expect(describeNoMoves(60)).toBe('No score moved on the 60 rows with scores in both runs.')
    expect(describeNoMoves(0)).toMatch(/^No row has scores in both runs\. /)
  })

  it('writes moves and points with their sign', () => {
    expect([formatScoreMove(0.25), formatScoreMove(-3), formatScoreMove(0)]).toEqual(['+0.25', '−3', '0'])
    expect([formatPoints(0.125), formatPoints(-0.03)]).toEqual(['+12.5', '−3.0'])
  })
})
