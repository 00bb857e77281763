import { expect, test } from 'vitest'
import { createRandom } from '../../../src/shared/lookback/seeded-random.ts'
import { readFixture } from './read-fixture.ts'

test('a seed gives the same numbers as numpy', () => {
  for (const { seed, numbers } of readFixture().random) {
    const random = createRandom(seed)
    expect(numbers.map(() => random())).toEqual(numbers)
  }
})
