import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { firstOf, onlyInLongForm } from '../../helpers/long-form.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { runInProcess } from './run-in-process.ts'
import { writeSource } from './write-source.ts'

const latin1 = (text: string) => Buffer.from(text, 'latin1')
const FRENCH = 'où était le garçon à Noël, près de la forêt'

async function check(files: Record<string, string | Uint8Array>, ...args: string[]) {
  const workspace = createTemporaryFolder()
  const folder = join(workspace, 'in')
  mkdirSync(folder)
  for (const [name, content] of Object.entries(files)) writeSource(folder, name, content)
  const { stdout } = await runInProcess(
    ['task', folder, '--base-url', 'http://127.0.0.1:9', '--dry-run', '--json', ...args],
    { workspace, env: { SLUICE_API_KEY: 'k' } },
  )
  const document = JSON.parse(stdout)
  const messagesOf = (wanted: string) =>
    document.problems.flatMap(({ code, message }: { code: string; message: string }) =>
      code === wanted ? [message] : [],
    )
  return { ...document, messagesOf }
}

it('of several tables, names the one whose encoding is uncertain', async () => {
  const { messagesOf, to_accept: open } = await check({
    'a.csv': 'user_id,text_data\nu1,plain\n',
    'b.csv': latin1('user_id,text_data\nu2,caf\xe9\n'),
  })
  expect(messagesOf('uncertain_encoding')).toEqual([
    expect.stringMatching(/^b\.csv: is read as windows-1252/),
  ])
  expect(open[0].message).toMatch(/^b\.csv: /)
})

it('of several posts, names the one whose encoding is uncertain, and says how all were read', async () => {
  onlyInLongForm()
  const { messagesOf, source_read: read } = await check(
    { 'a.txt': 'plain', 'b.txt': latin1('caf\xe9'), 'c.txt': 'ünder' },
    ...['--set', 'user_id=u1'],
  )
  expect(messagesOf('uncertain_encoding')).toEqual([
    expect.stringMatching(/^b\.txt: is read as windows-1252/),
  ])
  expect(read.read_as[0].encodings).toEqual([
    { name: 'utf-8', by: 'strict', files: 2, first: 'a.txt' },
    { name: 'windows-1252', by: 'guess', files: 1, first: 'b.txt' },
  ])
})

it('counts posts with and without a byte-order mark as one encoding', async () => {
  const folder = createTemporaryFolder()
  const posts = join(folder, 'in')
  mkdirSync(posts)
  const contents = { 'a.txt': 'plain', 'b.txt': '\ufeffmarked', 'c.txt': latin1('caf\xe9'), 'd.txt': 'ünder' }
  for (const [name, content] of Object.entries(contents)) writeSource(posts, name, content)
  const { stdout } = await runInProcess(
    ['task', posts, '--base-url', 'http://127.0.0.1:9', '--dry-run', '--set', 'user_id=u1'],
    { workspace: folder, env: { SLUICE_API_KEY: 'k' } },
  )
  expect(stdout.replaceAll(/\s+/g, ' ')).toContain('UTF-8 (3 files), windows-1252 (c.txt) (guessed')
})

it.each(
  firstOf(1, [
    ['tables', '.csv', (text: string) => `user_id,text_data\nu1,"${text}"\n`],
    ['posts', '.txt', (text: string) => text],
  ]),
)('of several %s, names those that the stated encoding does not fit', async (_, ending, toContent) => {
  const { messagesOf } = await check(
    {
      [`a${ending}`]: latin1(toContent(FRENCH)),
      [`b${ending}`]: toContent(FRENCH.toUpperCase()),
      [`c${ending}`]: `\ufeff${toContent('plain')}`,
      [`d${ending}`]: toContent('plain again'),
    },
    ...['--encoding', 'windows-1252', '--set', 'user_id=u1'],
  )
  expect(messagesOf('stated_encoding')).toEqual([
    expect.stringMatching(new RegExp(`^b\\${ending}: is read as windows-1252 as stated, but .*utf-8`)),
    expect.stringMatching(new RegExp(`^c\\${ending}: is read as windows-1252 as stated, but .*utf-8`)),
  ])
})

it('names the files with warnings about a whole table, those with the same warning together', async () => {
  onlyInLongForm()
  const { problems } = await check({
    'a.csv': 'user_id,text_data\nu1,x\n',
    'b.csv': `user_id,text_data\nu2,'it''s, fine'\nu3,'x, y'\n`,
    'c.csv': 'user_id,text_data\nu1,z\n\0\0',
  })
  const messages = problems.map(({ message }: { message: string }) => message)
  expect(messages).toContainEqual(expect.stringMatching(/^c\.csv: ends with 2 NUL/))
  expect(messages).toContainEqual(expect.stringMatching(/^b\.csv: cells are read as quoted with '/))
})

it.each(
  firstOf(1, [
    ['one character', 'user_id,text_data\nu1,caf\xe9\nu2,ok\n'],
    ['two characters', 'user_id,text_data\nu1,漢字 text\nu2,€ 5\nu3,ok\n'],
    ['a character far behind the beginning', `user_id,text_data\n${'u1,plain\n'.repeat(10_000)}u2,caf\xe9\n`],
  ]),
)('asks before a file in UTF-8 with %s is read as another encoding', async (_, text) => {
  const { to_accept: open, rows } = await check({ 'a.csv': text }, '--encoding', 'windows-1252')
  expect(open).toMatchObject([{ accept: 'encoding_uncertain', code: 'stated_encoding', rows: rows.sendable }])
  expect((await check({ 'a.csv': text }, '--encoding', 'utf-8')).to_accept).toEqual([])
})

it('asks about each of several files that one stated encoding garbles, and counts their rows', async () => {
  onlyInLongForm()
  const { to_accept: open } = await check(
    {
      'a.csv': latin1('user_id,text_data\nu1,\xe9t\xe9\n'),
      'b.csv': 'user_id,text_data\nu2,€ 5\nu3,ok\n',
      'c.csv': 'user_id,text_data\nu4,plain\n',
    },
    ...['--encoding', 'windows-1252'],
  )
  expect(open).toMatchObject([
    { code: 'stated_encoding', rows: 2, message: expect.stringMatching(/^b\.csv: is read as windows-1252/) },
  ])
})

it.each(['windows-1252', 'latin1'])(
  'does not ask about a file that is not UTF-8 if %s is stated',
  async (encoding) => {
    onlyInLongForm()
    const file = latin1('user_id,text_data\nu1,caf\xe9 cr\xe8me\n')
    expect((await check({ 'a.csv': file }, '--encoding', encoding)).to_accept).toEqual([])
  },
)

it.each(firstOf(1, ['ascii', 'US-ASCII']))(
  'says that a file with other characters is not %s, as was stated',
  async (name) => {
    const { to_accept: open, messagesOf } = await check(
      { 'a.csv': latin1('user_id,text_data\nu1,caf\xe9\n') },
      ...['--encoding', name],
    )
    expect(open).toMatchObject([{ accept: 'encoding_uncertain', rows: 1 }])
    expect(messagesOf('stated_encoding')).toEqual([
      expect.stringMatching(
        `^is read as windows-1252, because it has characters that the stated ${name} lacks`,
      ),
    ])
    const plain = await check({ 'a.csv': 'user_id,text_data\nu1,plain\n' }, '--encoding', name)
    expect(plain.to_accept).toEqual([])
    const utf8 = await check({ 'a.csv': 'user_id,text_data\nu1,caf\xe9\n' }, '--encoding', name)
    expect(utf8.messagesOf('stated_encoding')).toEqual([expect.stringMatching(/stated .* lacks.*in utf-8/)])
  },
)
