import { mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { firstOf, onlyInLongForm } from '../../helpers/long-form.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { runInProcess } from './run-in-process.ts'
import { writeSource } from './write-source.ts'

const TABLE = (id: string) => `user_id,text_data\n${id},hello\n`

/** Splits what a shell would take from a command into words; quotes are single ones alone. */
const toWords = (text: string) =>
  [...text.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '')

async function tryFolder(files: Record<string, string>, folderName = 'week') {
  const workspace = createTemporaryFolder()
  const folder = join(workspace, folderName)
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeSource(folder, name, content)
  }
  const check = async (...sources: string[]) => {
    const args = ['task', ...sources, '--base-url', 'http://127.0.0.1:9', '--dry-run', '--json']
    return JSON.parse((await runInProcess(args, { workspace, env: { SLUICE_API_KEY: 'k' } })).stdout)
  }
  const { error } = await check(folder)
  const [, named = ''] = /name them: (.*?)\. /.exec(`${error.hint} `) ?? []
  return { hint: String(error.hint), message: String(error.message), follow: () => check(...toWords(named)) }
}

it.each(
  firstOf(1, [
    [
      'tables of one kind and a note',
      { 'a.csv': TABLE('u1'), 'b.csv': TABLE('u2'), 'note.txt': 'read me' },
      'week',
    ],
    [
      'tables of several kinds in several folders',
      { 'a.csv': TABLE('u1'), 'in/b.tsv': 'user_id\ttext_data\nu2\thello\n', 'in/note.md': 'x' },
      'week',
    ],
    [
      'a table in a folder with a space',
      { 'a.csv': TABLE('u1'), 'b.CSV': TABLE('u2'), 'note.txt': 'x' },
      'last week',
    ],
    [
      'many tables',
      {
        ...Object.fromEntries(Array.from({ length: 6 }, (_, at) => [`in/${at}.csv`, TABLE(`u${at}`)])),
        'note.txt': 'x',
      },
      'week',
    ],
  ]),
)('names the tables of a folder with %s, so that the advice can be followed', async (_, files, name) => {
  const { hint, follow } = await tryFolder(files, name)
  expect(hint).not.toContain('--format folder')
  const tables = Object.keys(files).length - 1
  expect((await follow()).rows).toMatchObject({ read: tables, sendable: tables })
})

it('offers to send files as posts if most of them are, and says what happens to the table', async () => {
  const { hint } = await tryFolder({
    'index.csv': TABLE('u1'),
    'a.png': 'x',
    'b.jpg': 'x',
    'c.txt': 'some text',
  })
  expect(hint).toContain(
    'To send the other 3 files as posts, add --format folder; the table is then an invalid row',
  )
})

it('does not offer to send posts if none of the other files can be one', async () => {
  onlyInLongForm()
  const { hint } = await tryFolder({ 'a.csv': TABLE('u1'), 'a.bin': 'x', 'b.exe': 'x', 'c.log': 'x' })
  expect(hint).not.toContain('--format folder')
})

it('advises moving the other files if no pattern can name many tables', async () => {
  onlyInLongForm()
  const tables = Object.fromEntries(Array.from({ length: 6 }, (_, at) => [`${at}.csv`, TABLE(`u${at}`)]))
  const { hint } = await tryFolder({ ...tables, 'note.txt': 'x' }, 'week[1]')
  expect(hint).toBe('To send the rows of the tables, move the other files to a separate folder.')
})
