import { describe, expect, test } from 'vitest'
import { createPostIdMapper, createRowMapper } from '../../../../src/main/engine/mapping/row-mapper.ts'
import { markHalf } from '../../../../src/main/engine/mapping/split-row.ts'
import { createRowValidator } from '../../../../src/main/engine/mapping/validate-row.ts'
import type { Fix } from '../../../../src/shared/plan/fixes.ts'
import type { PlanInput } from '../../../../src/shared/plan/plan.ts'
import { buildPlan, readBody } from './build-plan.ts'

const COLUMNS = ['text_data', 'user_id', 'post_id', 'parent_id', 'url', 'user_metadata', 'models']

/** Maps one row of the columns above with these fixes. */
function map(
  fixes: Fix[],
  cells: string[],
  { row = 1, ...parts }: Partial<PlanInput> & { row?: number } = {},
) {
  return createRowMapper(buildPlan({ fixes, ...parts }), COLUMNS, 'run')(row, cells)
}

describe('fixes of a cell', () => {
  test('give one row another text, and no other row', () => {
    const fixes: Fix[] = [{ kind: 'cell', row: 2, field: 'user_id', value: 'ann' }]
    expect(map(fixes, ['hi', 'a_b', 'p1'], { row: 1 })).toEqual({
      body: { text_data: 'hi', user_id: 'a_b', post_id: 'p1' },
      uniqueKey: { field: 'post_id', value: 'p1' },
      problems: [],
    })
    expect(map(fixes, ['hi', 'a_b', 'p2'], { row: 2 })).toEqual({
      body: { text_data: 'hi', user_id: 'ann', post_id: 'p2' },
      uniqueKey: { field: 'post_id', value: 'p2' },
      problems: [],
      corrections: [{ field: 'user_id', before: 'a_b', own: 'ann', sent: 'ann' }],
    })
  })

  test('omit the field if the text is empty', () => {
    const { body, corrections } = map(
      [{ kind: 'cell', row: 1, field: 'parent_id', value: '' }],
      ['hi', 'u', 'p', 'q'],
    )
    expect(body).toEqual({ text_data: 'hi', user_id: 'u', post_id: 'p' })
    expect(corrections).toEqual([{ field: 'parent_id', before: 'q', own: '', sent: '' }])
  })

  test('apply only while the source has the text that was corrected', () => {
    const fix: Fix = { kind: 'cell', row: 1, field: 'user_id', value: 'ann', was: 'a_b' }
    expect(map([fix], ['hi', 'a_b', 'p']).body).toMatchObject({ user_id: 'ann' })
    expect(map([fix], ['hi', 'bob', 'p'])).toMatchObject({ body: { user_id: 'bob' } })
    expect(map([fix], ['hi', 'bob', 'p']).corrections).toBeUndefined()
  })

  test('parse objects and models like the cell, and report their problems', () => {
    const cells = ['hi', 'u', 'p', '', '', '{bad', '']
    expect(map([], cells).problems).toMatchObject([{ code: 'not_json_object', field: 'user_metadata' }])
    const good = map(
      [
        { kind: 'cell', row: 1, field: 'user_metadata', value: '{"age": 7}', was: '{bad' },
        { kind: 'cell', row: 1, field: 'models', value: 'text' },
      ],
      cells,
    )
    expect(good.problems).toEqual([])
    expect(readBody(good.body)).toMatchObject({ user_metadata: { age: 7 }, models: ['text'] })
    const bad = map([{ kind: 'cell', row: 1, field: 'user_metadata', value: '[1]' }], cells)
    expect(bad.problems).toMatchObject([{ code: 'not_json_object', found: '[1]' }])
  })

  test('take precedence over a whole request', () => {
    const plan = buildPlan({
      mapping: { request: { kind: 'column', column: 'request' } },
      fixes: [{ kind: 'cell', row: 1, field: 'user_id', value: 'ann' }],
    })
    const { body } = createRowMapper(plan, ['request'], 'run')(1, ['{"text_data":"hi","user_id":"a_b"}'])
    expect(body).toMatchObject({ text_data: 'hi', user_id: 'ann' })
  })
})

describe('rules that set a value', () => {
  const rule: Fix = {
    kind: 'value',
    problem: 'required',
    field: 'user_id',
    value: 'anon-{{row}}-{{post_id}}',
  }

  test('change the rows that have the problem, and fill their placeholders', () => {
    expect(map([rule], ['hi', '', 'p'], { row: 9 })).toMatchObject({
      body: { user_id: 'anon-9-p' },
      corrections: [{ field: 'user_id', before: '', sent: 'anon-9-p' }],
    })
    expect(map([rule], ['hi', 'u', 'p']).corrections).toBeUndefined()
  })

  test('keep one of two contents', () => {
    const keepText: Fix = { kind: 'value', problem: 'one_of', field: 'url', value: '' }
    const both = map([keepText], ['hi', 'u', 'p', '', 'https://a.test/b.png'])
    expect(both.body).toEqual({ text_data: 'hi', user_id: 'u', post_id: 'p' })
    expect(map([keepText], ['', 'u', 'p', '', 'https://a.test/b.png']).body).toMatchObject({
      url: 'https://a.test/b.png',
    })
  })

  test('ignore problems that a fix of the cell has solved', () => {
    const cell: Fix = { kind: 'cell', row: 1, field: 'user_id', value: 'ann' }
    expect(map([rule, cell], ['hi', '', 'p']).body).toMatchObject({ user_id: 'ann' })
  })

  test('are refused if they name a column that the source lacks', () => {
    const unknown: Fix = { ...rule, value: '{{Benutzer}}' }
    expect(() => map([unknown], ['hi', '', 'p'])).toThrow(expect.objectContaining({ code: 'BAD_PLAN' }))
  })
})

describe('substitutes for ids', () => {
  const fixes: Fix[] = [
    { kind: 'substitute', field: 'user_id' },
    { kind: 'substitute', field: 'post_id' },
  ]

  test('replace the id in requests, while results keep the original', () => {
    const cells = ['hi', 'u_1', 'p;1', 'p_0']
    const { body, corrections, uniqueKey } = map(fixes, cells)
    expect(body).toMatchObject({ user_id: 'u~5F1', post_id: 'p~3B1', parent_id: 'p~5F0' })
    expect(uniqueKey).toEqual({ field: 'post_id', value: 'p~3B1' })
    expect(corrections).toContainEqual({ field: 'post_id', before: 'p;1', own: 'p;1', sent: 'p~3B1' })
    expect(createPostIdMapper(buildPlan({ fixes }), COLUMNS, 'run')(1, cells, null)).toBe('p;1')
  })

  test('of a corrected id keep the corrected one', () => {
    const edited: Fix[] = [...fixes, { kind: 'cell', row: 1, field: 'post_id', value: 'q_1' }]
    const cells = ['hi', 'u', 'p', '']
    expect(map(edited, cells).corrections).toContainEqual({
      field: 'post_id',
      before: 'p',
      own: 'q_1',
      sent: 'q~5F1',
    })
    expect(createPostIdMapper(buildPlan({ fixes: edited }), COLUMNS, 'run')(1, cells, null)).toBe('q_1')
  })
})

test('each half of a split record has one content, its own post_id and the group of both', () => {
  const plan = buildPlan({ fixes: [{ kind: 'split' }] })
  const mapRow = createRowMapper(plan, COLUMNS, 'run')
  const cells = ['hi', 'u', 'p', '', 'https://a.test/b.png']
  const text = mapRow(3, cells, markHalf(null, { content: 'text_data', of: 3 }))
  const url = mapRow(9, cells, markHalf(null, { content: 'url', of: 3 }))
  expect(text.body).toEqual({ text_data: 'hi', user_id: 'u', post_id: 'p', group_id: 'p-both' })
  expect(url.body).toEqual({
    url: 'https://a.test/b.png',
    user_id: 'u',
    post_id: 'p-url',
    group_id: 'p-both',
  })
  const validate = createRowValidator(plan)
  expect([...validate(3, text.body), ...validate(9, url.body)]).toEqual([])
  expect(createPostIdMapper(plan, COLUMNS, 'run')(9, cells, markHalf(null, { content: 'url', of: 3 }))).toBe(
    'p',
  )
})
