import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { startFaultServer, toErrorAnswer, toTaskAnswer } from '../../helpers/fault-server.ts'
import { onlyInLongForm } from '../../helpers/long-form.ts'
import { withSandbox } from '../../helpers/sandbox.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { runInProcess } from './run-in-process.ts'
import { spawnSluice } from './spawn-sluice.ts'
import { createRows, writeSource } from './write-source.ts'

async function open() {
  const sandbox = await withSandbox()
  const folder = createTemporaryFolder()
  const sluice = (...args: string[]) =>
    runInProcess(args, { workspace: join(folder, 'workspace'), env: { SLUICE_API_KEY: sandbox.key } })
  return { sandbox, folder, sluice, to: ['--base-url', sandbox.baseUrl] }
}

describe('--limit', () => {
  it('sends the first rows that can be sent, and names the command that sends the rest', async () => {
    const { sandbox, folder, sluice, to } = await open()
    const source = writeSource(folder, 'posts.csv', `${createRows(6)}p1,u1,a repeated id\n`)
    const tried = await sluice('task', source, ...to, '--limit', '2')
    expect((await sandbox.stats()).tasks).toBe(2)
    expect(tried.stdout).toContain('trial of the first 2 rows')
    expect(tried.stdout).toMatch(/sluice -- resume \S+ +send the remaining rows/)
    // As without a limit, an invalid row counts as unsuccessful.
    expect(tried.code).toBe(1)
    const rest = await sluice('resume', 'latest', '--json')
    expect(JSON.parse(rest.stdout).rows).toMatchObject({ read: 7, succeeded: 6, invalid: 1, not_sent: 0 })
    expect((await sandbox.stats()).tasks).toBe(6)
  })

  it('is kept by the resume of a trial that was killed', async () => {
    const folder = createTemporaryFolder()
    let kill = () => {}
    const server = await startFaultServer({
      onRequest: (request, wire) => {
        if (request.number === 3) kill()
        else wire.send(200, toTaskAnswer(request))
      },
    })
    const source = writeSource(folder, 'posts.csv', createRows(8))
    const options = { workspace: join(folder, 'workspace'), env: { SLUICE_API_KEY: 'a-key' } }
    const to = ['--base-url', server.baseUrl, '--concurrency', '1', '--limit', '5']
    await spawnSluice(['task', source, ...to], {
      ...options,
      onStart: (child) => {
        kill = () => child.kill('SIGKILL')
      },
    })
    const killed = await runInProcess(['show', 'latest'], options)
    expect(killed.stdout).toMatch(/sluice -- resume \S+ +send the remaining rows of the trial/)
    const trial = JSON.parse((await runInProcess(['resume', 'latest', '--json'], options)).stdout)
    expect(trial).toMatchObject({ state: 'completed', rows: { read: 8, not_sent: 3 } })
    expect(trial.sessions).toMatchObject([{ trial_rows: 5 }, { trial_rows: 5 }])
    expect(server.requests).toHaveLength(5)
    const rest = JSON.parse((await runInProcess(['resume', 'latest', '--json'], options)).stdout)
    expect(rest).toMatchObject({ state: 'completed', rows: { not_sent: 0 } })
    expect(server.requests).toHaveLength(8)
  })

  it('leaves rows that a retry sends, too, and says so before', async () => {
    const folder = createTemporaryFolder()
    const server = await startFaultServer({
      onRequest: (request, wire) =>
        request.number === 1
          ? wire.send(400, toErrorAnswer(400, 'INVALID', 'no'))
          : wire.send(200, toTaskAnswer(request)),
    })
    const source = writeSource(folder, 'posts.csv', createRows(5))
    const sluice = (...args: string[]) =>
      runInProcess(args, { workspace: join(folder, 'workspace'), env: { SLUICE_API_KEY: 'a-key' } })
    await sluice('task', source, '--base-url', server.baseUrl, '--limit', '2', '--concurrency', '1')
    const retried = await sluice('retry', 'latest', '--json', '--quiet')
    expect(retried.stderr).toContain('Also sends the 3 rows that the trial left.')
    expect(JSON.parse(retried.stdout).rows).toMatchObject({ succeeded: 5, not_sent: 0 })
    expect((await sluice('retry', 'latest', '--json')).stderr).not.toContain('trial')
  })

  it('exits with 0 if every row of the trial succeeded, and says on stderr with --json how to continue', async () => {
    onlyInLongForm()
    const { folder, sluice, to } = await open()
    const source = writeSource(folder, 'posts.csv', createRows(4))
    const tried = await sluice('task', source, ...to, '--limit', '1', '--json', '--async')
    expect(tried.code).toBe(0)
    expect(JSON.parse(tried.stdout)).toMatchObject({
      state: 'completed',
      rows: { succeeded: 1, not_sent: 3, awaiting: 0 },
    })
    expect(tried.stderr).toMatch(/To send the remaining rows, run: .*resume /)
  })

  it('counts rows, not requests, if one request carries several', async () => {
    onlyInLongForm()
    const { folder, sluice, to } = await open()
    const source = writeSource(folder, 'terms.csv', 'term\na\nb\nc\nd\ne\n')
    const add = (...more: string[]) =>
      sluice(
        'watchlist',
        'add',
        source,
        '--watchlist',
        'sandbox_terms',
        '--terms-per-request',
        '2',
        ...to,
        ...more,
      )
    const tried = JSON.parse((await add('--limit', '3', '--json')).stdout)
    expect(tried).toMatchObject({ rows: { succeeded: 3, not_sent: 2 }, requests: { sent: 2 } })
  })

  it('is an ordinary run if there are no more rows', async () => {
    onlyInLongForm()
    const { folder, sluice, to } = await open()
    const source = writeSource(folder, 'posts.csv', createRows(2))
    const sent = await sluice('task', source, ...to, '--limit', '2')
    expect([sent.code, sent.stdout]).toEqual([0, expect.not.stringContaining('trial')])
  })

  it('is refused for load tests', async () => {
    onlyInLongForm()
    const { folder, sluice, to } = await open()
    const source = writeSource(folder, 'posts.csv', createRows(2))
    const plan = join(folder, 'load.plan.json')
    const load = ['load', source, ...to, '--concurrency', '1', '--duration', '1s', '--dry-run']
    expect((await sluice(...load, '--save-plan', plan)).code).toBe(0)
    const refused = await sluice('plan', plan, '--trust-plan', '--limit', '2')
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('--limit')])
  })
})
