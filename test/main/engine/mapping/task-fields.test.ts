import { expect, test } from 'vitest'
import { findPlanWarnings } from '../../../../src/main/engine/mapping/plan-warnings.ts'
import { createRowMapper, resolveMapping } from '../../../../src/main/engine/mapping/row-mapper.ts'
import { UnlistedFields } from '../../../../src/main/engine/mapping/unlisted-fields.ts'
import { createRowValidator } from '../../../../src/main/engine/mapping/validate-row.ts'
import { MODELS } from '../../../../src/shared/service/models.ts'
import { TASK_FIELDS, taskRequestSchema, v2TaskRequestSchema } from '../../../../src/shared/service/tasks.ts'
import { buildPlan, readBody } from './build-plan.ts'

const VALUES: Record<string, { cell: string; wire?: unknown }> = {
  text_data: { cell: 'a text' },
  url: { cell: 'https://a.example/video.mp4' },
  user_id: { cell: 'user 1' },
  post_id: { cell: 'post/1' },
  group_id: { cell: 'series-1' },
  conversation_id: { cell: 'chat-1' },
  parent_id: { cell: 'post/0' },
  content_metadata: { cell: '{"page":3}', wire: { page: 3 } },
  content_variant: { cell: 'live_chat' },
  user_metadata: { cell: '{"age":40}', wire: { age: 40 } },
  models: { cell: 'visual', wire: ['visual'] },
  callback_url: { cell: 'https://me.example/cb' },
}

/** The body of a row that fills these fields, and all of its problems. */
function mapFields(names: string[], parts: { mode?: 'sync' | 'async'; api?: 'v1' | 'v2' }) {
  const plan = buildPlan(parts)
  const resolved = { ...plan, mapping: resolveMapping(plan, names) }
  const { body, problems } = createRowMapper(
    resolved,
    names,
    'r1',
  )(
    1,
    names.map((name) => VALUES[name]?.cell ?? ''),
  )
  const wire = Object.fromEntries(names.map((name) => [name, VALUES[name]?.wire ?? VALUES[name]?.cell]))
  return { body: readBody(body), wire, found: [...problems, ...createRowValidator(resolved)(1, body)] }
}

test.each(['sync', 'async'] as const)('every field of a v1 task goes out %s under its own name', (mode) => {
  for (const content of ['text_data', 'url']) {
    const names = TASK_FIELDS.filter(
      (field) =>
        (field.mode === 'both' || field.mode === mode) &&
        (field.required !== 'content' || field.name === content),
    ).map(({ name }) => name)
    const { body, wire, found } = mapFields(names, { mode })
    expect(body).toEqual(wire)
    expect(found).toEqual([])
    expect(taskRequestSchema.safeParse(body).success).toBe(true)
  }
})

test('every field of a v2 task goes out under its own name, without a warning', () => {
  const names = TASK_FIELDS.filter(({ v2 }) => v2).map(({ name }) => name)
  const { body, wire, found } = mapFields(names, { mode: 'async', api: 'v2' })
  expect(body).toEqual(wire)
  expect(found).toEqual([])
  expect(v2TaskRequestSchema.safeParse(body).success).toBe(true)
  const plan = buildPlan({ mode: 'async', api: 'v2' })
  expect(findPlanWarnings(plan, resolveMapping(plan, names), names)).toEqual([])
})

test('text_data goes out in v2 unchanged, with a warning', () => {
  const names = ['text_data', 'user_id', 'user_metadata']
  const { body, found } = mapFields(names, { api: 'v2' })
  expect({ body, found }).toMatchObject({ body: { text_data: 'a text' }, found: [] })
  const plan = buildPlan({ api: 'v2' })
  const unlisted = new UnlistedFields(plan, resolveMapping(plan, names), names)
  unlisted.note([], body)
  expect(unlisted.findWarnings()).toEqual([
    expect.objectContaining({ severity: 'warning', code: 'not_for_api', field: 'text_data' }),
  ])
})

test.each(MODELS)('the model $value is accepted if listed, and gets a warning if not', (model) => {
  const columns = ['url', 'user_id', 'user_metadata']
  for (const mode of ['sync', 'async'] as const) {
    for (const api of ['v1', 'v2'] as const) {
      const plan = buildPlan({ operation: { kind: 'task', mode, api, models: [model.value] } })
      const mapped = createRowMapper(plan, columns, 'r1')(1, ['https://a.example/1.png', 'u', '{}'])
      expect(mapped.body['models']).toEqual([model.value])
      const codes = findPlanWarnings(plan, resolveMapping(plan, columns), columns).map(({ code }) => code)
      expect(codes).toEqual(model[mode] ? [] : ['model_not_listed'])
    }
  }
})

test('a model of the plan that is not documented is reported for the rows that send it', () => {
  const columns = ['text_data', 'user_id', 'user_metadata', 'models']
  const plan = buildPlan({ operation: { kind: 'task', models: ['no-model'] } })
  const resolved = { ...plan, mapping: resolveMapping(plan, columns) }
  const validate = createRowValidator(resolved)
  const check = (models: string) => {
    const { body } = createRowMapper(resolved, columns, 'r1')(1, ['t', 'u1', '{}', models])
    return validate(1, body).map(({ code, found }) => [code, found])
  }
  expect(findPlanWarnings(plan, resolved.mapping, columns)).toEqual([])
  expect(check('text')).toEqual([])
  expect(check('')).toEqual([['unknown_model', 'no-model']])
})

test('models missing in the plan and the row are missing in the request', () => {
  expect(mapFields(['text_data', 'user_id'], {}).body).not.toHaveProperty('models')
})

test('the id of a custom index is a model in v2, also with others and without a warning, but not in v1', () => {
  const columns = ['url', 'user_id', 'user_metadata', 'models']
  const cells = ['https://a.example/1.png', 'u', '{}', '["visual","My index 7"]']
  const check = (api: 'v1' | 'v2', models: string) => {
    const plan = buildPlan({ api })
    const resolved = { ...plan, mapping: resolveMapping(plan, columns) }
    const { body } = createRowMapper(resolved, columns, 'r1')(1, [...cells.slice(0, 3), models])
    return { models: body['models'], found: createRowValidator(resolved)(1, body).map(({ code }) => code) }
  }
  expect(check('v2', cells[3] ?? '')).toEqual({ models: ['visual', 'My index 7'], found: [] })
  expect(check('v1', '["My index 7"]')).toEqual({ models: ['My index 7'], found: ['unknown_model'] })
  expect(check('v1', cells[3] ?? '').found).toContain('too_many_models')
})
