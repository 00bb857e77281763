import { expect, test } from 'vitest'
import { writeBody } from '../../../../src/main/engine/mapping/json-text.ts'
import { findPlanWarnings } from '../../../../src/main/engine/mapping/plan-warnings.ts'
import { createRowMapper, resolveMapping } from '../../../../src/main/engine/mapping/row-mapper.ts'
import { createRowValidator } from '../../../../src/main/engine/mapping/validate-row.ts'
import { FOLDER_COLUMNS } from '../../../../src/shared/mapping/match-columns.ts'
import { formatProblem, sayExpected } from '../../../../src/shared/messages/problem-messages.ts'
import type { PlanInput } from '../../../../src/shared/plan/plan.ts'
import { buildPlan, readBody } from './build-plan.ts'

const REQUEST = { request: { kind: 'column' as const, column: 'request' } }

function mapOne(columns: readonly string[], cells: string[], parts: Partial<PlanInput> = {}) {
  const plan = buildPlan({ mapping: REQUEST, ...parts })
  const resolved = { ...plan, mapping: resolveMapping(plan, columns) }
  const mapped = createRowMapper(resolved, columns, 'r1')(5, cells)
  const found = [...mapped.problems, ...createRowValidator(resolved)(5, mapped.body)]
  return {
    ...mapped,
    body: readBody(mapped.body),
    text: writeBody(mapped.body),
    found: found.map(formatProblem),
  }
}

test('a whole request takes precedence, and columns, constants and defaults fill what it lacks', () => {
  const request = { text_data: 'from JSON', group_id: 'g', user_metadata: { age: 4, ok: true } }
  const columns = ['request', 'text_data', 'user_id', 'user_metadata.age', 'user_metadata.town']
  const { body, found } = mapOne(columns, [JSON.stringify(request), 'from a cell', 'u1', '9', 'Ulm'])
  expect(body).toEqual({
    text_data: 'from JSON',
    group_id: 'g',
    user_metadata: { age: 4, ok: true, town: 'Ulm' },
    user_id: 'u1',
    post_id: 'r1-5',
  })
  expect(found).toEqual([
    'row 5, text_data: is in the whole request of the row, too, with another value, which is sent, found `from JSON`',
  ])
})

test('a field that a person states is reported if a whole request has another value', () => {
  const mapping = { ...REQUEST, user_id: { kind: 'template' as const, template: 'mine' } }
  const tell = (request: object) => mapOne(['request'], [JSON.stringify(request)], { mapping })
  const { body, found } = tell({ text_data: 't', user_id: 'theirs' })
  expect(body).toMatchObject({ user_id: 'theirs' })
  expect(found).toEqual([
    'row 5, user_id: is in the whole request of the row, too, with another value, which is sent, found `theirs`',
  ])
  expect(tell({ text_data: 't', user_id: 'mine' }).found).toEqual([])
  expect(tell({ text_data: 't', post_id: 'p' }).found).toEqual([])
})

test('a whole request with an empty text has no content', () => {
  const { found } = mapOne(['request'], [JSON.stringify({ text_data: '', user_id: 'u1' })])
  expect(found).toEqual(['row 5: must have exactly one of text_data and url, found `neither`'])
})

test('a row without a whole request consists of its columns only', () => {
  const { body, found } = mapOne(['request', 'text_data', 'user_id'], ['', 'a text', 'u1'])
  expect(body).toEqual({ text_data: 'a text', user_id: 'u1', post_id: 'r1-5' })
  expect(found).toEqual([])
})

test('numbers that a double cannot hold keep their digits, and a key named __proto__ is kept too', () => {
  const text =
    '{"text_data":"t","user_id":"u","content_metadata":{"id":12345678901234567890},"__proto__":{"a":1}}'
  expect(mapOne(['request'], [text]).text).toBe(
    '{"text_data":"t","user_id":"u","content_metadata":{"id":12345678901234567890},"__proto__":{"a":1},"post_id":"r1-5"}',
  )
})

test('null in a field of the interface is a missing field', () => {
  const request = { text_data: 't', user_id: null, parent_id: null, own: null }
  const { body } = mapOne(['request', 'user_id'], [JSON.stringify(request), 'u1'])
  expect(body).toEqual({ text_data: 't', own: null, user_id: 'u1', post_id: 'r1-5' })
})

test.each(['[1]', '"text"', '{"a":', 'null'])('%s is not a whole request', (text) => {
  expect(mapOne(['request', 'text_data', 'user_id'], [text, 't', 'u']).found).toEqual([
    `row 5, request: must be a JSON object, found \`${text}\``,
  ])
})

test('values of another type are refused, and unknown fields are sent with a warning', () => {
  const request = { text_data: 7, user_id: 4, models: 'text', user_metadata: 'm', text_dta: 't' }
  expect(mapOne(['request'], [JSON.stringify(request)]).found).toEqual([
    'row 5, user_metadata: must be a JSON object, found `m`',
    'row 5, text_data: must be a string, found `7`',
    'row 5, user_id: must be a string, found `4`',
    'row 5, models: must be an array of strings, found `text`',
    'row 5, text_dta: is not a field that the service documents; it is sent anyway, found `t`',
  ])
})

test('a post_id from a whole request is checked for duplicates, though a default one need not be', () => {
  expect(mapOne(['request'], ['{"post_id":"p1"}']).uniqueKey).toEqual({ field: 'post_id', value: 'p1' })
  const plan = buildPlan()
  const mapped = createRowMapper(plan, ['text_data', 'user_id'], 'r1')(1, ['t', 'u'])
  expect(mapped.uniqueKey).toBeNull()
})

test('every row reports its own missing fields, and the plan warns if nothing else gives a user_id', () => {
  const plan = buildPlan({ mapping: REQUEST })
  const mapping = resolveMapping(plan, ['request'])
  expect(
    findPlanWarnings(plan, mapping, ['request']).map(
      (warning) => `${warning.field} ${sayExpected(warning, 'terminal')}`,
    ),
  ).toContain('user_id is required but not mapped; only rows that are JSON requests can contain it')
  expect(mapOne(['request'], ['{"text_data":"t"}']).found).toEqual(['row 5, user_id: is required but empty'])
})

test('a column named request is a whole request only in a folder, unless the plan maps it', () => {
  expect(resolveMapping(buildPlan(), ['request', 'text_data', 'user_id'])).not.toHaveProperty('request')
  expect(resolveMapping(buildPlan(), FOLDER_COLUMNS)).toMatchObject({
    request: { kind: 'column', column: 'request' },
    text_data: { kind: 'column', column: 'text_data' },
  })
})

test('terms and index items may be whole requests too', () => {
  const term = mapOne(['request'], ['{"term":"X","notes":null}'], {
    operation: { kind: 'watchlist-update', watchlist: 'w' },
  })
  expect(term).toMatchObject({ body: { term: 'X', notes: null }, uniqueKey: { value: 'x' }, found: [] })
  const list = mapOne(['request'], ['{"watchlist":"w","terms":[]}'], {
    operation: { kind: 'watchlist-add', watchlist: 'w' },
  })
  expect(list.found).toContain('row 5, term: is required but empty')
  const item = mapOne(['request'], ['{"media":"https://a.example/1.png","metadata":{"a":[1]}}'], {
    operation: { kind: 'index-add', indexId: 'i' },
  })
  expect(item).toMatchObject({ body: { metadata: { a: [1] } }, found: [] })
})
