import { expect, test } from 'vitest'
import { listTrendWarnings, type TrendPoint } from '../../../src/shared/lookback/trend.ts'

function toPoint(run_id: string, warnings: string[]): TrendPoint {
  return { run_id, metrics: { warnings }, rules: [] } as unknown as TrendPoint
}

test('warnings of several runs that differ only in counts are one, and those about other labels are not', () => {
  const runs = [
    toPoint('a', [
      '3 rows without a label are left out.',
      'No row has the label `1`.',
      'No row has the label `2`.',
    ]),
    { run_id: 'b', metrics: null, rules: [] as TrendPoint['rules'] } as TrendPoint,
    toPoint('c', ['1,204 rows without a label are left out.', 'No row has the label `2`.']),
  ]
  expect(listTrendWarnings(runs)).toEqual([
    'c and 1 earlier run: 1,204 rows without a label are left out.',
    'a: No row has the label `1`.',
    'c and 1 earlier run: No row has the label `2`.',
  ])
  expect(listTrendWarnings(runs.slice(0, 1), ({ run_id }) => `run ${run_id}`)[0]).toBe(
    'run a: 3 rows without a label are left out.',
  )
})
