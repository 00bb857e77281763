import { expect, it } from 'vitest'
import { withSandbox } from '../../helpers/sandbox.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { runInProcess } from './run-in-process.ts'
import { writeSource } from './write-source.ts'

const ROWS = Array.from({ length: 6 }, (_, at) => `author-${at},this is the message with the number ${at}`)
const CSV = `author,message\n${ROWS.join('\n')}\n`
const SWAPPED = ['--map', 'user_id=message', '--map', 'text_data=author']
const OF_ID = 'is filled from the column `message`, but most of its first values are texts, not ids'
const OF_TEXT = 'is filled from the column `author`, but its first values look like ids, not texts'

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

it('tells of columns that look swapped in a dry run and in a run, as text and as JSON', async () => {
  const send = await setUp(CSV)
  const dry = JSON.parse((await send(...SWAPPED, '--dry-run', '--json')).stdout)
  expect(dry.problems.filter(({ code }: { code: string }) => code === 'swapped_columns')).toMatchObject([
    { field: 'text_data', rows: 6, severity: 'warning', message: expect.stringContaining(OF_TEXT) },
    { field: 'user_id', rows: 6, severity: 'warning', message: expect.stringContaining(OF_ID) },
  ])
  const shown = await send(...SWAPPED, '--dry-run')
  expect(shown.stdout + shown.stderr).toContain(
    `user_id: ${OF_ID}. If another is meant, pass --map user_id=COLUMN`,
  )
  const { warnings } = JSON.parse((await send(...SWAPPED, '--json')).stdout)
  expect(listSwapped(warnings).sort()).toEqual([
    expect.stringContaining(`text_data: ${OF_TEXT}`),
    expect.stringContaining(`user_id: ${OF_ID}`),
  ])
})

it('says nothing of columns that hold what their fields take, nor of a few rows', async () => {
  const send = await setUp(CSV)
  expect(listSwapped(JSON.parse((await send('--json')).stdout).warnings)).toEqual([])
  const few = await setUp(`author,message\n${ROWS.slice(0, 4).join('\n')}\n`)
  expect(listSwapped(JSON.parse((await few(...SWAPPED, '--json')).stdout).warnings)).toEqual([])
})

it('tells of swapped fields of objects, which have columns behind the others', async () => {
  const lines = Array.from({ length: 6 }, (_, at) =>
    JSON.stringify({ score: at, user: { id: `u-${at}`, bio: `this is the message with the number ${at}` } }),
  )
  const send = await setUp(lines.join('\n'), 'posts.jsonl')
  const { warnings } = JSON.parse(
    (await send('--map', 'text_data=user.id', '--map', 'user_id=user.bio', '--json')).stdout,
  )
  expect(listSwapped(warnings)).toHaveLength(2)
})
