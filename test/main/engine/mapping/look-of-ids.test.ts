import { describe, expect, test } from 'vitest'
import { createRowMapper, resolveMapping } from '../../../../src/main/engine/mapping/row-mapper.ts'
import { createRowValidator } from '../../../../src/main/engine/mapping/validate-row.ts'
import { formatProblem } from '../../../../src/shared/messages/problem-messages.ts'
import type { Fix } from '../../../../src/shared/plan/fixes.ts'
import { buildPlan, readBody } from './build-plan.ts'

function check(cells: Record<string, string>, parts: Parameters<typeof buildPlan>[0] = {}) {
  const columns = Object.keys(cells)
  const plan = buildPlan(parts)
  const resolved = { ...plan, mapping: resolveMapping(plan, columns) }
  const { body, problems } = createRowMapper(resolved, columns, 'r1')(3, Object.values(cells))
  const found = [...problems, ...createRowValidator(resolved)(3, body)].filter(
    ({ code }) => code !== 'recommended',
  )
  return { body: readBody(body), found: found.map(formatProblem) }
}

const TASK = { text_data: 't', user_id: 'u', post_id: 'p' }
const UNSEEN = 'has invisible characters, or white space at its ends, which are sent'

describe('an id that is not what it looks like', () => {
  test.each([
    ['\ufeffp2', '\\uFEFFp2', 'p2'],
    ['u1\u200b', 'u1\\u200B', 'u1'],
    ['a\u2060\u00adb', 'a\\u2060\\u00ADb', 'ab'],
    ['p4 ', 'p4\\u0020', 'p4'],
    ['  u1', '\\u0020\\u0020u1', 'u1'],
    ['\u00a0u1\u3000', '\\u00A0u1\\u3000', 'u1'],
    ['u1\t\r\n', 'u1\\u0009\\u000D\\u000A', 'u1'],
    ['\u0000u1\u0085', '\\u0000u1\\u0085', 'u1'],
    ['u1\u{e0041}', 'u1\\uDB40\\uDC41', 'u1'],
  ])('gets a warning, is shown escaped, and trimmed by a fix: %j', (id, shown, trimmed) => {
    for (const field of ['user_id', 'post_id', 'parent_id', 'group_id']) {
      const cells = { ...TASK, [field]: id }
      expect(check(cells)).toMatchObject({
        body: { [field]: id },
        found: [`row 3, ${field}: ${UNSEEN}, found \`${shown}\``],
      })
      const fixes = [{ kind: 'trim', field } as Fix]
      expect(check(cells, { fixes })).toMatchObject({ body: { [field]: trimmed }, found: [] })
    }
  })

  test.each(['u 1', 'a.b-c@d', 'ünïcode', '漢字', 'a\\u200b'])('does not include %j', (id) => {
    expect(check({ ...TASK, user_id: id, post_id: id }).found).toEqual([])
  })

  test('may be an item or an appeal, and content is left alone', () => {
    const fields = { found: [expect.stringContaining(UNSEEN)] }
    expect(
      check({ custom_index_item_id: 'i ' }, { operation: { kind: 'index-remove', indexId: 'i' } }),
    ).toMatchObject(fields)
    expect(check({ appeal_id: '\ufeffa' }, { operation: { kind: 'appeal-status' } })).toMatchObject(fields)
    expect(check({ ...TASK, text_data: ' t\u200b ' })).toMatchObject({
      body: { text_data: ' t\u200b ' },
      found: [],
    })
  })

  test('that is empty after trimming is missing', () => {
    const fixes: Fix[] = [{ kind: 'trim', field: 'user_id' }]
    expect(check({ ...TASK, user_id: ' \u200b ' }, { fixes }).found).toEqual([
      'row 3, user_id: is required but empty',
    ])
  })

  test('that is trimmed as post_id is trimmed in replies too', () => {
    const fixes: Fix[] = [{ kind: 'trim', field: 'post_id' }]
    expect(check({ ...TASK, post_id: 'a ', parent_id: 'b ' }, { fixes }).body).toMatchObject({
      post_id: 'a',
      parent_id: 'b',
    })
  })
})

describe('a term', () => {
  const operation = { kind: 'watchlist-add', watchlist: 'w' } as const
  test.each(['👩‍💻', '❤️', '1️⃣', 'می‌خواهم', 'two words'])('may be written with joiners: %s', (term) => {
    expect(check({ term }, { operation }).found).toEqual([])
    expect(check({ term }, { operation, fixes: [{ kind: 'trim', field: 'term' }] }).body).toEqual({ term })
  })

  test.each(['bad\u200b', 'b\u200dad', 'bad ', '\ufeffbad'])(
    'with invisible characters gets a warning: %j',
    (term) => {
      expect(check({ term }, { operation }).found).toEqual([expect.stringContaining(UNSEEN)])
      expect(check({ term }, { operation, fixes: [{ kind: 'trim', field: 'term' }] })).toEqual({
        body: { term: 'bad' },
        found: [],
      })
    },
  )
})

test.each([' ', '\u00a0\t\r\n', '\u200b\ufeff', '\u3164\u2800', '\u0000'])(
  'a text without visible characters gets a warning: %j',
  (text_data) => {
    expect(check({ ...TASK, text_data }).found).toEqual([
      expect.stringMatching(
        /^row 3, text_data: has nothing to see but white space, invisible characters or the fixed text of a template; it is sent as it is, found `\\u/,
      ),
    ])
  },
)

describe('an id that a spreadsheet or data frame changed', () => {
  test.each([
    ...['7.65612E+16', '1,23E+12', '7.65612e+16', '7.6e16', '1E+05', '76561200000000000'].map((id) => [
      id,
      'rounded',
    ]),
    ...['nan', 'NaN', 'None', 'null', 'NULL', '#N/A', '#REF!', '<NA>'].map((id) => [id, 'missing value']),
    ...['TRUE', 'FALSE'].map((id) => [id, 'truth value']),
  ])('gets a warning if it cannot be restored: %s looks like a %s', (id, as) => {
    expect(check({ ...TASK, user_id: id }).found).toEqual([
      expect.stringMatching(
        new RegExp(
          `^row 3, user_id: looks .*${as}.*, found \`${id.replace('+', '\\+').replace('?', '\\?')}\`$`,
        ),
      ),
    ])
  })

  test('is restored by a fix if only .0 was added', () => {
    expect(check({ ...TASK, user_id: '1001.0' }).found).toEqual([
      'row 3, user_id: is a whole number with .0 at its end; data frames add that to columns with gaps, found `1001.0`',
    ])
    const fixes: Fix[] = [{ kind: 'drop_fraction', field: 'user_id' }]
    expect(check({ ...TASK, user_id: '1001.0' }, { fixes })).toMatchObject({
      body: { user_id: '1001' },
      found: [],
    })
    expect(check({ ...TASK, user_id: '10.01' }, { fixes })).toMatchObject({
      body: { user_id: '10.01' },
      found: [],
    })
  })

  test.each([
    '12e3',
    '1e10',
    '5e3a',
    '76561198012345678',
    '1234567890123450',
    '1.2.0',
    'nanna',
    'Nullmann',
    '2024-01-05',
  ])('does not include %s', (id) => {
    expect(check({ ...TASK, user_id: id }).found).toEqual([])
  })

  test('does not include what a person wrote for all rows', () => {
    const mapping = { user_id: { kind: 'template', template: 'null' } } as const
    expect(check({ text_data: 't', post_id: 'p' }, { mapping }).found).toEqual([])
  })
})

test.each(['="001"', "'001", "'+4917", '="a b"'])(
  'an id in the signs that make it text in a spreadsheet gets a warning: %s',
  (id) => {
    expect(check({ ...TASK, user_id: id }).found).toEqual([
      expect.stringMatching(/^row 3, user_id: has signs around it that keep it a text in a spreadsheet/),
    ])
  },
)

test.each(["o'neil1", "'tis", '=1', "d'1"])(
  'an id with such a sign elsewhere, or followed by words, is left alone: %s',
  (id) => {
    expect(check({ ...TASK, user_id: id }).found).toEqual([])
  },
)

test.each([
  'https://x.test/a, https://x.test/b',
  'https://x.test/a;https://x.test/b',
  'https://x.test/a|http://x.test/b',
  'https://x.test/a https://x.test/b',
])('several addresses in a url get a warning: %s', (url) => {
  const { text_data: _, ...ids } = TASK
  expect(check({ ...ids, url }).found).toEqual([
    expect.stringMatching(/^row 3, url: has several addresses, which are sent as one, found /),
  ])
})

test.each([
  'https://x.test/a?u=https://y.test',
  'https://archive.test/2020/https://x.test/',
  'https://x.test/a,b;c|d',
])('an address that contains another, or such signs, is one address: %s', (url) => {
  const { text_data: _, ...ids } = TASK
  expect(check({ ...ids, url }).found).toEqual([])
})

test.each(['(blank)', '-', '?', '[deleted]', '########', '[object Object]', '-1.#IND', 'WAHR', 'VRAI'])(
  'an id that means none or a truth value in any language gets a warning: %s',
  (id) => {
    expect(check({ ...TASK, user_id: id }).found).toEqual([expect.stringMatching(/user_id: looks like a/)])
  },
)

test('a text that may be a whole post is not a missing text', () => {
  for (const text of ['-', '?', '.', 'unknown', 'WAHR']) {
    expect(check({ ...TASK, text_data: text }).found).toEqual([])
  }
})
