import { join } from 'node:path'
import { expect, it } from 'vitest'
import { firstOf } from '../../helpers/long-form.ts'
import { withSandbox } from '../../helpers/sandbox.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { runInProcess } from './run-in-process.ts'
import { writeSource } from './write-source.ts'

it.each(
  firstOf(2, [
    ['csv', 'u1,fine\nu2,"open\nu3,next\n', 1],
    ['jsonl', 'text_data,user_id\nhello there,u2\nhow are you,u3\n', 2],
    ['xlsx', 'u1,"a" b\nu2,fine\n', 1],
  ]),
)('asks before it sends rows of an export that could not be read before: %s', async (ending, rows, asked) => {
  const sandbox = await withSandbox()
  const workspace = createTemporaryFolder()
  const sluice = (...args: string[]) =>
    runInProcess(args, { workspace, env: { SLUICE_API_KEY: sandbox.key } })
  const source = writeSource(workspace, 'posts.csv', `user_id,text_data\n${rows}`)
  await sluice('task', source, '--base-url', sandbox.baseUrl)
  const failed = join(workspace, `failed.${ending}`)
  await sluice('export', 'latest', join(workspace, `sent.${ending}`), '--errors', failed)
  const { tasks } = await sandbox.stats()
  const again = await sluice('task', failed, '--base-url', sandbox.baseUrl)
  expect(again).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(
      `${asked} ${asked === 1 ? 'row' : 'rows'}: was invalid in the run that this file is an export of`,
    ),
  })
  expect((await sandbox.stats()).tasks).toBe(tasks)
  await sluice('task', failed, '--base-url', sandbox.baseUrl, '--accept', 'content_cut')
  expect((await sandbox.stats()).tasks).toBe(tasks + asked)
})
