import { expect, test } from 'vitest'
import { createRowMapper } from '../../../../src/main/engine/mapping/row-mapper.ts'
import { formatProblem } from '../../../../src/shared/messages/problem-messages.ts'
import type { Mapping, Plan } from '../../../../src/shared/plan/plan.ts'
import { readAnySource, writeSource } from '../source/read-source.ts'
import { createWorkbook } from '../source/workbook-files.ts'
import { buildPlan } from './build-plan.ts'

const toColumns = (columns: Record<string, string>): Mapping =>
  Object.fromEntries(Object.entries(columns).map(([field, column]) => [field, { kind: 'column', column }]))

/** The problems of the cells in a sheet's second row; the first row names the columns. */
async function check(cells: string, mapping: Mapping, parts: Parameters<typeof buildPlan>[0] = {}) {
  const rows = `<row>${['a', 'b', 'c', 'd'].map((name) => `<c t="inlineStr"><is><t>${name}</t></is></c>`).join('')}</row><row>${cells}</row>`
  const path = writeSource(await createWorkbook({ sheets: [{ name: 'S', rows }] }), 'book.xlsx')
  const source = await readAnySource(path)
  const map = createRowMapper(buildPlan({ ...parts, mapping }), source.columns, 'token')
  return source.rows.flatMap(({ row, cells: read, kinds = null }) =>
    map(row, read, kinds).problems.map((problem) => `${problem.severity} ${formatProblem(problem)}`),
  )
}

const CELLS =
  '<c t="inlineStr"><is><t>p1</t></is></c><c t="e"><f>X()</f><v>#NAME?</v></c><c t="e"><v>#N/A</v></c><c t="str"><v>#N/A</v></c>'

test('a spreadsheet error is neither an id nor an address, and is reported in content', async () => {
  expect(await check(CELLS, toColumns({ post_id: 'a', user_id: 'b', url: 'c' }))).toEqual([
    'error row 1, user_id: must not be an error of the spreadsheet, found `#NAME?`',
    'error row 1, url: must not be an error of the spreadsheet, found `#N/A`',
  ])
  expect(await check(CELLS, toColumns({ post_id: 'a', user_id: 'a', text_data: 'c' }))).toEqual([
    'warning row 1, text_data: is an error of the spreadsheet, which is sent as its text, found `#N/A`',
  ])
})

test('an error is found in cells of templates and metadata, but a text that looks like one is not', async () => {
  const mapping: Mapping = {
    ...toColumns({ user_id: 'a', text_data: 'd', 'user_metadata.b': 'b' }),
    post_id: { kind: 'template', template: '{{row}}-{{ c }}' },
  }
  expect(await check(CELLS, mapping)).toEqual([
    'warning row 1, user_metadata.b: is an error of the spreadsheet, which is sent as its text, found `#NAME?`',
    'error row 1, post_id: must not be an error of the spreadsheet, found `#N/A`',
  ])
})

test('cells that fill no field may be errors', async () => {
  expect(await check(CELLS, toColumns({ post_id: 'a', user_id: 'a', text_data: 'd' }))).toEqual([])
})

const EMPTY_AND_X =
  '<c r="A2" t="inlineStr"><is><t>x</t></is></c><c r="D2" t="inlineStr"><is><t> </t></is></c>'

test.each([
  [
    'user_id',
    'org-{{b}}',
    'user_id: looks like a missing value, not an id; all rows with it get the same id. Export the ids again as text, found `org-`',
  ],
  [
    'group_id',
    '{{run}}{{b}}{{d}}',
    'group_id: looks like a missing value, not an id; all rows with it get the same id. Export the ids again as text, found `{{run}}`',
  ],
  [
    'text_data',
    'Subject: {{ d }}',
    'text_data: has nothing to see but white space, invisible characters or the fixed text of a template; it is sent as it is, found `Subject: `',
  ],
  ['user_id', 'org-{{b}}{{a}}', null],
  ['group_id', '{{row}}-{{b}}', null],
])('a template whose columns are all empty in a row is reported: %s %s', async (field, template, told) => {
  const mapping: Mapping = {
    ...toColumns({ post_id: 'a', user_id: 'a', text_data: 'a' }),
    [field]: { kind: 'template', template },
  }
  expect(await check(EMPTY_AND_X, mapping)).toEqual(told === null ? [] : [`warning row 1, ${told}`])
})

test('a correction of the field removes its error', async () => {
  const fixes: Plan['fixes'] = [{ kind: 'cell', row: 1, field: 'user_id', value: 'u1' }]
  expect(await check(CELLS, toColumns({ post_id: 'a', user_id: 'b', text_data: 'd' }), { fixes })).toEqual([])
})

test.each([
  [32_766, []],
  [
    32_767,
    [
      'text_data: has exactly 32,767 characters, the most that a spreadsheet keeps in a cell; the rest was probably cut off',
    ],
  ],
  [32_768, []],
])(
  "a text with exactly a spreadsheet's maximum length was probably cut, in any source (%i)",
  (length, said) => {
    const text = '0123456789'.repeat(4000).slice(0, length)
    const mapping = toColumns({ post_id: 'id', user_id: 'id', text_data: 'text' })
    const map = createRowMapper(buildPlan({ mapping }), ['id', 'text', 'other'], 'token')
    const { problems } = map(3, ['p', text, 'x'.repeat(32_767)])
    expect(
      problems.map((problem) =>
        formatProblem(problem)
          .replace(/^row 3, /, '')
          .replace(/, found.*/, ''),
      ),
    ).toEqual(said)
    expect(problems.map(({ severity, found }) => [severity, found?.length])).toEqual(
      said.map(() => ['warning', 41]),
    )
  },
)
