import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { firstOf, onlyInLongForm } from '../../helpers/long-form.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { createWorkbook } from '../engine/source/workbook-files.ts'
import { runInProcess } from './run-in-process.ts'
import { writeSource } from './write-source.ts'

async function check(paths: readonly string[], ...args: string[]) {
  const { stdout } = await runInProcess(
    ['task', ...paths, '--base-url', 'http://127.0.0.1:9', '--dry-run', '--json', ...args],
    { workspace: createTemporaryFolder(), env: { SLUICE_API_KEY: 'k' } },
  )
  const { to_accept: open, problems } = JSON.parse(stdout)
  return { open, problems }
}

const writeCsv = (text: string, name = 'a.csv') => writeSource(createTemporaryFolder(), name, text)

type Cells = Record<string, string>

async function writeSheet(rows: readonly Cells[], { after = '', name = 'book.xlsx' } = {}): Promise<string> {
  const toCell = ([column, text]: [string, string], row: number) =>
    `<c r="${column}${row}" t="inlineStr"><is><t>${text}</t></is></c>`
  const xml = rows.map((cells, index) => {
    const written = Object.entries(cells).map((cell) => toCell(cell, index + 1))
    return `<row r="${index + 1}">${written.join('')}</row>`
  })
  const path = join(createTemporaryFolder(), name)
  writeFileSync(path, await createWorkbook({ sheets: [{ name: 'S', rows: xml.join(''), after }] }))
  return path
}

const HEADER = { A: 'user_id', B: 'text_data' }
const many = (count: number) => Array.from({ length: count }, (_, at) => ({ A: `u${at}`, B: `text ${at}` }))

/** The question that text in a column without a name leaves. */
const asked = (rows: number, message: RegExp | string) => ({
  accept: 'content_cut',
  code: 'content_not_sent',
  rows,
  message: expect.stringMatching(message),
})

it.each(
  firstOf(1, [
    ['behind the named ones', [HEADER, { A: 'u1', B: 'a', C: 'overflow' }, { A: 'u2', B: 'b' }], 3, 1],
    [
      'in front of them',
      [
        { B: 'user_id', C: 'text_data' },
        { A: '🔪', B: 'u1', C: 'a' },
      ],
      1,
      1,
    ],
    [
      'between them',
      [
        { A: 'user_id', C: 'text_data' },
        { A: 'u1', B: 'gap text', C: 'a' },
      ],
      2,
      1,
    ],
    [
      'called by a blank',
      [
        { ...HEADER, C: ' ' },
        { A: 'u1', B: 'a', C: 'more' },
      ],
      3,
      1,
    ],
    [
      'called by pandas',
      [
        { ...HEADER, C: 'Unnamed: 2' },
        { A: 'u1', B: 'a', C: 'more' },
      ],
      3,
      1,
    ],
  ]),
)('asks before text is lost in a column of a workbook %s', async (_, rows, column, count) => {
  const path = await writeSheet(rows)
  expect((await check([path])).open).toMatchObject([asked(count, new RegExp(`^column ${column},.*no name`))])
  // What is stated of one column says nothing of another.
  expect((await check([path], '--map', 'text_data=text_data')).open).toHaveLength(1)
  expect((await check([path], '--map', `group_id=${column}`)).open).toEqual([])
})

it('asks about a column that only a late row of a workbook has', async () => {
  onlyInLongForm()
  const path = await writeSheet([HEADER, ...many(600), { A: 'v', B: 'b', D: 'overflow' }])
  expect((await check([path])).open).toMatchObject([asked(1, /^column 4,/)])
})

it('asks the same of a workbook that is one of several files', async () => {
  onlyInLongForm()
  const table = writeCsv('user_id,text_data\nu0,first\n')
  const path = await writeSheet([HEADER, { A: 'u1', B: 'a', C: 'overflow' }])
  expect((await check([table, path])).open).toMatchObject([asked(1, /^column 3,/)])
  expect((await check([path, table])).open).toMatchObject([asked(1, /^column 3,/)])
})

it.each(
  firstOf(1, [
    ['user_id,text_data,,n\nu1,part one,part two,1\nu2,x,,2\n', 3],
    ['user_id,,text_data\nu1,gap text,a\n', 2],
    [',user_id,text_data\nspam,u1,a\n', 1],
  ]),
)('asks before text is lost in a column without a name in front of named ones: %j', async (csv, column) => {
  expect((await check([writeCsv(csv)])).open).toMatchObject([asked(1, new RegExp(`^column ${column},`))])
  expect((await check([writeCsv(csv)], '--map', `group_id=${column}`)).open).toEqual([])
})

it('asks once about text behind all names of a CSV file, and not at all if it is joined', async () => {
  const path = writeCsv('user_id,text_data,\nu1,one, and more\n')
  expect((await check([path])).open).toMatchObject([{ code: 'surplus_cells', rows: 1 }])
  const plan = join(createTemporaryFolder(), 'plan.json')
  await check([path], '--save-plan', plan)
  const fixes = [{ kind: 'join_cells', from: 2, with: ',' }]
  writeFileSync(plan, JSON.stringify({ ...JSON.parse(readFileSync(plan, 'utf8')), fixes }))
  const { stdout } = await runInProcess(['plan', plan, '--dry-run', '--trust-plan', '--json'], {
    workspace: createTemporaryFolder(),
    env: { SLUICE_API_KEY: 'k' },
  })
  expect(JSON.parse(stdout)).toMatchObject({
    to_accept: [],
    first_request: { body: { text_data: 'one, and more' } },
  })
})

it('asks about text behind the names of a CSV file in a column next to one that is mapped', async () => {
  onlyInLongForm()
  const path = writeCsv('user_id,text_data,,\nu1,one,two,three\n')
  const { open } = await check([path], '--map', 'text_data=3')
  expect(open).toMatchObject([asked(1, /^column 4,/)])
})

it.each(
  firstOf(2, [
    ['row numbers of pandas', ',user_id,text_data\n0,u1,a\n1,u2,b\n'],
    ['row numbers that pandas named', 'Unnamed: 0,user_id,text_data\n0,u1,a\n1,u2,b\n'],
    ['numbers', 'user_id,,text_data\nu1,1.5e+06,a\nu2,-7 %,b\n'],
    ['times', 'user_id,,text_data\nu1,2026-01-02T03:04:05.678Z,a\n'],
    ['blanks', 'user_id,,text_data\nu1,  ,a\n'],
    ['copies of what is sent', 'user_id,,text_data\nu1,a,a\n'],
  ]),
)('asks nothing about a column without a name that has only %s', async (_, csv) => {
  expect((await check([writeCsv(csv)])).open).toEqual([])
})

it('asks nothing about columns of a file whose header is stated to be none', async () => {
  onlyInLongForm()
  const path = writeCsv('u1,hello,there\nu2,how,are you\n')
  const { open } = await check([path], '--no-header', '--map', 'user_id=1', '--map', 'text_data=2')
  expect(open).toEqual([])
})

it.each(firstOf(1, ['text_data', 'note']))(
  'asks about text below a merged heading by its name, here %s',
  async (name) => {
    const other = name === 'text_data' ? {} : { D: 'text_data' }
    const path = await writeSheet(
      [
        { A: 'user_id', B: name, ...other },
        { A: 'u1', B: 'a', C: 'b', D: 'b2' },
      ],
      { after: '<mergeCells><mergeCell ref="B1:C1"/></mergeCells>' },
    )
    const { open } = await check([path])
    expect(open[0]).toMatchObject(asked(1, new RegExp(`^column 3,.*merged heading \`${name}\``)))
  },
)

it('counts text without a name only in rows that can be sent', async () => {
  onlyInLongForm()
  const path = await writeSheet([HEADER, { B: 'a', C: 'overflow' }, { A: 'u2', B: 'b' }])
  expect((await check([path])).open).toEqual([])
})

it('asks about such text in an export as JSON lines, too', async () => {
  const workspace = createTemporaryFolder()
  const file = join(workspace, 'part.jsonl')
  const source = writeCsv('user_id,text_data,\nu1,hello,world\nu2,fine,\n')
  await runInProcess(['sample', source, file, '--size', '2'], { workspace })
  expect((await check([file])).open).toMatchObject([
    asked(1, "^column `cells.Column 3`.*'text_data=cells.Column 3'"),
  ])
})
