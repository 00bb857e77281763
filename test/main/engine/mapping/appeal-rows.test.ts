import { expect, test } from 'vitest'
import { createRowMapper, resolveMapping } from '../../../../src/main/engine/mapping/row-mapper.ts'
import { createRowValidator } from '../../../../src/main/engine/mapping/validate-row.ts'
import { formatProblem } from '../../../../src/shared/messages/problem-messages.ts'
import { buildPlan } from './build-plan.ts'

const plan = buildPlan({ operation: { kind: 'appeal-status' } })

test('a row names its appeal, and the same appeal may occur twice', () => {
  const columns = ['Appeal ID', 'since']
  const mapped = createRowMapper(plan, columns, 'r1')(1, ['A/1 ü', 'May'])
  expect(mapped).toMatchObject({ body: { appeal_id: 'A/1 ü' }, uniqueKey: null, problems: [] })
})

test('a row without an appeal is invalid, and a plan without one is refused as a whole', () => {
  const resolved = { ...plan, mapping: resolveMapping(plan, ['appeal_id']) }
  const found = createRowValidator(resolved)(3, {})
  expect(found.map(formatProblem)).toEqual(['row 3, appeal_id: is required but empty'])
  expect(() => resolveMapping(plan, ['id'])).toThrow('appeal_id is required but not mapped')
})

test('an appeal whose id would lead to another path is invalid', () => {
  const resolved = { ...plan, mapping: resolveMapping(plan, ['appeal_id']) }
  for (const id of ['.', '..', '%2e%2E']) {
    const found = createRowValidator(resolved)(3, { appeal_id: id })
    expect(found.map(formatProblem)).toEqual([
      `row 3, appeal_id: must not be "." or "..", which would lead to another path, found \`${id}\``,
    ])
  }
})

test('a lookup has no body, and therefore no whole request', () => {
  const mapping = { request: { kind: 'column' as const, column: 1 } }
  expect(() => resolveMapping({ ...plan, mapping }, ['appeal_id'])).toThrow(
    'appeal-status has no field `request`; its fields are appeal_id',
  )
})
