import { expect, it } from 'vitest'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { runInProcess } from './run-in-process.ts'
import { writeSource } from './write-source.ts'

/** Whether a dry run asks if the first entry of a word list is its header. */
async function isAsked(content: string, args: readonly string[]): Promise<boolean> {
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
  return JSON.stringify(asked).includes('header_like_data')
}

const WORDS = 'first bad words\nsecond bad words\nthird bad words\n'

it('asks before the first entry of a list without a header is taken for one', async () => {
  expect(await isAsked(WORDS, ['--map', 'term=1'])).toBe(true)
  expect(await isAsked(WORDS, ['--map', 'term=first bad words'])).toBe(true)
})

it('asks nothing once a person has said whether a list has a header, or its name says so', async () => {
  expect(await isAsked(WORDS, ['--map', 'term=1', '--no-header'])).toBe(false)
  expect(await isAsked(WORDS, ['--map', 'term=1', '--header-row', '1'])).toBe(false)
  expect(await isAsked(`term\n${WORDS}`, [])).toBe(false)
})
