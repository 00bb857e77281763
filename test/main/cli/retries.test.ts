import { join } from 'node:path'
import { expect, test } from 'vitest'
import { withSandbox } from '../../helpers/sandbox.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { runInProcess } from './run-in-process.ts'
import { createRows, writeSource } from './write-source.ts'

/** A run of 20 rows of which some are refused once, and its retry, in which all succeed. */
async function openRetriedRun() {
  const folder = createTemporaryFolder()
  const sandbox = await withSandbox({ faults: ['422=40%,tries=1'], seed: 'retry' })
  const source = writeSource(folder, 'posts.csv', createRows(20))
  const options = { workspace: join(folder, 'workspace'), env: { SLUICE_API_KEY: sandbox.key } }
  const sluice = (...args: string[]) => runInProcess(args, options)
  const parent = JSON.parse((await sluice('task', source, '--base-url', sandbox.baseUrl, '--json')).stdout)
  const retry = JSON.parse((await sluice('retry', parent.run_id, '--json')).stdout)
  return { sluice, parent, retry }
}

test('a run and its retry name each other, are listed once, and are deleted together', async () => {
  const { sluice, parent, retry } = await openRetriedRun()
  expect(retry).toMatchObject({ parent_run_id: parent.run_id, whole_run: { run_id: parent.run_id } })
  const shown = (await sluice('show', parent.run_id)).stdout
  expect(shown).toContain(`with retry ${retry.run_id}: completed`)
  expect(shown).not.toContain('retry RUN')
  expect(shown).not.toMatch(/sluice.* retry /)
  const row = JSON.parse((await sluice('show', parent.run_id, '--row', '2', '--json')).stdout)
  expect(row).toMatchObject({
    result: { triggered_rules: expect.any(Array) },
    attempts: expect.arrayContaining([
      expect.objectContaining({ run_id: parent.run_id, sent_at: expect.any(String) }),
    ]),
  })
  const part = (await sluice('show', retry.run_id)).stdout
  expect(part).toContain(`part of run ${parent.run_id}: 20 of 20 rows succeeded in total`)
  const latest = JSON.parse((await sluice('show', 'latest', '--json')).stdout)
  expect(latest).toMatchObject({ run_id: parent.run_id, rows: { read: 20, succeeded: 20 } })
  expect(JSON.parse((await sluice('runs', '--json')).stdout)).toHaveLength(1)
  const unasked = await sluice('delete', parent.run_id)
  expect(unasked.stderr).toContain(`and its 1 retry (${retry.run_id})`)
  const deleted = JSON.parse((await sluice('delete', parent.run_id, '--yes', '--json')).stdout)
  expect(deleted).toMatchObject({ deleted: parent.run_id, deleted_retries: [retry.run_id] })
  expect((await sluice('show', retry.run_id)).code).toBe(2)
})

test('a retry of a run with nothing left says so and exits as the run did', async () => {
  const { sluice, parent, retry } = await openRetriedRun()
  for (const named of [parent.run_id, retry.run_id]) {
    const again = await sluice('retry', named)
    expect(again.code).toBe(0)
    expect(again.stderr).toContain(`Run ${parent.run_id} has nothing to retry.`)
    expect(again.stdout).toBe('')
  }
})

test('a retry with nothing left still prints the run as one document with --json', async () => {
  const { sluice, parent } = await openRetriedRun()
  const again = await sluice('retry', parent.run_id, '--json')
  expect(JSON.parse(again.stdout)).toMatchObject({ run_id: parent.run_id, rows: { succeeded: 20 } })
})
