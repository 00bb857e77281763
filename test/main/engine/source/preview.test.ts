import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { previewSource } from '../../../../src/main/engine/source/preview.ts'
import { toExportColumns } from '../../../../src/shared/run/export-columns.ts'
import { createTemporaryFolder } from '../../../helpers/temporary-folder.ts'
import { writeSource } from './read-source.ts'

const OWN_COLUMNS = ['text', ...toExportColumns('task', {}).map(({ name }) => name)]

test('a preview contains the first rows and everything about how they were read', async () => {
  const path = writeSource(`id;text\n1;a\n2\n${'3;c\n'.repeat(1000)}`)
  const preview = await previewSource({ path, header: true }, 3)
  expect(preview).toEqual({
    columns: ['id', 'text'],
    rows: [
      { row: 1, place: { row: 2, line: null }, cells: ['1', 'a'] },
      { row: 2, place: { row: 3, line: null }, cells: ['2'] },
      { row: 3, place: { row: 4, line: null }, cells: ['3', 'c'] },
    ],
    encoding: 'utf-8',
    encodingBy: 'strict',
    delimiter: ';',
    delimiterBy: 'guess',
    quote: '"',
    quoteBy: 'default',
    escape: '',
    escapeBy: 'default',
    header: true,
    format: 'csv',
    readAs: [
      {
        format: 'csv',
        encoding: { name: 'utf-8', by: 'strict' },
        delimiter: { character: ';', by: 'guess' },
        quote: { character: '"', by: 'default' },
        escape: { character: '', by: 'default' },
        header_row: 1,
        empty: 0,
      },
    ],
    problems: [
      {
        row: 2,
        place: { row: 3, line: null },
        severity: 'warning',
        code: 'ragged_row',
        args: { cells: 2, than: 'header' },
        found: '1 cell',
      },
    ],
    sizeBytes: 4014,
  })
})

test('the same file can be reread with other choices', async () => {
  const path = writeSource('id;text\n1;a\n')
  expect(await previewSource({ path, header: false, delimiter: ',' }, 10)).toMatchObject({
    columns: ['Column 1'],
    rows: [{ cells: ['id;text'] }, { cells: ['1;a'] }],
    delimiterBy: 'given',
    header: false,
  })
})

test.each([
  ['a value that comes again', 'ham,hello\nspam,buy\nham,bye\nham,ok\n'],
  ['an address above addresses', 'a,https://a.example/1.jpg\nb,https://a.example/2.jpg\n'],
  ['a moment above moments', 'a,2024-02-29\nb,2024-03-01T12:00:00Z\n'],
  ['a long text', `a,${'long '.repeat(30)}\nb,short\n`],
])('a header that looks like a row is reported: %s', async (_what, text) => {
  const path = writeSource(text)
  const doubt = { row: 1, severity: 'warning', code: 'header_like_data' }
  expect((await previewSource({ path, header: true }, 100)).problems).toMatchObject([doubt])
  expect((await previewSource({ path, header: false }, 100)).problems).toEqual([])
  expect((await previewSource({ path, header: true, headerRow: 1 }, 100)).problems).toEqual([])
})

test.each([
  ['names of columns', 'id,text\n1,id\n2,text\n'],
  ['a header that comes again', 'id,text\n1,a\nid,text\n2,b\nid,text\n'],
  ['numbers', '2023,2024\n1,2\n3,4\n'],
  ['an address above texts', 'https://example.com,b\nx,y\nz,w\n'],
  ['one row', 'a,b\na,c\n'],
])('an ordinary header is not doubted: %s', async (_what, text) => {
  const { problems } = await previewSource({ path: writeSource(text), header: true }, 100)
  expect(problems.map(({ code }) => code)).not.toContain('header_like_data')
})

test('a folder and JSON Lines have previews too, with their sizes', async () => {
  const lines = writeSource('{"a":"1"}\n{"b":"2"}\n', 'rows.jsonl')
  expect(await previewSource({ path: lines, header: true }, 1)).toMatchObject({
    columns: ['a', 'b'],
    rows: [{ row: 1, cells: ['1'] }],
    format: 'jsonl',
    encoding: 'utf-8',
    delimiter: '',
    sizeBytes: 20,
  })
  const folder = createTemporaryFolder()
  writeFileSync(join(folder, 'a.txt'), 'hello')
  expect(await previewSource({ path: folder, header: true }, 5)).toMatchObject({
    columns: ['path', 'kind', 'text_data', 'request', 'media'],
    rows: [{ row: 1, cells: ['a.txt', 'text', 'hello', '', ''] }],
    format: 'folder',
    problems: [],
    sizeBytes: 5,
  })
})

test.each([
  ['a whole export', OWN_COLUMNS, 'unguarded'],
  ['an export with further columns', [...OWN_COLUMNS, 'my note'], 'unguarded'],
  ['an export whose columns were changed', ['sluice_state', 'sluice_row', 'text'], 'as-is'],
  ['another table', ['text', 'sluice'], undefined],
] as const)('a preview says how formulas of %s are read', async (_, columns, expected) => {
  const path = writeSource(`${columns.join(',')}\n${columns.map(() => "'=1").join(',')}\n`)
  expect((await previewSource({ path, header: true }, 1)).ownExport).toBe(expected)
})
