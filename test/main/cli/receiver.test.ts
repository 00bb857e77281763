import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Worker } from 'node:worker_threads'
import { describe, expect, it, onTestFinished } from 'vitest'
import { onlyInLongForm } from '../../helpers/long-form.ts'
import { withSandbox } from '../../helpers/sandbox.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { waitFor } from '../../helpers/wait-for.ts'
import { runInProcess } from './run-in-process.ts'
import { spawnSluice } from './spawn-sluice.ts'
import { createRows, writeSource } from './write-source.ts'

describe('receiver', () => {
  it('takes callbacks that come after their run has ended, and shows counts and refusals, until Ctrl-C', async () => {
    const folder = createTemporaryFolder()
    const workspace = join(folder, 'workspace')
    const sandbox = await withSandbox({ callbacks: 'delay=60s' })
    const env = { SLUICE_API_KEY: sandbox.key }
    const source = writeSource(folder, 'posts.csv', createRows(4))
    const ran = await runInProcess(
      ['task', source, '--async', '--callback-timeout', '50ms', '--base-url', sandbox.baseUrl, '--json'],
      { workspace, env },
    )
    expect(JSON.parse(ran.stdout).rows).toMatchObject({ overdue: 4, succeeded: 0 })

    let isAsked = false
    let isForged = false
    const received = await spawnSluice(['receiver'], {
      workspace,
      onStdout: (text) => {
        const [baseUrl] = /http:\S+/.exec(text) ?? []
        if (baseUrl === undefined || isForged) return
        isForged = true
        // An address that nobody was given is refused; those of the run are taken.
        void fetch(`${baseUrl}/callback/run/1/forged`, { method: 'POST', body: '{}' }).then(() =>
          sandbox.sendPendingCallbacks(),
        )
      },
      onStderr: (text, child) => {
        if (isAsked || !/4 callbacks received, 1 refused \(1 forged\)/.test(text)) return
        isAsked = true
        child.kill('SIGINT')
      },
    })
    expect(received.code).toBe(0)
    expect(received.stdout).toMatch(/Receiver +http:\/\/127\.0\.0\.1:\d+ +\(Ctrl-C stops it\)/)
    expect(received.stderr).toContain('Closed: 4 callbacks received, 1 refused (1 forged).')

    const shown = await runInProcess(['show', 'latest', '--json'], { workspace })
    expect(JSON.parse(shown.stdout)).toMatchObject({
      rows: { succeeded: 4, overdue: 0 },
      callbacks: { settled: 4, late: 4 },
    })
  })

  it('restarts if it crashes during a run, which says so and loses nothing', async () => {
    onlyInLongForm()
    const workspace = createTemporaryFolder()
    const sandbox = await withSandbox({ callbacks: 'delay=60s' })
    const threads: Worker[] = []
    const keep = (thread: Worker) => void (thread.threadName === 'receiver' && threads.push(thread))
    process.on('worker', keep)
    onTestFinished(() => void process.off('worker', keep))
    const running = runInProcess(
      ['task', writeSource(workspace, 'posts.csv', createRows(4)), '--async', '--base-url', sandbox.baseUrl],
      { workspace, env: { SLUICE_API_KEY: sandbox.key } },
    )
    await waitFor(async () => expect(await sandbox.callbacks('pending')).toHaveLength(4), {
      timeout: 10_000,
    })
    await threads[0]?.terminate()
    const { port } = JSON.parse(readFileSync(join(workspace, 'receiver.json'), 'utf8'))
    await waitFor(async () => expect((await fetch(`http://127.0.0.1:${port}/`)).status).toBe(404), {
      timeout: 10_000,
    })
    expect(threads).toHaveLength(2)
    await sandbox.sendPendingCallbacks()
    const { code, stderr } = await running
    expect([code, stderr]).toEqual([0, expect.stringContaining('sluice: the callback receiver stopped: ')])
    expect(stderr).toContain('starts the receiver again at the same address')
  })

  it('test proves a public address, and says what is wrong with one that leads elsewhere', async () => {
    const workspace = createTemporaryFolder()
    const sandbox = await withSandbox()
    const wrong = await runInProcess(['receiver', 'test', '--callback-url', sandbox.baseUrl, '--json'], {
      workspace,
    })
    expect(wrong.code).toBe(2)
    expect(JSON.parse(wrong.stdout)).toMatchObject({ error: { code: 'RECEIVER_UNAVAILABLE' } })
    expect(wrong.stderr).toMatch(/answered 404/)
    const { port } = JSON.parse(readFileSync(join(workspace, 'receiver.json'), 'utf8'))
    const right = [
      'receiver',
      'test',
      '--callback-url',
      `http://localhost:${port}`,
      '--callback-host',
      '127.0.0.1',
    ]
    const result = await runInProcess(right, { workspace })
    expect(result).toMatchObject({ code: 0, stderr: '' })
    expect(result.stdout).toMatch(
      new RegExp(`^A callback to http://localhost:${port} arrived at .* after [\\d.]+ m?s\\.`),
    )
  })

  it('test requires --callback-url', async () => {
    const result = await runInProcess(['receiver', 'test'], { workspace: createTemporaryFolder() })
    expect(result).toMatchObject({ code: 2, stdout: '' })
    expect(result.stderr).toContain('--callback-url')
  })
})
