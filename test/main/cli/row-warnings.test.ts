import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { onlyInLongForm } from '../../helpers/long-form.ts'
import { withSandbox } from '../../helpers/sandbox.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { runInProcess } from './run-in-process.ts'
import { writeSource } from './write-source.ts'

const KEY = 'the-key'
const NOWHERE = 'http://127.0.0.1:9'

/** Rows with two causes of warnings: a model that nobody documents, and two lines that name a key twice. */
const ROWS = [
  { text: 'one', again: false },
  { text: 'two', again: true },
  { text: 'three', again: true },
].map(
  ({ text, again }, index) =>
    `{"post_id":"p${index + 1}","user_id":"u1","text_data":"${text}"${again ? ',"user_id":"u2"' : ''}}`,
)

async function setUp() {
  const sandbox = await withSandbox({ apiKeys: [KEY] })
  const workspace = createTemporaryFolder()
  const source = writeSource(workspace, 'posts.jsonl', `${ROWS.join('\n')}\n`)
  const run = (...args: string[]) => runInProcess(args, { workspace, env: { SLUICE_API_KEY: KEY } })
  const send = (command: string, ...args: string[]) =>
    run(command, source, '--base-url', sandbox.baseUrl, '--set', 'models=own', ...args)
  return { run, send, workspace }
}

it('counts rows that were sent with warnings by cause, with the command that lists them', async () => {
  const { send, run } = await setUp()
  const { stdout } = await send('task', '--json')
  const summary = JSON.parse(stdout)
  const listWith = `sluice show ${summary.run_id} --problems`
  expect(summary.warnings).toEqual([
    {
      code: 'unknown_model',
      rows: 3,
      message: expect.stringContaining('models: '),
      list_with: listWith,
    },
    {
      code: 'duplicate_key',
      rows: 2,
      message: expect.stringContaining('more than once'),
      list_with: listWith,
    },
  ])
  const shown = JSON.parse((await run('show', 'latest', '--json')).stdout)
  expect(shown.warnings).toEqual(summary.warnings)
})

it('shows rows that were sent with warnings in the summary, and how to list them', async () => {
  const { send } = await setUp()
  const { stdout } = await send('task')
  expect(stdout).toMatch(/Warnings +3 rows +models: .*\n +.*2 rows +has a key more than once/s)
  expect(stdout).toMatch(/show \S+ --problems +rows with warnings and why/)
})

it('says of a warning how many further rows with it are not sent', async () => {
  const { run, workspace } = await setUp()
  const source = writeSource(workspace, 'posts.csv', 'user_id,text_data\n u1,a\n u2,\n u3,\nu4,b\n')
  const { stdout } = await run('task', source, '--dry-run', '--base-url', NOWHERE)
  expect(stdout).toContain('1 row (warning, still sent; 2 more rows not sent)  user_id: has invisible')
})

it('names hidden files and folders as skipped, however few rows are sent', async () => {
  const { run, workspace } = await setUp()
  const folder = join(workspace, 'posts')
  for (const path of ['a.txt', '.mine.txt', '.more/b.txt', '.DS_Store', '__MACOSX/c.txt']) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), 'text')
  }
  const { stdout } = await run('task', folder, '--set', 'user_id=u', '--dry-run', '--base-url', NOWHERE)
  expect(stdout).toContain(
    '4 rows (warning, not sent)  4 hidden files or folders were skipped: .mine.txt, .more/, .DS_Store and 1 more',
  )
})

it('shows rows with warnings in the report of a run', async () => {
  onlyInLongForm()
  const { send, run, workspace } = await setUp()
  await send('task', '--quiet')
  const file = join(workspace, 'report.html')
  expect(await run('report', 'latest', file)).toMatchObject({ code: 0 })
  expect(readFileSync(file, 'utf8')).toMatch(/Warnings[\s\S]*2 rows[\s\S]*has a key more than once/)
})

it('shows the warnings of its rows in every report of a load test', async () => {
  onlyInLongForm()
  const { send, run, workspace } = await setUp()
  const { stdout } = await send('load', '--requests', '3', '--concurrency', '1')
  expect(stdout).toMatch(/Warnings +3 rows +models: /)
  for (const name of ['load.html', 'load.junit.xml']) {
    const file = join(workspace, name)
    expect(await run('export', 'latest', file)).toMatchObject({ code: 0 })
    expect(readFileSync(file, 'utf8')).toMatch(/2 rows[\s\S]*has a key more than once/)
  }
})
