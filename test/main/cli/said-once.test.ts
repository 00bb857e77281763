import { expect, it } from 'vitest'
import { formatSection } from '../../../src/main/cli/terminal/layout.ts'
import { firstOf, onlyInLongForm } from '../../helpers/long-form.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { createPlainTerminal } from './plain-terminal.ts'
import { runInProcess } from './run-in-process.ts'
import { writeSource } from './write-source.ts'

function check(name: string, content: string) {
  const workspace = createTemporaryFolder()
  const source = writeSource(workspace, name, content)
  return runInProcess(['task', source, '--base-url', 'http://127.0.0.1:9', '--dry-run'], {
    workspace,
    env: { SLUICE_API_KEY: 'k' },
  })
}

it('lists the columns to choose from once', async () => {
  const { stderr } = await check('a.csv', 'some,other\n1,2\n')
  expect(stderr).toContain('user_id is required')
  expect(stderr).toContain('text_data or url is required')
  expect(stderr.match(/the columns are/g)).toHaveLength(1)
})

it('says only which row is the header if another one is read as it', async () => {
  const { stderr } = await check('a.csv', 'My export;;\n\nuser_id;text_data;lang\nu1;a;en\nu2;b;en\n')
  expect(stderr).toContain('pass --header-row 3')
  expect(stderr).not.toContain('--map')
})

it.each(
  firstOf(1, [
    ['a.jsonl', '{"user_id":"u1","text_data":"a"}\n{"user_id":"u2",\n'],
    ['a.csv', 'post_id,user_id,text_data\np1,u1,a\npost_id,user_id,text_data\n'],
  ]),
)('reports one error for what is not a row in %s', async (name, content) => {
  const { stdout } = await check(name, content)
  expect(stdout.match(/✖/g)).toHaveLength(1)
})

it('calls an array JSON, not JSON Lines', async () => {
  onlyInLongForm()
  const { stdout } = await check('a.json', '[{"user_id":"u1","text_data":"a"}]')
  expect(stdout).toMatch(/Read as +JSON: UTF-8/)
})

it('has a space after a title that is longer than its column', () => {
  expect(formatSection(createPlainTerminal(80), 'Row 3 of 2026-02.csv', ['succeeded'])).toEqual([
    'Row 3 of 2026-02.csv succeeded',
  ])
})

it('says that notes are overwritten only if notes are sent', async () => {
  onlyInLongForm()
  const workspace = createTemporaryFolder()
  const add = async (name: string, text: string) => {
    const to = ['--watchlist', 'w', '--base-url', 'http://127.0.0.1:9', '--dry-run']
    return (
      await runInProcess(['watchlist', 'add', writeSource(workspace, name, text), ...to], { workspace })
    ).stderr
  }
  expect(await add('terms.csv', 'term,lang\nbad,en\n')).not.toContain('overwritten')
  expect(await add('notes.csv', 'term,Note\nbad,why\n')).toContain(
    'Existing notes of these terms will be overwritten.',
  )
})
