import { expect, test } from 'vitest'
import { findPlanWarnings } from '../../../../src/main/engine/mapping/plan-warnings.ts'
import { createRowValidator } from '../../../../src/main/engine/mapping/validate-row.ts'
import { formatProblem } from '../../../../src/shared/messages/problem-messages.ts'
import { taskRequestSchema } from '../../../../src/shared/service/tasks.ts'
import { buildPlan } from './build-plan.ts'

const GOOD = { text_data: 't', user_id: 'u', post_id: 'p' }

function validate(body: Record<string, unknown>, parts: Parameters<typeof buildPlan>[0] = {}): string[] {
  return createRowValidator(buildPlan(parts))(17, body).map(
    (problem) => `${problem.severity}: ${formatProblem(problem)}`,
  )
}

test('a valid row has no problem', () => {
  expect(validate(GOOD)).toEqual([])
  expect(validate({ ...GOOD, text_data: undefined, url: 'https://a.example/b c?d' })).toEqual([])
})

test('all problems of a row are reported at once, in readable words', () => {
  const body = { user_id: 'a;b', post_id: 'a_b', group_id: 'a_b', user_metadata: [1] }
  expect(validate(body)).toEqual([
    'error: row 17: must have exactly one of text_data and url, found `neither`',
    'error: row 17, user_id: must not contain `_` or `;`, found `a;b`',
    'error: row 17, post_id: must not contain `_` or `;`, found `a_b`',
    'error: row 17, group_id: must differ from post_id, found `a_b`',
    'error: row 17, user_metadata: must be a JSON object, found `[1]`',
  ])
})

test.each([
  [
    'both pieces of content',
    { ...GOOD, url: 'http://a.example' },
    'error: row 17: must have exactly one of text_data and url, found `both`',
  ],
  ['no user_id', { text_data: 't', post_id: 'p' }, 'error: row 17, user_id: is required but empty'],
  [
    'group_id like parent_id',
    { ...GOOD, group_id: 'g', parent_id: 'g' },
    'error: row 17, group_id: must differ from parent_id, found `g`',
  ],
  [
    'two models in v1',
    { ...GOOD, models: ['text', 'ocr'] },
    'error: row 17, models: must name at most one model in v1, found `text, ocr`',
  ],
])('%s is an error', (_name, body, problem) => {
  expect(validate(body)).toEqual([problem])
  expect(validate({ ...body, content_variant: 'v' })).toEqual([problem])
})

test.each([
  'example.com',
  'ftp://a.example/x',
  ' http://a.example',
  'http://a.example\n',
  'http://',
  'javascript:x',
])('the url %j is invalid', (url) => {
  expect(validate({ user_id: 'u', post_id: 'p', url })).toEqual([
    expect.stringMatching(/^error: row 17, url: must be an http or https URL, found `/),
  ])
})

test('callback_url must be an address', () => {
  expect(validate({ ...GOOD, callback_url: 'http://a.example' }, { mode: 'async' })).toEqual([])
  expect(validate({ ...GOOD, callback_url: 'nowhere' }, { mode: 'async' })).toHaveLength(1)
  expect(validate({ ...GOOD, callback_url: 'nowhere' })).toHaveLength(1)
})

test('unknown models and models not listed for the mode are warnings of their rows', () => {
  const mapping = { models: { kind: 'column' as const, column: 'm' } }
  expect(validate({ ...GOOD, models: ['tex'] }, { mapping })).toEqual([
    'warning: row 17, models: is not a documented model (custom indexes need v2); it is sent anyway, found `tex`',
  ])
  expect(validate({ ...GOOD, models: ['celebrity'] }, { mapping })).toEqual([])
  expect(validate({ ...GOOD, models: ['celebrity'] }, { mapping, mode: 'async' })).toEqual([
    'warning: row 17, models: is not a model that is documented for async; it is sent anyway, found `celebrity`',
  ])
  expect(validate({ ...GOOD, models: ['my-index', 'text'] }, { mapping, api: 'v2' })).toEqual([])
})

test('a row without user_metadata gets a warning only if other rows have some', () => {
  const mapping = { 'user_metadata.age': { kind: 'column' as const, column: 'age' } }
  expect(validate(GOOD, { mapping })).toEqual([
    'warning: row 17, user_metadata: is recommended in every request, but is empty',
  ])
  expect(validate({ ...GOOD, user_metadata: {} }, { mapping })).toEqual([])
})

test('a problem of all rows is reported once for the plan', () => {
  const operation = { kind: 'task' as const, mode: 'async' as const, models: ['likeness'] }
  const plan = buildPlan({ operation })
  expect(
    findPlanWarnings(plan, plan.mapping, []).map(({ code, field, found }) => [code, field, found]),
  ).toEqual([
    ['recommended', 'user_metadata', undefined],
    ['model_not_listed', 'models', 'likeness'],
  ])
  expect(createRowValidator(plan)(1, { ...GOOD, models: ['likeness'] })).toEqual([])
})

test('a row that passes here passes the wire contract, and one that breaks it does not pass here', () => {
  const values: Record<string, unknown[]> = {
    text_data: [undefined, 't'],
    url: [undefined, 'https://a.example/i.png', 'nonsense'],
    user_id: [undefined, 'u', 'u_1'],
    post_id: ['p', 'p;1'],
    group_id: [undefined, 'p', 'g'],
    parent_id: [undefined, 'g', 'q'],
    user_metadata: [undefined, { a: 1 }],
    models: [undefined, ['text'], ['text', 'ocr']],
  }
  let bodies: Record<string, unknown>[] = [{}]
  for (const [field, options] of Object.entries(values)) {
    bodies = bodies.flatMap((body) =>
      options.map((value) => (value === undefined ? body : { ...body, [field]: value })),
    )
  }
  const check = createRowValidator(buildPlan())
  for (const body of bodies) {
    const passes = check(1, body).every(({ severity }) => severity === 'warning')
    expect(passes, JSON.stringify(body)).toBe(taskRequestSchema.safeParse(body).success)
  }
  expect(bodies).toHaveLength(1944)
})

test.each([
  ['https://x.test/a.jpg, https://y.test/b.jpg', true],
  ['https://x.test/a.jpg,https://y.test/b.jpg', true],
  ['https://x.test/a;https://x.test/b', true],
  ['https://x.test/a|https://x.test/b', true],
  ['https://res.test/fetch/w_400,https://origin.test/a.png', false],
  ['https://res.test/fetch/a|https://origin.test/a.png', false],
  ['https://res.test/fetch/f_auto;https://origin.test/a.png', false],
])('distinguishes several addresses from one that contains another: %s', (url, isSeveral) => {
  const problems = createRowValidator(buildPlan())(1, { user_id: 'u1', post_id: 'p1', url })
  expect(problems.map(({ code }) => code)).toEqual(isSeveral ? ['several_urls'] : [])
})

test('a placeholder for the row or the run says so if a column has that name', () => {
  const find = (template: string, columns: string[]) => {
    const mapping = { post_id: { kind: 'template', template } } as const
    return findPlanWarnings(buildPlan({ mapping }), mapping, columns).flatMap(({ field, ...cause }) =>
      cause.code === 'shadowed_column' ? [[field, cause.args.name]] : [],
    )
  }
  expect(find('z{{ row }}-{{run}}', ['id', 'row', 'run'])).toEqual([
    ['post_id', 'row'],
    ['post_id', 'run'],
  ])
  expect(find('{{row}}', ['id', 'Row'])).toEqual([])
  expect(find('{{column:row}}', ['row'])).toEqual([])
  expect(find('{{run}}-{{row}}', ['row'])).toEqual([])
})

test.each(['{"text":"hello"}', ' {"a":{"b":1}}\n', '[{"t":"x"},{"t":"y"}]', '["a"]'])(
  'a text that is JSON gets a warning: %s',
  (text) => {
    expect(validate({ ...GOOD, text_data: text })).toEqual([
      `warning: row 17, text_data: is JSON, which is sent as the text that it is, with its keys and quotes, found \`${text}\``,
    ])
    const mapping = { text_data: { kind: 'template', template: '{"q":"{{q}}"}' } } as const
    expect(validate({ ...GOOD, text_data: text }, { mapping })).toEqual([])
  },
)

test.each([
  '{}',
  '[]',
  '[1]',
  '{"a" "b"}',
  '{"text":"cut',
  '[link] {x}',
  '"quoted"',
  '17',
  '{"a":"b"} and more',
])('a text that only slightly looks like JSON gets no warning: %s', (text) =>
  expect(validate({ ...GOOD, text_data: text })).toEqual([]),
)

test.each(['group_id', 'callback_url', 'user_metadata', 'content_metadata'])(
  'bodies that a mapper makes are checked for %s if it fills that',
  (field) => {
    const names = ['text_data', 'user_id', 'post_id', field]
    const mapping = Object.fromEntries(names.map((name) => [name, { kind: 'column', column: name } as const]))
    const plan = buildPlan({ mapping })
    const body = { ...GOOD, [field]: field === 'group_id' ? 'p' : ['not what it takes'] }
    const found = createRowValidator(plan, 'mapped')(17, body)
    expect(found.map((problem) => problem.field)).toEqual([field])
    expect(found).toEqual(createRowValidator(plan)(17, body))
  },
)
