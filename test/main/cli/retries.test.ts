import { join } from 'node:path'
import { expect, test } from 'vitest'
import { APP_VERSION } from '../../../src/shared/version.ts'
import { startFaultServer, toTaskAnswer } from '../../helpers/fault-server.ts'
import { createInProcessRuns } from '../../helpers/in-process-runs.ts'
import { onlyInLongForm } from '../../helpers/long-form.ts'
import { withSandbox } from '../../helpers/sandbox.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { runInProcess } from './run-in-process.ts'
import { createRows, writeSource } from './write-source.ts'

/** A run of 20 rows of which some are refused once. */
async function openRun() {
  const folder = createTemporaryFolder()
  const sandbox = await withSandbox({ faults: ['422=40%,tries=1'], seed: 'retry' })
  const source = writeSource(folder, 'posts.csv', createRows(20))
  const workspace = join(folder, 'workspace')
  const options = { workspace, env: { SLUICE_API_KEY: sandbox.key } }
  const sluice = (...args: string[]) => runInProcess(args, options)
  const run = JSON.parse((await sluice('task', source, '--base-url', sandbox.baseUrl, '--json')).stdout)
  return { sluice, run, workspace, sandbox }
}

/** The same and its retry, in which all succeed. */
async function openRetriedRun() {
  const opened = await openRun()
  const retried = JSON.parse((await opened.sluice('retry', opened.run.run_id, '--json')).stdout)
  return { ...opened, retried }
}

test('a retry is a session of its run, which says how many rows were sent again and when', async () => {
  const { sluice, run, retried } = await openRetriedRun()
  const { rejected } = run.rows
  expect(rejected).toBeGreaterThan(0)
  expect(retried).toMatchObject({ run_id: run.run_id, rows: { read: 20, succeeded: 20 } })
  const [first, second] = retried.sessions
  expect([first.kind, second.kind]).toEqual(['start', 'retry'])
  expect(Date.parse(second.started_at)).toBeGreaterThanOrEqual(Date.parse(first.ended_at))
  expect(second).toMatchObject({ rows_taken: rejected, app_version: APP_VERSION })
  expect(first.duration_s + second.duration_s).toBeCloseTo(retried.throughput.duration_s, 2)
  const shown = (await sluice('show', run.run_id)).stdout
  expect(shown).toMatch(
    new RegExp(
      `retried \\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d: ${rejected} rows, ${rejected} of ${rejected} requests succeeded`,
    ),
  )
  expect(shown).not.toMatch(/sluice.* retry /)
  expect(JSON.parse((await sluice('runs', '--json')).stdout)).toHaveLength(1)
})

test.each(['resume', 'retry'])(
  '%s --on-unknown resend sends rows once more, also if they stay unknown',
  async (how) => {
    const folder = createTemporaryFolder()
    const service = await startFaultServer({
      onRequest: (request, wire) => {
        if (/number [12]"/.test(request.body)) wire.reset()
        else wire.send(200, toTaskAnswer(request))
      },
    })
    const source = writeSource(folder, 'posts.csv', createRows(5))
    const options = { workspace: join(folder, 'workspace'), env: { SLUICE_API_KEY: 'key' } }
    const sluice = (...args: string[]) => runInProcess([...args, '--json'], options)
    await sluice('task', source, '--base-url', service.baseUrl, '--retries', '0')
    expect(service.requests).toHaveLength(5)
    const again = JSON.parse((await sluice(how, 'latest', '--on-unknown', 'resend')).stdout)
    expect(service.requests).toHaveLength(7)
    expect(again).toMatchObject({ rows: { succeeded: 3, unknown: 2 }, requests: { sent: 7, retried: 2 } })
    expect(again.sessions).toHaveLength(2)
  },
)

test.each([[], ['--on-unknown', 'skip']])(
  'a resume that may not resend the only open row sends nothing and leaves the run as it was: %j',
  async (...choice) => {
    const folder = createTemporaryFolder()
    const service = await startFaultServer({
      onRequest: (request, wire) => {
        if (request.body.includes('number 1"')) wire.send(401, { message: 'no' })
        else if (request.body.includes('number 2"')) wire.reset()
        else wire.send(200, toTaskAnswer(request))
      },
    })
    const source = writeSource(folder, 'posts.csv', createRows(5))
    const options = { workspace: join(folder, 'workspace'), env: { SLUICE_API_KEY: 'key' } }
    const sluice = (...args: string[]) => runInProcess([...args, '--json'], options)
    const run = JSON.parse(
      (await sluice('task', source, '--base-url', service.baseUrl, '--retries', '0')).stdout,
    )
    expect(run).toMatchObject({ state: 'completed', rows: { succeeded: 3, rejected: 1, unknown: 1 } })
    const resumed = await sluice('resume', 'latest', ...choice)
    expect(service.requests).toHaveLength(5)
    expect(JSON.parse(resumed.stdout)).toEqual(run)
    expect(resumed.code).toBe(1)
    expect(resumed.stderr).toContain(
      `Run ${run.run_id} has nothing left to send. To resend 1 row with an unknown outcome, add --on-unknown resend. To send unsuccessful rows again: npm run -s sluice -- retry ${run.run_id}\n`,
    )
  },
)

test('a run and a retry with a run of its own name each other, are listed once, and are deleted together', async () => {
  onlyInLongForm()
  const { sluice, run: parent, workspace, sandbox } = await openRun()
  const retry = await createInProcessRuns(workspace, sandbox.key).retryAsChild(parent.run_id).ended
  expect(retry).toMatchObject({ parent_run_id: parent.run_id, whole_run: { run_id: parent.run_id } })
  const shown = (await sluice('show', parent.run_id)).stdout
  expect(shown).toContain(`with retry ${retry.run_id}: completed`)
  expect(shown).not.toContain('retry RUN')
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
  const again = await sluice('retry', retry.run_id)
  expect([again.code, again.stderr]).toEqual([
    0,
    expect.stringContaining(`Run ${parent.run_id} has nothing to retry.`),
  ])
  const unasked = await sluice('delete', parent.run_id)
  expect(unasked.stderr).toContain(`and its 1 retry (${retry.run_id})`)
  const deleted = JSON.parse((await sluice('delete', parent.run_id, '--yes', '--json')).stdout)
  expect(deleted).toMatchObject({ deleted: parent.run_id, deleted_retries: [retry.run_id] })
  expect((await sluice('show', retry.run_id)).code).toBe(2)
})

test('a retry of a run with nothing left says so and exits as the run did', async () => {
  onlyInLongForm()
  const { sluice, run } = await openRetriedRun()
  const again = await sluice('retry', run.run_id)
  expect(again.code).toBe(0)
  expect(again.stderr).toContain(`Run ${run.run_id} has nothing to retry.`)
  expect(again.stdout).toBe('')
})

test('a retry with nothing left still prints the run as one document with --json', async () => {
  onlyInLongForm()
  const { sluice, run } = await openRetriedRun()
  const again = await sluice('retry', run.run_id, '--json')
  expect(JSON.parse(again.stdout)).toMatchObject({ run_id: run.run_id, rows: { succeeded: 20 } })
})

test('a retry exits with 1 while its run has invalid rows, though all that it sent succeeded', async () => {
  const folder = createTemporaryFolder()
  const sandbox = await withSandbox({ faults: ['422=100%,tries=1'], seed: 'retry' })
  const source = writeSource(folder, 'posts.csv', 'text_data,user_id\nhello,u1\n,u2\n')
  const options = { workspace: join(folder, 'workspace'), env: { SLUICE_API_KEY: sandbox.key } }
  await runInProcess(['task', source, '--base-url', sandbox.baseUrl], options)
  const retried = await runInProcess(['retry', 'latest', '--json'], options)
  expect(JSON.parse(retried.stdout).rows).toMatchObject({ succeeded: 1, rejected: 0, invalid: 1 })
  expect(retried.code).toBe(1)
})
