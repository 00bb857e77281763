import { expect, test } from 'vitest'
import { findPlanWarnings } from '../../../../src/main/engine/mapping/plan-warnings.ts'
import { createRowMapper, resolveMapping } from '../../../../src/main/engine/mapping/row-mapper.ts'
import { createRowValidator } from '../../../../src/main/engine/mapping/validate-row.ts'
import { formatProblem, sayExpected } from '../../../../src/shared/messages/problem-messages.ts'
import { addTermSchema } from '../../../../src/shared/operations/watchlist-add.ts'
import { updateTermSchema } from '../../../../src/shared/operations/watchlist-update.ts'
import type { PlanInput } from '../../../../src/shared/plan/plan.ts'
import { buildPlan } from './build-plan.ts'

const ADD: PlanInput['operation'] = { kind: 'watchlist-add', watchlist: 'w' }
const KEEP: PlanInput['operation'] = { kind: 'watchlist-update', watchlist: 'w' }
const CLEAR: PlanInput['operation'] = { kind: 'watchlist-update', watchlist: 'w', emptyNotes: 'clear' }

function mapOne(
  operation: PlanInput['operation'],
  columns: string[],
  cells: string[],
  mapping: PlanInput['mapping'] = {},
) {
  const plan = buildPlan({ operation, mapping })
  const resolved = { ...plan, mapping: resolveMapping(plan, columns) }
  const mapped = createRowMapper(resolved, columns, 'r1')(2, cells)
  const found = [...mapped.problems, ...createRowValidator(resolved)(2, mapped.body)]
  return { ...mapped, found: found.map(formatProblem) }
}

test('a term goes out as written, and is compared lower-cased, as by the service', () => {
  const { body, uniqueKey, found } = mapOne(ADD, ['term', 'notes'], [' Gift CARD', 'seen in spam '])
  expect(body).toEqual({ term: ' Gift CARD', notes: 'seen in spam ' })
  expect(uniqueKey).toEqual({ field: 'term', value: ' gift card', shown: ' Gift CARD', looks: 'gift card' })
  expect(found).toEqual([
    'row 2, term: has invisible characters, or white space at its ends, which are sent, found `\\u0020Gift CARD`',
  ])
})

test('an empty cell of notes is omitted when terms are added', () => {
  expect(mapOne(ADD, ['term', 'notes'], ['x', '']).body).toEqual({ term: 'x' })
})

test('in an update an empty cell keeps the notes or clears them with null, as the plan says', () => {
  expect(mapOne(KEEP, ['term', 'notes'], ['x', '']).body).toEqual({ term: 'x' })
  expect(mapOne(CLEAR, ['term', 'notes'], ['x', '']).body).toEqual({ term: 'x', notes: null })
  expect(mapOne(CLEAR, ['term', 'notes'], ['x', 'n']).body).toEqual({ term: 'x', notes: 'n' })
  expect(mapOne(CLEAR, ['term', 'notes'], ['x', '']).found).toEqual([])
})

test('clearing the notes of every term must be requested by name', () => {
  expect(() => mapOne(CLEAR, ['term', 'note'], ['x', 'n'])).toThrow(
    'notes: no column is mapped, so the notes of every term would be cleared',
  )
  const onPurpose = { notes: { kind: 'template' as const, template: '' } }
  expect(mapOne(CLEAR, ['term'], ['x'], onPurpose).body).toEqual({ term: 'x', notes: null })
})

test('an update without notes is reported to change nothing', () => {
  const plan = buildPlan({ operation: KEEP })
  const warnings = findPlanWarnings(plan, resolveMapping(plan, ['term']), ['term'])
  expect(warnings.map((warning) => sayExpected(warning, 'terminal'))).toEqual([
    'is the only field that an update changes, but it is not mapped',
  ])
  expect(warnings).toEqual([
    {
      severity: 'warning',
      code: 'recommended',
      field: 'notes',
      args: { lack: 'all_that_changes' },
    },
  ])
  expect(findPlanWarnings(plan, resolveMapping(plan, ['term', 'notes']), [])).toEqual([])
  const adding = buildPlan({ operation: ADD })
  expect(findPlanWarnings(adding, resolveMapping(adding, ['term']), ['term'])).toEqual([])
})

test('1024 characters are counted as a person counts them, an emoji as one', () => {
  const long = '🎁'.repeat(1024)
  expect(mapOne(ADD, ['term', 'notes'], [long, long]).found).toEqual([])
  expect(addTermSchema.safeParse({ term: long, notes: long }).success).toBe(true)
  const { found } = mapOne(ADD, ['term', 'notes'], [`${long}a`, 'n'.repeat(1025)])
  expect(found).toEqual([
    expect.stringMatching(/^row 2, term: must have at most 1024 characters, but has 1025, found `🎁+…`$/u),
    expect.stringMatching(/^row 2, notes: must have at most 1024 characters, but has 1025, found `n+…`$/),
  ])
  expect(updateTermSchema.safeParse({ term: `${long}a` }).success).toBe(false)
})

test('a row without a term is invalid, and one with only white space gets a warning', () => {
  const empty = mapOne(ADD, ['term', 'notes'], ['', 'n'])
  expect(empty.found).toEqual(['row 2, term: is required but empty'])
  expect(empty.uniqueKey).toBeNull()
  expect(mapOne(ADD, ['term'], ['  ']).found).toEqual([
    'row 2, term: has nothing to see but white space, invisible characters or the fixed text of a template; it is sent as it is, found `\\u0020\\u0020`',
  ])
})

test('a plan without a term is refused as a whole', () => {
  expect(() => mapOne(ADD, ['word'], ['x'])).toThrow('term is required but not mapped')
})
