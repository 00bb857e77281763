import { expect, it } from 'vitest'
import { onlyInLongForm } from '../../helpers/long-form.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { runInProcess } from './run-in-process.ts'
import { writeSource } from './write-source.ts'

/** What a dry run asks about the first line of a word list. */
async function readAsked(content: string, args: readonly string[]): Promise<string> {
  const workspace = createTemporaryFolder()
  const source = writeSource(workspace, 'words.csv', content)
  const { stdout } = await runInProcess(
    [
      'watchlist',
      'add',
      source,
      '--watchlist',
      'w',
      '--base-url',
      'http://127.0.0.1:9',
      '--dry-run',
      '--json',
      ...args,
    ],
    { workspace, env: { SLUICE_API_KEY: 'k' } },
  )
  const { to_accept: asked } = JSON.parse(stdout) as { to_accept: { code: string; problem?: string }[] }
  return JSON.stringify(asked.filter(({ code }) => code === 'header_like_data'))
}

async function isAsked(content: string, args: readonly string[]): Promise<boolean> {
  return (await readAsked(content, args)) !== '[]'
}

const WORDS = 'first bad words\nsecond bad words\nthird bad words\n'

it('asks before it takes the first entry of a list without a header for its header', async () => {
  expect(await isAsked(WORDS, ['--map', 'term=1'])).toBe(true)
  expect(await isAsked(WORDS, ['--map', 'term=first bad words'])).toBe(true)
})

it('asks nothing once a person has said whether a list has a header, or its name says so', async () => {
  onlyInLongForm()
  expect(await isAsked(WORDS, ['--map', 'term=1', '--no-header'])).toBe(false)
  expect(await isAsked(WORDS, ['--map', 'term=1', '--header-row', '1'])).toBe(false)
  expect(await isAsked(`term\n${WORDS}`, [])).toBe(false)
})

it('says of a list that no field has the name of its first line, not that this looks like a row', async () => {
  onlyInLongForm()
  const asked = await readAsked(WORDS, ['--map', 'term=1'])
  expect(asked).toContain(
    'is read as the name of the only column and is not sent, but no field has that name',
  )
  expect(asked).not.toContain('looks like a row')
})

it('says of empty rows that they are not sent', async () => {
  onlyInLongForm()
  const workspace = createTemporaryFolder()
  const source = writeSource(workspace, 'posts.csv', 'user_id,text_data\nu1,hello\n,\nu2,there\n')
  const { stdout } = await runInProcess(['task', source, '--base-url', 'http://127.0.0.1:9', '--dry-run'], {
    workspace,
  })
  expect(stdout).toMatch(/1 row \(warning, not sent\) {2}has only empty cells and is skipped/)
})

it('does not say of a first line that is read as the header that it is still sent', async () => {
  onlyInLongForm()
  const workspace = createTemporaryFolder()
  const source = writeSource(workspace, 'words.csv', WORDS)
  const to = ['--watchlist', 'w', '--base-url', 'http://127.0.0.1:9', '--dry-run', '--map', 'term=1']
  const { stdout } = await runInProcess(['watchlist', 'add', source, ...to], { workspace })
  expect(stdout).toMatch(/1 row \(warning, not sent\) {2}the first line/)
})
