import { expect, it } from 'vitest'
import { firstOf, onlyInLongForm } from '../../helpers/long-form.ts'
import { withSandbox } from '../../helpers/sandbox.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { runInProcess } from './run-in-process.ts'
import { writeSource } from './write-source.ts'

const KEY = 'the-key'

async function setUp(content: string | Uint8Array) {
  const sandbox = await withSandbox({ apiKeys: [KEY] })
  const workspace = createTemporaryFolder()
  const source = writeSource(workspace, 'posts.csv', content)
  const send = (...args: string[]) =>
    runInProcess(['task', source, '--base-url', sandbox.baseUrl, ...args], {
      workspace,
      env: { SLUICE_API_KEY: KEY },
    })
  return { send, countTasks: async () => (await sandbox.stats()).tasks }
}

const NUMBERED = 'p1,u1,hello\np2,u2,how are you\np3,u3,fine\n'
const BY_NUMBER = ['--map', 'post_id=1', '--map', 'user_id=2', '--map', 'text_data=3']

it('asks before it sends the rows below a header that looks like a row', async () => {
  const { send, countTasks } = await setUp(NUMBERED)
  const refused = await send(...BY_NUMBER)
  expect(refused).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('it looks like a row; pass --no-header'),
  })
  expect(await countTasks()).toBe(0)
  const shown = JSON.parse((await send(...BY_NUMBER, '--dry-run', '--json')).stdout)
  expect(shown.to_accept).toMatchObject([{ accept: 'content_cut', code: 'header_like_data', rows: 1 }])
  expect(await send(...BY_NUMBER, '--no-header')).toMatchObject({ code: 0 })
  expect(await countTasks()).toBe(3)
})

const UNNAMED = 'post_id,user_id,text_data,\np1,u1,kill, yourself\np2,u2,fine,\n'

it('asks before it leaves out text after the last named column, unless a field is filled by it', async () => {
  const { send, countTasks } = await setUp(UNNAMED)
  const refused = await send()
  expect(refused.code).toBe(2)
  expect(refused.stderr).toContain('1 row: has text behind column 3')
  expect(await countTasks()).toBe(0)
  expect(await send('--map', 'conversation_id=4')).toMatchObject({ code: 0 })
  expect(await countTasks()).toBe(2)
})

it('reports text that was already damaged, and does not report again what it replaced itself', async () => {
  onlyInLongForm()
  const { send } = await setUp('post_id,user_id,text_data\np1,u1,caf\ufffd\np2,u2,cafÃ©\np3,u3,fine\n')
  const { warnings } = JSON.parse((await send('--json')).stdout)
  expect(warnings).toMatchObject([
    { code: 'damaged_text', rows: 1 },
    { code: 'damaged_text', rows: 1 },
  ])
  const replaced = await setUp(Buffer.from('post_id,user_id,text_data\np1,u1,caf\xe9\n', 'latin1'))
  const dry = JSON.parse((await replaced.send('--encoding', 'utf-8', '--dry-run', '--json')).stdout)
  expect(dry.problems.map(({ code }: { code: string }) => code)).not.toContain('damaged_text')
})

it.each(
  firstOf(1, [
    ['text_data', 'text_data'],
    ['text_data ', 'text_data'],
    ['text_data', '\u200btext_data'],
  ]),
)('says which of two columns with seemingly equal names is used: %j and %j', async (first, second) => {
  const { send } = await setUp(`post_id,user_id,${first},${second}\np1,u1,one,two\n`)
  const { problems, first_request: request } = JSON.parse((await send('--dry-run', '--json')).stdout)
  const used = request.body.text_data === 'one' ? 3 : 4
  const told = problems.find(({ code }: { code: string }) => code === 'ambiguous_column')
  expect(told?.message).toContain(`column ${used} is used`)
})
