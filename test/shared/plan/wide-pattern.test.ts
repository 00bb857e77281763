import { expect, it } from 'vitest'
import { countAlternatives, refuseWidePattern } from '../../../src/shared/plan/wide-pattern.ts'

it('counts the patterns that braces expand to', () => {
  for (const [pattern, count] of [
    ['posts-*.csv', 1],
    ['posts-{a,b,c}.csv', 3],
    ['posts-{01..12}-{a,b}.csv', 24],
    ['posts-{a,b{1..3},c}.csv', 5],
    ['posts-{10..1..3}.csv', 4],
    ['posts-{a..e}.csv', 5],
    ['posts-{a}.csv', 1],
    ['posts-\\{1..9\\}.csv', 1],
    ['{a,{b,{c', 3],
    ['a}b,c', 1],
  ] as const) {
    expect(countAlternatives(pattern), pattern).toBe(count)
  }
})

it('refuses a pattern that expands to more than 1,000 others', () => {
  refuseWidePattern('posts-{1..1000}.csv')
  for (const pattern of [
    '{1..100000}',
    `${'{a,b}'.repeat(10)}`,
    '{1..99999999999999999999}',
    '{a,{1..5000}}',
  ])
    expect(() => refuseWidePattern(pattern), pattern).toThrow('1,000')
})
