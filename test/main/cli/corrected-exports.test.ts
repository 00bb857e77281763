import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { onlyInLongForm } from '../../helpers/long-form.ts'
import { withSandbox } from '../../helpers/sandbox.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { runInProcess } from './run-in-process.ts'
import { writeSource } from './write-source.ts'

const SOURCE = 'ticket,user_id,text\n1,u1,good morning\n2,u_2,you are late\n'

async function sendHalf() {
  const sandbox = await withSandbox()
  const folder = createTemporaryFolder()
  const sluice = (...args: string[]) =>
    runInProcess(args, { workspace: join(folder, 'workspace'), env: { SLUICE_API_KEY: sandbox.key } })
  const to = ['--base-url', sandbox.baseUrl]
  expect((await sluice('task', writeSource(folder, 'posts.csv', SOURCE), ...to)).code).toBe(1)
  const correct = (file: string) => writeFileSync(file, readFileSync(file, 'utf8').replaceAll('u_2', 'u2'))
  const readTexts = async () => (await sandbox.stats()).tasks
  return { folder, sluice, to, correct, readTexts }
}

it('the error file of a run is sent once it is corrected, without a question about our columns', async () => {
  const { folder, sluice, to, correct, readTexts } = await sendHalf()
  const file = join(folder, 'bad.csv')
  await sluice('export', 'latest', join(folder, 'ok.csv'), '--errors', file)
  correct(file)
  const sent = await sluice('task', file, ...to)
  expect([sent.code, sent.stderr]).toEqual([0, expect.stringContaining('Using column `text` for text_data')])
  expect(await readTexts()).toBe(2)
})

it('a JSON Lines export as a source has its text and user guessed from its cells', async () => {
  onlyInLongForm()
  const { folder, sluice, to, correct } = await sendHalf()
  const file = join(folder, 'bad.jsonl')
  await sluice('export', 'latest', file)
  correct(file)
  const tried = await sluice('task', file, ...to, '--dry-run')
  expect([tried.code, tried.stderr]).toEqual([
    0,
    expect.stringMatching(/`cells\.text` for text_data.*`cells\.user_id` for user_id/s),
  ])
  expect(tried.stderr).not.toContain('`message`')
})
