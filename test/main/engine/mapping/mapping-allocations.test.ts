import { expect, test } from 'vitest'
import { createRowMapper, resolveMapping } from '../../../../src/main/engine/mapping/row-mapper.ts'
import { createRowValidator } from '../../../../src/main/engine/mapping/validate-row.ts'
import { buildPlan } from './build-plan.ts'

test('rows without a problem share one empty list of problems', () => {
  const columns = ['text_data', 'user_id', 'user_metadata.age']
  const plan = buildPlan()
  const resolved = { ...plan, mapping: resolveMapping(plan, columns) }
  const map = createRowMapper(resolved, columns, 'r')
  const validate = createRowValidator(resolved)
  const first = map(1, ['text 1', 'u', '1'])
  const second = map(2, ['text 2', 'u', '2'])
  expect(second.problems).toBe(first.problems)
  expect(validate(2, second.body)).toBe(validate(1, first.body))
  expect(validate(2, second.body)).toEqual([])
})
