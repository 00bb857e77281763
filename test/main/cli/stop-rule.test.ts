import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { startFaultServer } from '../../helpers/fault-server.ts'
import { onlyInLongForm } from '../../helpers/long-form.ts'
import { withSandbox } from '../../helpers/sandbox.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { runInProcess } from './run-in-process.ts'
import { createRows, writeSource } from './write-source.ts'

const REFUSAL = { error: true, code: 'INVALID_PARAM', message: 'no' }

/** A service that refuses every row, and the command line on a workspace of its own. */
async function openRefusingService(rows: number) {
  const folder = createTemporaryFolder()
  const server = await startFaultServer({ onRequest: (_request, wire) => wire.send(400, REFUSAL) })
  const source = writeSource(folder, 'posts.csv', createRows(rows))
  const workspace = join(folder, 'workspace')
  const sluice = (...args: string[]) => runInProcess(args, { workspace, env: { SLUICE_API_KEY: 'k' } })
  const send = async (...args: string[]) => {
    const { stdout } = await sluice(...args, '--concurrency', '1', '--json')
    return JSON.parse(stdout)
  }
  return { server, folder, source, sluice, send }
}

describe('the rule that stops a run for its errors', () => {
  it('is an option of a command that sends, kept in its plan', async () => {
    const { server, folder, source, send } = await openRefusingService(60)
    const base = ['task', source, '--base-url', server.baseUrl]
    expect(await send(...base)).toMatchObject({ state: 'stopped', rows: { rejected: 50, not_sent: 10 } })
    const plan = join(folder, 'strict.json')
    const strict = ['--stop-at-errors', '10', '--stop-after-rows', '3', '--save-plan', plan]
    expect(await send(...base, ...strict)).toMatchObject({
      state: 'stopped',
      stop_reason: '100 % of the first 3 rows did not succeed (over 10 %)',
      rows: { rejected: 3, not_sent: 57 },
    })
    expect(JSON.parse(readFileSync(plan, 'utf8')).stop).toEqual({ errorPercent: 10, afterRows: 3 })
    expect(await send('plan', plan, '--trust-plan', '--stop-at-errors', '100%')).toMatchObject({
      state: 'completed',
      rows: { rejected: 60 },
    })
  })

  it('can be changed when a run is resumed, which otherwise sends as many rows and stops again', async () => {
    onlyInLongForm()
    const { server, source, sluice, send } = await openRefusingService(140)
    expect(await send('task', source, '--base-url', server.baseUrl)).toMatchObject({ rows: { rejected: 50 } })
    const again = await sluice('resume', 'latest', '--json')
    expect(JSON.parse(again.stdout)).toMatchObject({ state: 'stopped' })
    const whole = await sluice('resume', 'latest', '--stop-at-errors', '100%', '--json')
    expect(JSON.parse(whole.stdout)).toMatchObject({ state: 'completed', rows: { rejected: 140 } })
  })

  it('is refused for load tests, and if it is not a share', async () => {
    onlyInLongForm()
    const { server, folder, source, sluice } = await openRefusingService(1)
    const base = [source, '--base-url', server.baseUrl]
    for (const wrong of ['101%', '-1', 'half']) {
      const refused = await sluice('task', ...base, '--stop-at-errors', wrong)
      expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('expected a share such as')])
    }
    const plan = join(folder, 'load.json')
    await sluice('load', ...base, '--rate', '1', '--duration', '1s', '--dry-run', '--save-plan', plan)
    const load = await sluice('plan', plan, '--trust-plan', '--stop-at-errors', '50%')
    expect([load.code, load.stderr]).toEqual([2, expect.stringContaining('do not apply to load tests')])
  })
})

describe('the test of a public callback address', () => {
  it('is skipped with --skip-callback-test, and named if it fails', async () => {
    onlyInLongForm()
    const sandbox = await withSandbox()
    const folder = createTemporaryFolder()
    const source = writeSource(folder, 'posts.csv', createRows(2))
    const options = { workspace: join(folder, 'workspace'), env: { SLUICE_API_KEY: sandbox.key } }
    // Nothing forwards from this address to the receiver.
    const send = ['task', source, '--async', '--base-url', sandbox.baseUrl, '--callback-url', sandbox.baseUrl]
    const tested = await runInProcess(send, options)
    expect(tested.code).toBe(2)
    expect(tested.stderr).toContain('To send without the test, add --skip-callback-test.')
    const args = ['--skip-callback-test', '--callback-timeout', '100ms', '--json']
    const sent = await runInProcess([...send, ...args], options)
    expect(JSON.parse(sent.stdout)).toMatchObject({ rows: { read: 2, overdue: 2 } })
  })
})
