import { readFileSync, symlinkSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { onlyInLongForm } from '../../helpers/long-form.ts'
import { withSandbox } from '../../helpers/sandbox.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { runInProcess } from './run-in-process.ts'
import { createRows, writeSource } from './write-source.ts'

describe('looking back', () => {
  it('lists, shows, exports and deletes runs', async () => {
    onlyInLongForm()
    const folder = createTemporaryFolder()
    const workspace = join(folder, 'workspace')
    const sandbox = await withSandbox()
    const env = { SLUICE_API_KEY: sandbox.key }
    const source = writeSource(folder, 'posts.csv', `${createRows(5)}p_6,u1,invalid\n`)
    const sluice = (...args: string[]) => runInProcess(args, { workspace, env })
    const ran = await sluice('task', source, '--base-url', sandbox.baseUrl, '--name', 'First', '--json')
    const { run_id: runId } = JSON.parse(ran.stdout)
    await sluice('task', source, '--base-url', sandbox.baseUrl, '--name', 'Second', '--json', '--quiet')

    const runs = JSON.parse((await sluice('runs', '--json')).stdout)
    expect(runs.map((run: { name: string }) => run.name)).toEqual(['Second', 'First'])
    expect(runs[1]).toEqual(JSON.parse(ran.stdout))
    const table = (await sluice('runs')).stdout.split('\n')
    expect(table[0]).toMatch(/^RUN +NAME +STATE +ROWS +OK/)
    expect(table[1]).toContain('Second')

    const shown = await sluice('show', runId, '--json')
    expect(JSON.parse(shown.stdout)).toEqual(JSON.parse(ran.stdout))
    const row = JSON.parse((await sluice('show', runId, '--row', '4', '--json')).stdout)
    expect(JSON.parse(row.request_body)).toEqual({ post_id: 'p3', user_id: 'u2', text_data: 'Text number 3' })
    expect((await sluice('show', runId, '--row', '4')).stdout).toContain('Text number 3')
    expect((await sluice('show', runId, '--problems')).stdout).toMatch(
      /1 row {2}post_id: .+\n +row 7: found `p_6`/,
    )

    const file = join(folder, 'results.csv')
    expect((await sluice('export', runId, file)).stdout).toContain(file)
    const lines = readFileSync(file, 'utf8').trimEnd().split('\r\n')
    expect(lines[0]).toMatch(/^\ufeffpost_id,user_id,text_data,sluice_row,sluice_state,/)
    expect(lines).toHaveLength(7)
    const failed = join(folder, 'failed.jsonl')
    await sluice('export', runId, failed, '--state', 'invalid', '--json')
    expect(readFileSync(failed, 'utf8').trimEnd().split('\n')).toHaveLength(1)
    await sluice('export', runId, failed, '--state', 'unsuccessful')
    const states = readFileSync(failed, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).state)
    expect(states).toEqual(['invalid'])
    const succeeded = join(folder, 'succeeded.jsonl')
    const both = await sluice('export', runId, succeeded, '--errors', failed, '--json')
    expect(JSON.parse(both.stdout)).toMatchObject({
      file: succeeded,
      rows: 5,
      rows_in_neither: 0,
      errors: { file: failed, rows: 1 },
    })
    expect((await sluice('export', runId, succeeded, '--errors', failed)).stdout).toMatch(
      /^succeeded: 5 rows in .*\ndid not succeed: 1 row in .*\n$/,
    )
    const linked = join(folder, 'linked.jsonl')
    symlinkSync(basename(succeeded), linked)
    for (const others of [
      ['--errors', linked],
      ['--state', 'failed'],
      ['--errors', succeeded],
      ['--errors', join(dirname(succeeded), basename(succeeded).toUpperCase())],
    ]) {
      expect(await sluice('export', runId, succeeded, '--errors', failed, ...others)).toMatchObject({
        code: 2,
      })
    }
    const unknownEnding = await sluice('export', runId, join(folder, 'results.doc'))
    expect(unknownEnding).toMatchObject({ code: 2, stdout: '' })
    expect(unknownEnding.stderr).toMatch(/\.csv.*\.jsonl/s)

    const unasked = await sluice('delete', runId)
    expect(unasked.code).toBe(2)
    expect(unasked.stderr).toContain('--yes')
    expect((await sluice('delete', runId, '--yes')).code).toBe(0)
    expect((await sluice('show', runId)).code).toBe(2)
    expect(JSON.parse((await sluice('runs', '--json')).stdout)).toHaveLength(1)
  })

  it('finds a run by the beginning of its id, unless several ids begin with it', async () => {
    const folder = createTemporaryFolder()
    const sandbox = await withSandbox()
    const source = writeSource(folder, 'posts.csv', createRows(1))
    const sluice = (...args: string[]) =>
      runInProcess(args, { workspace: folder, env: { SLUICE_API_KEY: sandbox.key } })
    const ran = await sluice('task', source, '--base-url', sandbox.baseUrl, '--json')
    const { run_id: runId } = JSON.parse(ran.stdout)
    const shown = await sluice('show', runId.slice(0, -1), '--json')
    expect(JSON.parse(shown.stdout).run_id).toBe(runId)
    await sluice('retry', runId)
  })
})

describe('retry', () => {
  it('sends only what did not succeed again, in the run itself, with the same post_ids and bodies', async () => {
    const folder = createTemporaryFolder()
    const sandbox = await withSandbox({ faults: ['422=40%,tries=1'], seed: 'retry' })
    const env = { SLUICE_API_KEY: sandbox.key }
    const source = writeSource(folder, 'posts.csv', createRows(40))
    const ran = await runInProcess(['task', source, '--base-url', sandbox.baseUrl, '--json'], {
      workspace: folder,
      env,
    })
    const parent = JSON.parse(ran.stdout)
    expect(ran.code).toBe(1)
    const { rejected, not_sent: notSent } = parent.rows
    expect(rejected).toBeGreaterThan(0)
    const retried = await runInProcess(['retry', parent.run_id, '--json'], { workspace: folder, env })
    expect(retried.code).toBe(0)
    expect(JSON.parse(retried.stdout)).toMatchObject({
      run_id: parent.run_id,
      parent_run_id: null,
      whole_run: null,
      retries: [],
      state: 'completed',
      rows: { read: 40, succeeded: 40 },
      sessions: [
        { number: 1, kind: 'start', rows_taken: 0, requests: { sent: 40 - notSent, rejected } },
        {
          number: 2,
          kind: 'retry',
          rows_taken: rejected,
          requests: { succeeded: rejected + notSent, rejected: 0 },
        },
      ],
    })
    const stats = await sandbox.stats()
    expect(stats.tasks).toBe(40)
    expect(stats.outcomes['accepted']).toBe(40)
  })
})
