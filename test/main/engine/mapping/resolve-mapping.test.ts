import { expect, test } from 'vitest'
import { resolveMapping } from '../../../../src/main/engine/mapping/row-mapper.ts'
import { matchColumns } from '../../../../src/shared/mapping/match-columns.ts'
import { SluiceError } from '../../../../src/shared/messages/errors.ts'
import type { Plan } from '../../../../src/shared/plan/plan.ts'
import { buildPlan } from './build-plan.ts'

const TASK = buildPlan().operation

const column = (name: string | number) => ({ kind: 'column' as const, column: name })
const template = (text: string) => ({ kind: 'template' as const, template: text })

/** Message and hint of the `BAD_PLAN` error that resolving throws. */
function failResolving(plan: Plan, columns: string[]): string {
  try {
    resolveMapping(plan, columns)
  } catch (error) {
    if (error instanceof SluiceError && error.code === 'BAD_PLAN') return `${error.message} | ${error.hint}`
    throw error
  }
  throw new Error('resolving succeeded')
}

test('columns are matched by exact field names first, then without case, spaces and underscores', () => {
  const columns = ['Text Data', 'text_data', 'USER-ID', 'postId', 'user_metadata.age', 'other']
  expect(matchColumns(columns, TASK)).toEqual({
    text_data: column('text_data'),
    user_id: column('USER-ID'),
    post_id: column('postId'),
    'user_metadata.age': column('user_metadata.age'),
  })
  expect(matchColumns(['id', 'text', 'Column 2'], TASK)).toEqual({})
})

test('the plan takes precedence over names, post_id has a default, and resolving twice changes nothing', () => {
  const columns = ['text_data', 'user_id', 'message', 'url']
  const plan = buildPlan({ mapping: { text_data: column('message'), url: template('') } })
  const mapping = resolveMapping(plan, columns)
  expect(mapping).toEqual({
    text_data: column('message'),
    url: template(''),
    user_id: column('user_id'),
    post_id: template('{{run}}-{{row}}'),
  })
  expect(resolveMapping({ ...plan, mapping }, columns)).toEqual(mapping)
})

test('a column is found by its number, or by a name that consists of digits', () => {
  const mapping = { text_data: column(2), user_id: column('1') }
  expect(resolveMapping(buildPlan({ mapping }), ['a', 'b'])).toMatchObject(mapping)
  expect(resolveMapping(buildPlan({ mapping }), ['1', 'b'])).toMatchObject(mapping)
})

test('an unknown column is named with the existing columns and the likely one', () => {
  const plan = buildPlan({ mapping: { text_data: column('Mesage'), user_id: template('u') } })
  expect(failResolving(plan, ['id', 'Message'])).toBe(
    'text_data: column `Mesage` does not exist; the source has 2 columns: 1 `id`, 2 `Message` | ' +
      'Did you mean `Message`? --map text_data=Message',
  )
})

test('a number out of range is named with the existing columns', () => {
  const plan = buildPlan({ mapping: { text_data: column(3), user_id: template('u') } })
  expect(failResolving(plan, ['id', 'b'])).toContain(
    'column 3 does not exist; the source has 2 columns: 1 `id`, 2 `b`',
  )
})

test('a missing user_id is named with both ways to provide it', () => {
  const failure = failResolving(buildPlan(), ['text_data', 'author'])
  expect(failure).toContain('user_id is required but not mapped; the columns are 1 `text_data`, 2 `author`')
  expect(failure).toContain('--map user_id=COLUMN')
  expect(failure).toContain('--set user_id=VALUE')
})

test('a plan without content names text_data and url', () => {
  const failure = failResolving(buildPlan({ mapping: { user_id: template('u') } }), ['a'])
  expect(failure).toContain('text_data or url is required')
  expect(failure).toContain('--map text_data=COLUMN')
  expect(failure).toContain('--map url=COLUMN')
})

test('unknown fields and placeholders are named together, with the likely ones', () => {
  const failure = failResolving(
    buildPlan({ mapping: { txt_data: column(1), user_id: template('{{authr}}'), text_data: column(1) } }),
    ['author'],
  )
  expect(failure).toContain('the service has no field `txt_data`; its fields are text_data, url, user_id')
  expect(failure).toContain('Did you mean `text_data`?')
  expect(failure).toContain('user_id: `{{authr}}` is neither {{row}} nor {{run}} nor a column')
  expect(failure).toContain('Did you mean `{{author}}`?')
})

test('an empty constant does not fill a required field', () => {
  const mapping = { user_id: template(''), post_id: template('') }
  const failure = failResolving(buildPlan({ mapping }), ['text_data', 'user_id'])
  expect(failure).toContain('user_id is required')
  expect(failure).toContain('post_id is required')
})

test('two models of a plan are refused in v1 and accepted in v2', () => {
  const columns = ['url', 'user_id']
  const models = ['text', 'ocr']
  expect(failResolving(buildPlan({ operation: { kind: 'task', models } }), columns)).toContain(
    'v1 accepts only one model, found `text`, `ocr`',
  )
  expect(failResolving(buildPlan({ mapping: { models: template('text, ocr') } }), columns)).toContain(
    '--api v2',
  )
  expect(resolveMapping(buildPlan({ operation: { kind: 'task', api: 'v2', models } }), columns)).toBeTruthy()
})

test('hundreds of columns are not all listed', () => {
  const columns = Array.from({ length: 200 }, (_, index) => `c${index}`)
  expect(failResolving(buildPlan(), columns)).toContain('30 `c29` and 170 more')
})
