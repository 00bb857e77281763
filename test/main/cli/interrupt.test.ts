import { once } from 'node:events'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { withEngine } from '../../../src/main/cli/engine-access.ts'
import { createEngine, type Engine } from '../../../src/main/engine/engine.ts'
import { ReaderPool, readRunFamily } from '../../../src/main/engine/journal/run-family.ts'
import { RowFindings, STORED_FROM_ROWS } from '../../../src/main/engine/run/results/row-findings.ts'
import { toJournalFile } from '../../../src/main/engine/workspace/workspace-files.ts'
import { EXIT } from '../../../src/shared/messages/error-entry.ts'
import { onlyInLongForm } from '../../helpers/long-form.ts'
import { withSandbox } from '../../helpers/sandbox.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { waitFor } from '../../helpers/wait-for.ts'
import { createKeptContext } from './run-in-process.ts'
import { spawnSluice } from './spawn-sluice.ts'
import { createRows, writeSource } from './write-source.ts'

/** Waits until the sandbox has accepted that many tasks. */
async function untilTaken(sandbox: { stats(): Promise<{ tasks: number }> }, count: number): Promise<void> {
  const look = async () => expect((await sandbox.stats()).tasks).toBeGreaterThanOrEqual(count)
  await waitFor(look, { timeout: 20_000, interval: 5 })
}

describe('Ctrl-C', () => {
  it('lets requests in flight end, keeps the rest, exits with 130, and the run can be resumed', async () => {
    const folder = createTemporaryFolder()
    const sandbox = await withSandbox({ latency: '50ms' })
    const env = { SLUICE_API_KEY: sandbox.key }
    const source = writeSource(folder, 'posts.csv', createRows(60))
    const stopped = await spawnSluice(['task', source, '--base-url', sandbox.baseUrl, '--json'], {
      workspace: folder,
      env,
      onStart: (child) => void untilTaken(sandbox, 8).then(() => child.kill('SIGINT')),
    })
    expect(stopped.code).toBe(130)
    expect(stopped.stderr).toMatch(/Stopping: .* in flight/)
    const summary = JSON.parse(stopped.stdout)
    expect(summary.state).toBe('interrupted')
    expect(summary.rows.succeeded + summary.rows.not_sent).toBe(60)
    expect(summary.rows.not_sent).toBeGreaterThan(0)
    expect(stopped.stderr).toContain(`resume ${summary.run_id}`)
    expect((await sandbox.stats()).tasks).toBe(summary.rows.succeeded)

    sandbox.behave({ latency: '0ms' })
    const resumed = await spawnSluice(['resume', 'latest', '--json'], { workspace: folder, env })
    expect(resumed.code).toBe(0)
    expect(JSON.parse(resumed.stdout)).toMatchObject({
      run_id: summary.run_id,
      state: 'completed',
      rows: { read: 60, succeeded: 60 },
    })
    expect(await sandbox.stats()).toMatchObject({ requests: 60, tasks: 60, outcomes: { accepted: 60 } })
  })

  it('names no request in flight if only callbacks are awaited', async () => {
    const folder = createTemporaryFolder()
    const sandbox = await withSandbox({ callbacks: 'delay=60s' })
    const source = writeSource(folder, 'posts.csv', createRows(2))
    const args = ['task', source, '--async', '--base-url', sandbox.baseUrl, '--progress', 'json']
    const stopped = await spawnSluice(args, {
      workspace: folder,
      env: { SLUICE_API_KEY: sandbox.key },
      onStderr: (text, child) => {
        if (text.includes('"phase":"awaiting"') && !text.includes('Stopping')) child.kill('SIGINT')
      },
    })
    expect(stopped.stderr).toContain('"Stopping. 2 callbacks outstanding; resume waits for them. Press')
  })

  it('pressed a second time leaves at once, and rows in flight are unknown, never lost', async () => {
    onlyInLongForm()
    const folder = createTemporaryFolder()
    const sandbox = await withSandbox({ latency: '60s' })
    const env = { SLUICE_API_KEY: sandbox.key }
    const source = writeSource(folder, 'posts.csv', createRows(20))
    const left = await spawnSluice(['task', source, '--base-url', sandbox.baseUrl, '--progress', 'json'], {
      workspace: folder,
      env,
      onStderr: (text, child) => {
        if (text.includes('Stopping')) child.kill('SIGINT')
        else if (text.includes('"in_flight":4')) child.kill('SIGTERM')
      },
    })
    expect(left.code).toBe(130)
    expect(left.stderr).toContain('Stopping: waiting for 4 requests in flight.')
    expect(left.stderr).toContain('Quit at once. The outcome of 4 requests in flight is unknown.')

    sandbox.behave({ latency: '0ms' })
    const others = await spawnSluice(['resume', 'latest', '--json'], { workspace: folder, env })
    expect(JSON.parse(others.stdout).rows).toMatchObject({ succeeded: 16, unknown: 4 })
    expect(others.stderr).toContain(
      '4 rows with an unknown outcome were left alone. Add --on-unknown resend to send them again.',
    )

    const resend = ['resume', 'latest', '--on-unknown', 'resend', '--json']
    const resumed = await spawnSluice(resend, { workspace: folder, env })
    const { rows } = JSON.parse(resumed.stdout)
    expect(rows.succeeded + rows.rejected).toBe(20)
    // The four were accepted before the process left: the service knows their post_ids.
    expect(rows.rejected).toBe(4)
    expect((await sandbox.stats()).tasks).toBe(20)
  })

  it("ends a command that has reported its run's end and only stores findings, with the run's exit code", async () => {
    const closing = Promise.withResolvers<void>()
    const openEngine = async (workspace: string): Promise<Engine> => {
      const engine = createEngine({ workspace })
      const close: Engine['close'] = async ({ signal = expect.fail('no signal') } = {}) => {
        closing.resolve()
        await once(signal, 'abort')
        await engine.close({ signal })
      }
      return { ...engine, close }
    }
    const { context } = createKeptContext({ openEngine })
    const folder = createTemporaryFolder()
    const others = process.listeners('SIGHUP')
    const ended = withEngine(context, folder, async () => EXIT.rowsFailed)
    await closing.promise
    // Other listeners in this process, such as a library that ends its browsers, would end the test.
    for (const listener of process.listeners('SIGHUP')) if (!others.includes(listener)) listener('SIGHUP')
    expect(await ended).toBe(EXIT.rowsFailed)
    expect(process.listeners('SIGHUP')).toEqual(others)
  })
})

describe('a run of the command line', () => {
  it('ends once its rows are stored by column, without a message', async () => {
    onlyInLongForm()
    const folder = createTemporaryFolder()
    const sandbox = await withSandbox()
    const source = writeSource(folder, 'posts.csv', createRows(STORED_FROM_ROWS))
    const file = join(folder, 'results.csv')
    const args = ['task', source, '--base-url', sandbox.baseUrl, '--json', '--export', file]
    const { code, stdout, stderr } = await spawnSluice(args, {
      workspace: join(folder, 'workspace'),
      env: { SLUICE_API_KEY: sandbox.key },
    })
    expect(code).toBe(0)
    const { run_id: runId } = JSON.parse(stdout)
    expect(stderr.trim().split('\n').at(-1)).toMatch(/^Exported to /)
    const pool = new ReaderPool()
    const family = readRunFamily(pool, toJournalFile(join(folder, 'workspace'), runId), () => false)
    expect(RowFindings.load(family ?? expect.fail('no run'))).not.toBeNull()
    pool.close()
  })
})
