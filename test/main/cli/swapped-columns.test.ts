import { expect, it } from 'vitest'
import { onlyInLongForm } from '../../helpers/long-form.ts'
import { withSandbox } from '../../helpers/sandbox.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { runInProcess } from './run-in-process.ts'
import { writeSource } from './write-source.ts'

const ROWS = Array.from({ length: 6 }, (_, at) => `author-${at},this is the message with the number ${at}`)
const CSV = `author,message\n${ROWS.join('\n')}\n`
/** The header of the fields, the wrong way round. */
const SWAPPED = CSV.replace('author,message', 'text_data,user_id')
const STATED = ['--map', 'user_id=user_id', '--map', 'text_data=text_data']
const OF_ID = 'is filled from the column `user_id`, but most of its first values are texts, not ids'
const OF_TEXT = 'is filled from the column `text_data`, but its first values look like ids, not texts'

async function setUp(content: string, name = 'posts.csv') {
  const sandbox = await withSandbox({ apiKeys: ['the-key'] })
  const workspace = createTemporaryFolder()
  const source = writeSource(workspace, name, content)
  return (...args: string[]) =>
    runInProcess(['task', source, '--base-url', sandbox.baseUrl, ...args], {
      workspace,
      env: { SLUICE_API_KEY: 'the-key' },
    })
}

const listSwapped = (warnings: { code: string; message: string }[]) =>
  warnings.flatMap(({ code, message }) => (code === 'swapped_columns' ? [message] : []))

it('warns of columns that look swapped in a dry run and in a run, as text and as JSON', async () => {
  const send = await setUp(SWAPPED)
  const dry = JSON.parse((await send('--dry-run', '--json')).stdout)
  expect(dry.problems.filter(({ code }: { code: string }) => code === 'swapped_columns')).toMatchObject([
    { field: 'text_data', rows: 6, severity: 'warning', message: expect.stringContaining(OF_TEXT) },
    { field: 'user_id', rows: 6, severity: 'warning', message: expect.stringContaining(OF_ID) },
  ])
  const shown = await send('--dry-run')
  expect(shown.stdout + shown.stderr).toContain(
    `user_id: ${OF_ID}. If another is meant, pass --map user_id=COLUMN`,
  )
  const { warnings } = JSON.parse((await send('--json')).stdout)
  expect(listSwapped(warnings).sort()).toEqual([
    expect.stringContaining(`text_data: ${OF_TEXT}`),
    expect.stringContaining(`user_id: ${OF_ID}`),
  ])
})

it('says nothing of columns that hold what their fields take, nor of a few rows', async () => {
  onlyInLongForm()
  const send = await setUp(CSV)
  expect(listSwapped(JSON.parse((await send('--json')).stdout).warnings)).toEqual([])
  const few = await setUp(`text_data,user_id\n${ROWS.slice(0, 4).join('\n')}\n`)
  expect(listSwapped(JSON.parse((await few('--json')).stdout).warnings)).toEqual([])
})

it('warns of swapped fields of objects, whose columns follow the others', async () => {
  onlyInLongForm()
  const lines = Array.from({ length: 6 }, (_, at) =>
    JSON.stringify({ post: { text: `u-${at}` }, user: { id: `this is the message with the number ${at}` } }),
  )
  const send = await setUp(lines.join('\n'), 'posts.jsonl')
  const { warnings } = JSON.parse((await send('--json')).stdout)
  expect(listSwapped(warnings)).toHaveLength(2)
})

it('says nothing of a field whose column a person stated', async () => {
  onlyInLongForm()
  const send = await setUp(SWAPPED)
  const listOf = async (...args: string[]) =>
    listSwapped(JSON.parse((await send('--dry-run', '--json', ...args)).stdout).problems)
  expect(await listOf(...STATED.slice(2))).toEqual([expect.stringContaining(OF_ID)])
  expect(await listOf(...STATED)).toEqual([])
})
