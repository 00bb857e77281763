import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { onlyInLongForm } from '../../helpers/long-form.ts'
import { withSandbox } from '../../helpers/sandbox.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { readAnySource } from '../engine/source/read-source.ts'
import { runInProcess } from './run-in-process.ts'
import { writeSource } from './write-source.ts'

const KEY = 'the-key'
/** Semicolons, and letters that are no UTF-8. */
const GERMAN = Buffer.from(
  'post_id;user_id;text_data\np1;u1;Schöne Grüße aus München, liebe Mädchen\np2;u1;Größe, Füße, Äpfel, Öl, Übung\n',
  'latin1',
)

async function setUp(content: string | Uint8Array) {
  const sandbox = await withSandbox({ apiKeys: [KEY] })
  const workspace = createTemporaryFolder()
  const source = writeSource(workspace, 'posts.csv', content)
  const run = (...args: string[]) => runInProcess(args, { workspace, env: { SLUICE_API_KEY: KEY } })
  // Whatever of it has to be accepted is not what this is about.
  const send = (...args: string[]) =>
    run('task', source, '--base-url', sandbox.baseUrl, '--accept', 'encoding_uncertain', ...args)
  return { run, send, workspace, baseUrl: sandbox.baseUrl }
}

it('says before sending what was guessed of a source, and with which option to state it', async () => {
  const { send } = await setUp(GERMAN)
  const { stderr, stdout, code } = await send('--dry-run')
  expect(stderr).toMatch(
    /Reading posts\.csv as CSV: windows-1252 \(guessed; to state it, add --encoding NAME\), semicolon \(guessed; to state it, add --delimiter CHARACTER\), header in row 1\./,
  )
  expect(stdout).toMatch(/Read as +CSV: windows-1252 \(guessed/)
  expect(code).toBe(0)
  expect((await send('--dry-run', '--quiet')).stderr).not.toContain('Reading posts.csv')
})

it('keeps how a source was read with the run, and shows it wherever the result is', async () => {
  onlyInLongForm()
  const { send, run, workspace } = await setUp(GERMAN)
  const sent = JSON.parse((await send('--delimiter', ';', '--json')).stdout)
  expect(sent.source).toContain('posts.csv')
  expect(sent.source_read).toMatchObject({
    read_as: [
      {
        format: 'csv',
        encoding: { name: 'windows-1252', by: 'guess' },
        delimiter: { character: ';', by: 'given' },
        header_row: 1,
      },
    ],
    empty: 0,
    hidden: 0,
  })
  expect(JSON.parse((await run('show', 'latest', '--json')).stdout).source_read).toEqual(sent.source_read)
  expect((await run('show', 'latest')).stdout).toMatch(
    /Read as +CSV: windows-1252 \(guessed.*semicolon, header in row 1/,
  )
  const file = join(workspace, 'report.html')
  expect(await run('report', 'latest', file)).toMatchObject({ code: 0 })
  expect(readFileSync(file, 'utf8')).toContain('CSV: windows-1252 (guessed), semicolon, header in row 1')
})

it('says nothing on stderr of a source in which nothing is guessed', async () => {
  onlyInLongForm()
  const { send } = await setUp('post_id,user_id,text_data\np1,u1,one\n')
  expect((await send('--dry-run')).stderr).toBe('')
})

it('says how a source was read in the workbook of a run, and on the page and in the JUnit file of a load test', async () => {
  onlyInLongForm()
  const { send, run, workspace, baseUrl } = await setUp(GERMAN)
  const how = 'CSV: windows-1252 (guessed), semicolon (guessed), header in row 1'
  await send()
  const book = join(workspace, 'report.xlsx')
  expect(await run('report', 'latest', book)).toMatchObject({ code: 0 })
  const { rows } = await readAnySource(book, { sheet: 'Summary', header: false })
  expect(rows.map(({ cells }) => cells.slice(0, 2))).toContainEqual(['Read as', how])
  const files = ['load.html', 'load.junit.xml'].map((name) => join(workspace, name))
  const load = ['load', join(workspace, 'posts.csv'), '--base-url', baseUrl, '--accept', 'encoding_uncertain']
  await run(...load, '--requests', '2', '--concurrency', '1')
  for (const file of files) await run('export', 'latest', file)
  expect(readFileSync(files[0] ?? '', 'utf8')).toContain(how)
  expect(readFileSync(files[1] ?? '', 'utf8')).toContain(`<property name="read_as" value="${how}"/>`)
})
