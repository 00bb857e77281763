import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { openSource } from '../../../../src/main/engine/source/open-source.ts'
import { findSourceChange, fingerprintSource } from '../../../../src/main/engine/source/source-fingerprint.ts'
import type { PlanSource } from '../../../../src/shared/plan/plan.ts'
import { createTemporaryFolder } from '../../../helpers/temporary-folder.ts'
import { failReadingAny } from './read-source.ts'
import { createWorkbook } from './workbook-files.ts'

/** Writes files into a folder of the running test; returns a function that gives a file's path. */
function writeFiles(files: Record<string, string | Uint8Array>): (name: string) => string {
  const folder = createTemporaryFolder()
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), content)
  }
  return (name) => join(folder, name)
}

/** Reads a source to its end: the cells of each row by column name, its position, and the warnings. */
async function readWhole(source: Omit<PlanSource, 'header'>) {
  const reader = await openSource({ header: true, ...source })
  const rows: { row: number; cells: Record<string, string> }[] = []
  const places: string[] = []
  try {
    for await (const batch of reader.batches()) {
      for (const { row, sheetRow, file } of batch.places ?? [])
        places.push(`${row} is ${sheetRow} of ${file}`)
      for (const { row, cells } of batch.rows) {
        const named = cells.map((cell, index) => [reader.columns[index] ?? '', cell] as const)
        rows.push({ row, cells: Object.fromEntries(named) })
      }
    }
    const warnings = (reader.findWarnings?.() ?? []).map(({ rows: count, among: _among, ...warning }) => ({
      code: warning.code,
      args: 'args' in warning ? warning.args : {},
      count,
    }))
    return { columns: reader.columns, rows, places, warnings, files: reader.files }
  } finally {
    reader.close()
  }
}

test('rows of several files follow each other, under columns of the same name, each file read in its own way', async () => {
  const pathOf = writeFiles({
    'a.csv': 'id,text\n1,one\n2,"two\nlines"\n3,three\n',
    'b.csv': Buffer.from('text;id\ngar\u00e7on;4\n', 'latin1'),
    'c.tsv': Buffer.from('\uFEFFid\ttext\n5\tfünf\n', 'utf16le'),
    'd.jsonl.gz': gzipSync('{"id":"6","text":"six","lang":"en"}\n'),
  })
  const more = ['b.csv', 'c.tsv', 'd.jsonl.gz'].map(pathOf)
  const source = await readWhole({ path: pathOf('a.csv'), more })
  expect(source.columns).toEqual(['id', 'text', 'lang'])
  expect(source.rows.map(({ row, cells }) => [row, cells['id'], cells['text'], cells['lang'] ?? ''])).toEqual(
    [
      [1, '1', 'one', ''],
      [2, '2', 'two\nlines', ''],
      [3, '3', 'three', ''],
      [4, '4', 'garçon', ''],
      [5, '5', 'fünf', ''],
      [6, '6', 'six', 'en'],
    ],
  )
  expect(source.places).toEqual([
    '1 is 2 of a.csv',
    '3 is 4 of a.csv',
    '4 is 2 of b.csv',
    '5 is 2 of c.tsv',
    '6 is 1 of d.jsonl.gz',
  ])
  expect(source.warnings).toEqual([
    // One word does not distinguish the encodings of Europe.
    { code: 'uncertain_encoding', args: expect.objectContaining({ encoding: 'windows-1252' }), count: 1 },
    { code: 'missing_columns', args: { columns: 'lang', files: 'a.csv, b.csv, c.tsv' }, count: 5 },
  ])
  expect(source.files?.map(({ name, format, delimiter }) => [name, format, delimiter])).toEqual([
    ['a.csv', 'csv', ','],
    ['b.csv', 'csv', ';'],
    ['c.tsv', 'tsv', '\t'],
    ['d.jsonl.gz', 'jsonl', ''],
  ])
})

test('column names that differ only in case or invisible characters are one column in several files', async () => {
  const pathOf = writeFiles({
    'a.csv': 'user_id,text_data\nu1,jan\n',
    'b.csv': '\uFEFFText_Data ;User_ID\nfeb;u2\n',
    'c.jsonl': '{"TEXT_DATA":"mar","user_id":"u3"}\n',
  })
  const more = ['b.csv', 'c.jsonl'].map(pathOf)
  const { columns, rows, warnings } = await readWhole({ path: pathOf('a.csv'), more })
  expect(columns).toEqual(['user_id', 'text_data'])
  expect(rows.map(({ cells }) => cells)).toEqual([
    { user_id: 'u1', text_data: 'jan' },
    { user_id: 'u2', text_data: 'feb' },
    { user_id: 'u3', text_data: 'mar' },
  ])
  expect(warnings).toEqual([])
})

test.each([
  ['the second', ['id,text\n1,a\n', 'ID,Text,text\n2,b,c\n'], ['id', 'text', 'Text']],
  ['the first', ['id,text,Text\n1,a,b\n', 'ID,TEXT\n2,c\n'], ['id', 'text', 'Text', 'TEXT']],
])('names that differ in case within one file stay separate: %s', async (_, [first, second], names) => {
  const pathOf = writeFiles({ 'a.csv': first ?? '', 'b.csv': second ?? '' })
  const { columns, rows } = await readWhole({ path: pathOf('a.csv'), more: [pathOf('b.csv')] })
  expect(columns).toEqual(names)
  expect(rows.map(({ cells }) => Object.values(cells).filter((cell) => cell !== ''))).toEqual(
    [first, second]
      .map((csv) => csv?.split('\n')[1]?.split(','))
      .map((cells) => expect.arrayContaining(cells ?? [])),
  )
})

test('a file with the rows of another is refused like one that is named twice, in whatever format', async () => {
  const cells = (...texts: string[]) =>
    `<row>${texts.map((text) => `<c t="inlineStr"><is><t>${text}</t></is></c>`).join('')}</row>`
  const pathOf = writeFiles({
    'a.csv': 'id,text\n1,é\n2,\n',
    'a (1).csv': 'id,text\n1,é\n2,\n',
    'lines.csv': 'id,text\r\n1,é\r\n2,\r\n',
    'mark.csv': '\uFEFFid,text\n1,é\n2,\n',
    'other way.tsv': Buffer.from('\uFEFFText\tid\n"é"\t1\n\t2\n', 'utf16le'),
    'packed.csv.gz': gzipSync('id,text\n1,é\n2,\n'),
    'book.xlsx': await createWorkbook({
      sheets: [{ name: 'A', rows: `${cells('id', 'text')}${cells('1', 'é')}${cells('2')}` }],
    }),
    'lines.jsonl': '{"id":1,"text":"é"}\n{"id":2}\n',
    'longer.csv': 'id,text\n1,é\n2,\n3,\n',
  })
  const copies = ['a (1).csv', 'lines.csv', 'mark.csv', 'other way.tsv', 'packed.csv.gz', 'book.xlsx']
  for (const copy of [...copies, 'lines.jsonl']) {
    const said = await failReadingAny(pathOf('a.csv'), { more: [pathOf('longer.csv'), pathOf(copy)] })
    expect(said, copy).toContain(`source ${pathOf(copy)}: `)
    expect(said).toContain('the file has the same rows as a.csv, which would be sent twice')
  }
  const others = await readWhole({ path: pathOf('a.csv'), more: [pathOf('longer.csv')] })
  expect(others.rows).toHaveLength(5)
})

test('a folder of tables is one source, without the files that programs leave there, which are counted', async () => {
  const sheet = (text: string) => ({
    name: 'Posts',
    rows: ['id', text]
      .map((cell, index) => `<row r="${index + 1}"><c t="inlineStr"><is><t>${cell}</t></is></c></row>`)
      .join(''),
  })
  const pathOf = writeFiles({
    'week/b.xlsx': await createWorkbook({ sheets: [sheet('2')] }),
    'week/a.csv': 'id\n1\n',
    'week/more/a.csv': 'id\n3\n',
    'week/z.json': '{"id":"4"}\n',
    'week/~$b.xlsx': 'lock',
    'week/._a.csv': 'fork',
    'week/.DS_Store': 'x',
    'week/Thumbs.db': 'x',
    'week/more/desktop.ini': 'x',
  })
  const source = await readWhole({ path: pathOf('week') })
  expect(source.rows.map(({ cells }) => cells['id'])).toEqual(['1', '2', '3', '4'])
  expect(source.files?.map(({ name }) => name)).toEqual(['a.csv', 'b.xlsx', 'more/a.csv', 'z.json'])
  expect(source.warnings).toEqual([
    {
      code: 'skipped_files',
      args: { files: 5, names: '.DS_Store, ._a.csv, Thumbs.db', more: 2 },
      count: 5,
    },
  ])
  const named = await readWhole({ path: pathOf('week/~$b.xlsx'), more: [pathOf('week/a.csv')] })
  expect(named.rows).toHaveLength(1)
  expect(named.warnings).toEqual([
    { code: 'skipped_files', args: { files: 1, names: '~$b.xlsx', more: 0 }, count: 1 },
  ])
})

test('a folder of posts stays one, with its JSON requests, and reports how many hidden files it skips', async () => {
  const pathOf = writeFiles({
    'posts/a.json': '{"text_data":"x"}',
    'posts/b.txt': 'y',
    'posts/.DS_Store': 'x',
    'requests/a.json': '{"text_data":"x"}',
  })
  const posts = await readWhole({ path: pathOf('posts') })
  expect(posts.rows.map(({ cells }) => cells['kind'])).toEqual(['request', 'text'])
  expect(posts.warnings).toEqual([
    { code: 'skipped_files', args: { files: 1, names: '.DS_Store', more: 0 }, count: 1 },
  ])
  expect((await readWhole({ path: pathOf('requests') })).rows[0]?.cells['kind']).toBe('request')
  const lines = await readWhole({ path: pathOf('requests'), format: 'jsonl' })
  expect(lines.rows[0]?.cells).toEqual({ text_data: 'x' })
})

test('a folder with tables and other files is refused, with how to read either', async () => {
  const pathOf = writeFiles({
    'both/a.csv': 'id\n1\n',
    'both/b.csv': 'id\n2\n',
    'both/README.txt': 'Read me',
  })
  const said = await failReadingAny(pathOf('both'))
  expect(said).toContain('found 2 tables and other files in one folder: README.txt')
  expect(said).toContain(`name them: ${pathOf('both/a.csv')} ${pathOf('both/b.csv')}.`)
  expect((await readWhole({ path: pathOf('both'), format: 'folder' })).rows).toHaveLength(3)
  const among = await failReadingAny(pathOf('both/a.csv'), { more: [pathOf('both')] })
  expect(among).toContain('README.txt')
})

test('a file without a column of the others is refused by name, and so is one that is named twice', async () => {
  const pathOf = writeFiles({ 'a.csv': 'id,text\n1,x\n', 'b.csv': 'Name,Mail\ny,z\n', 'c.csv': 'text\nz\n' })
  const stranger = await failReadingAny(pathOf('a.csv'), { more: [pathOf('c.csv'), pathOf('b.csv')] })
  expect(stranger).toContain(`source ${pathOf('b.csv')}: its columns (Name, Mail) have no name in common`)
  expect(await failReadingAny(pathOf('a.csv'), { more: [pathOf('a.csv')] })).toContain('named twice')
  const missing = await failReadingAny(pathOf('a.csv'), { more: [pathOf('gone.csv')] })
  expect(missing).toContain(`source ${pathOf('gone.csv')}: the file does not exist`)
})

test.skipIf(process.platform === 'win32')(
  'a link to a file that is named as well counts as that file',
  async () => {
    const pathOf = writeFiles({ 'a.csv': 'id\n1\n' })
    symlinkSync('a.csv', pathOf('b.csv'))
    expect(await failReadingAny(pathOf('a.csv'), { more: [pathOf('b.csv')] })).toContain('named twice')
  },
)

test('the fingerprint of several files changes with each of them, and with their order', async () => {
  const pathOf = writeFiles({ 'a.csv': 'id\n1\n', 'b.csv': 'id\n2\n' })
  const source = { path: pathOf('a.csv'), more: [pathOf('b.csv')], header: true }
  const before = await fingerprintSource(source)
  expect(before).toMatchObject({ files: 2, bytes: 10 })
  expect(await findSourceChange(source, before)).toMatchObject({ kind: 'same' })
  const swapped = { path: pathOf('b.csv'), more: [pathOf('a.csv')], header: true }
  expect(await findSourceChange(swapped, before)).toMatchObject({ kind: 'changed' })
  writeFileSync(pathOf('b.csv'), 'id\n3\n')
  expect(await findSourceChange(source, before)).toMatchObject({ kind: 'changed' })
})

test('surplus cells of a row are not a column that other files lack', async () => {
  const pathOf = writeFiles({ 'a.csv': 'id,text\n1,a\n', 'b.csv': 'id,text,\n2,b, c,d\n' })
  const { warnings } = await readWhole({ path: pathOf('a.csv'), more: [pathOf('b.csv')] })
  expect(warnings).toEqual([])
})
