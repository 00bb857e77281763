import { expect, test } from 'vitest'
import { describeMapping } from '../../../../src/shared/mapping/describe-mapping.ts'
import { buildPlan } from './build-plan.ts'

test.each([
  [['user_id', 'what'], 'what'],
  [['user_id', 'Column 2'], 2],
])('a column that is mapped by its number is described by its name, if it has one: %j', (columns, column) => {
  const mapping = { text_data: { kind: 'column' as const, column: 2 } }
  expect(describeMapping(buildPlan({ mapping }), columns).fields).toContainEqual({
    field: 'text_data',
    column,
    by: 'stated',
  })
})
