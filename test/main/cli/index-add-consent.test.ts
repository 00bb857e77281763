import { join } from 'node:path'
import { expect, test } from 'vitest'
import { onlyInLongForm } from '../../helpers/long-form.ts'
import { withSandbox } from '../../helpers/sandbox.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { runInProcess } from './run-in-process.ts'
import { writeSource } from './write-source.ts'

/** A sandbox that loses answers of index adds, and a finished run of that many adds. */
async function addItems(rows: number, fault: string) {
  const folder = createTemporaryFolder()
  const sandbox = await withSandbox({ faults: [fault], seed: 'lost', indexes: ['idx'] })
  const lines = Array.from({ length: rows }, (_, i) => `https://media.example/${i + 1}.jpg\n`)
  const source = writeSource(folder, 'items.csv', `url\n${lines.join('')}`)
  const asked: string[] = []
  const run = (args: readonly string[], answer?: (question: string) => string) =>
    runInProcess(args, {
      workspace: join(folder, 'workspace'),
      env: { SLUICE_API_KEY: sandbox.key },
      ...(answer !== undefined && {
        ask: () => false,
        askWord: (question: string) => {
          asked.push(question)
          return answer(question)
        },
      }),
    })
  const added = await run(['index', 'add', source, '--index', 'idx', '--base-url', sandbox.baseUrl, '--json'])
  const { rows: counts } = JSON.parse(added.stdout)
  const count = async () => (await sandbox.indexItems('idx')).length
  return { added, counts, run, count, asked }
}

test('index adds whose answers were lost are in the index once, unless duplicates were accepted', async () => {
  const { counts, run, count } = await addItems(300, '5xx-after=8%')
  expect(counts.unknown).toBeGreaterThan(5)
  expect(await count()).toBe(300)
  const refused = await run(['retry', 'latest', '--on-unknown', 'resend'])
  expect(refused.code).toBe(2)
  expect(refused.stderr).toMatch(
    new RegExp(`may add ${counts.unknown} items a second time.*--resend-index-adds`, 's'),
  )
  await run(['retry', 'latest'])
  await run(['resume', 'latest', '--on-unknown', 'skip'])
  expect(await count()).toBe(300)
})

test('an accepted resend of an index add is sent once and not repeated automatically', async () => {
  onlyInLongForm()
  const { run, count } = await addItems(2, '5xx-after=100%,tries=3')
  expect(await count()).toBe(2)
  const resent = await run(['retry', 'latest', '--resend-index-adds', '--json'])
  expect(JSON.parse(resent.stdout)).toMatchObject({ rows: { unknown: 2 }, requests: { sent: 4 } })
  expect(await count()).toBe(4)
})

test('a terminal asks for a typed word before index adds are sent again, and says how many may be added twice', async () => {
  const { run, count, asked } = await addItems(3, '5xx-after=100%,tries=1')
  expect((await run(['retry', 'latest', '--on-unknown', 'resend'], () => 'yes')).code).toBe(2)
  expect(await count()).toBe(3)
  expect(asked).toEqual([expect.stringMatching(/3 items.*twice/s)])
  expect((await run(['resume', 'latest', '--on-unknown', 'resend'], () => 'add twice')).code).toBe(0)
  expect(await count()).toBe(6)
})

test('the advice on index adds of unknown outcome says that a resend may add them twice', async () => {
  onlyInLongForm()
  const { run } = await addItems(2, '5xx-after=100%')
  const shown = await run(['show', 'latest'])
  expect(shown.stdout).toMatch(/may add .*twice|twice/)
  expect(shown.stdout).toMatch(/retry \S+ --resend-index-adds/)
  expect(shown.stdout).not.toContain('--on-unknown resend')
})
