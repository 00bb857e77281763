import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { onlyInLongForm } from '../../helpers/long-form.ts'
import { withSandbox } from '../../helpers/sandbox.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { writeRun } from '../../helpers/write-run.ts'
import { runInProcess } from './run-in-process.ts'
import { createRows, writeSource } from './write-source.ts'

/** A workspace with runs that were never sent, and a function to query them. */
function openWorkspace(runIds: readonly string[]) {
  const workspace = createTemporaryFolder()
  for (const runId of runIds) writeRun(workspace, { runId, createdAtMs: 1_000_000 })
  const sluice = (args: readonly string[], ask?: (question: string) => boolean) =>
    runInProcess(args, { workspace, ...(ask === undefined ? {} : { ask }) })
  return { workspace, sluice }
}

async function readIds(sluice: ReturnType<typeof openWorkspace>['sluice'], ...args: string[]) {
  const { stdout } = await sluice(['runs', '--json', ...args])
  return JSON.parse(stdout).map((run: { run_id: string }) => run.run_id)
}

describe('runs', () => {
  it('names, tags and annotates a run, finds it by that, and undoes it', async () => {
    const { sluice } = openWorkspace(['run-1', 'run-2'])
    const edited = await sluice(['runs', 'edit', 'run-1', '--name', 'Ünïcode 🙂', '--tag', 'a', '--tag', 'b'])
    expect(edited).toMatchObject({ code: 0, stdout: 'Run run-1: Ünïcode 🙂; tags a, b\n' })
    const { stdout } = await sluice(['runs', 'edit', 'run-1', '--untag', 'b', '--note', 'odd', '--json'])
    expect(JSON.parse(stdout)).toMatchObject({
      run_id: 'run-1',
      name: 'Ünïcode 🙂',
      tags: ['a'],
      note: 'odd',
    })
    expect(await readIds(sluice, '--search', 'üNÏCODE odd')).toEqual(['run-1'])
    expect(await readIds(sluice, '--tag', 'b')).toEqual([])
    expect((await sluice(['show', 'run-1'])).stdout).toMatch(/Ünïcode 🙂.*tags: a\nnote: odd\n/s)
    await sluice(['runs', 'edit', 'run-1', '--name', '', '--note', '', '--untag', 'a'])
    const [, shown] = JSON.parse((await sluice(['runs', '--json'])).stdout)
    expect(shown).toMatchObject({ run_id: 'run-1', name: 'run-1' })
    expect(shown).not.toHaveProperty('tags')
    expect(shown).not.toHaveProperty('note')
  })

  it('refuses tags that cannot be named again, and an edit of nothing', async () => {
    const { sluice } = openWorkspace(['run-1'])
    for (const tag of ['', ' a', 'a,b', 'a\nb', 'x'.repeat(65)]) {
      const { code, stderr } = await sluice(['runs', 'edit', 'run-1', '--tag', tag])
      expect(code).toBe(2)
      expect(stderr).toContain('tag')
    }
    expect(await sluice(['runs', 'edit', 'run-1'])).toMatchObject({ code: 2 })
  })

  it('comes in pages, and says how to get the next', async () => {
    const { sluice } = openWorkspace(['run-1', 'run-2', 'run-3'])
    const first = await sluice(['runs', '--limit', '2'])
    expect(first.stdout.trimEnd().split('\n')).toHaveLength(3)
    expect(first.stderr).toContain('1 to 2 of 3 runs. For the next, add --page 2.')
    const last = await sluice(['runs', '--limit', '2', '--page', '2'])
    expect(last.stdout).toContain('run-1')
    expect(last.stderr).toContain('3 to 3 of 3 runs.')
    expect((await sluice(['runs', '--page', '9'])).stdout).toContain('Page 9 is empty: 3 runs in total.')
    expect((await sluice(['runs', '--search', 'none'])).stdout).toContain('3 runs')
    expect(await readIds(sluice)).toHaveLength(3)
  })

  it('accepts dates and ages, and refuses anything else', async () => {
    const { sluice } = openWorkspace(['run-1'])
    expect(await readIds(sluice, '--until', '1970-01-02')).toEqual(['run-1'])
    expect(await readIds(sluice, '--since', '7d')).toEqual([])
    for (const since of ['2026-02-30', 'yesterday', '']) {
      expect(await sluice(['runs', '--since', since])).toMatchObject({ code: 2 })
    }
    expect(await sluice(['runs', '--state', 'finished'])).toMatchObject({ code: 2 })
  })

  it('lists with --failed only runs in which something went wrong', async () => {
    const { workspace, sluice } = openWorkspace(['run-1', 'run-2'])
    writeRun(workspace, { runId: 'run-3', state: 'stopped' })
    expect(await readIds(sluice, '--failed')).toEqual(['run-3'])
  })

  it('finds failed load tests by a state of their own, and not as completed', async () => {
    const { workspace, sluice } = openWorkspace(['run-1'])
    const load = async (failed: number, isCrossed: boolean) => {
      const metrics = {
        http_reqs: { count: 5, rate: 1 },
        http_req_failed: { passes: failed, fails: 5 - failed, value: failed / 5 },
        http_req_duration: { avg: 5, thresholds: { 'avg<9': isCrossed } },
      }
      const file = join(workspace, 'summary.json')
      writeFileSync(file, JSON.stringify({ root_group: {}, metrics }))
      return JSON.parse((await sluice(['import-k6', file, '--json'])).stdout).run_id
    }
    const [held, crossed, none] = [await load(0, false), await load(0, true), await load(5, false)]
    expect(await readIds(sluice, '--state', 'completed')).toEqual(['run-1', held])
    expect(await readIds(sluice, '--state', 'threshold-failed')).toEqual([crossed])
    expect(await readIds(sluice, '--state', 'no-success', '--state', 'running')).toEqual([none])
    expect(await readIds(sluice)).toEqual(['run-1', none, crossed, held])
    const { stdout } = await sluice(['runs'])
    for (const [id, state] of [
      [none, 'no success'],
      [crossed, 'threshold failed'],
      [held, 'completed'],
    ])
      expect(stdout).toMatch(new RegExp(`${id} .*summary\\.json +${state} `))
  })
})

describe('runs prune', () => {
  it('lists what it would delete, asks, and deletes by stored limits', async () => {
    const { sluice } = openWorkspace(['run-1', 'run-2'])
    expect((await sluice(['runs', 'prune'])).stderr).toContain('--older-than')
    await sluice(['runs', 'retention', '--older-than', '30d', '--keep-below', '10GB'])
    expect((await sluice(['runs', 'retention'])).stdout).toContain('older than 30 days')
    const trial = await sluice(['runs', 'prune', '--dry-run'])
    expect(trial.stdout).toMatch(/run-1 .*too old.*\nWould delete 2 runs/s)
    expect(await sluice(['runs', 'prune'])).toMatchObject({ code: 2 })
    expect((await sluice(['runs', 'prune'], () => false)).stderr).toContain('Nothing was deleted.')
    expect(await readIds(sluice)).toHaveLength(2)
    const { stdout } = await sluice(['runs', 'prune', '--yes', '--json'])
    expect(JSON.parse(stdout)).toMatchObject({
      dry_run: false,
      deleted: [{ run_id: 'run-1', reason: 'age' }, { run_id: 'run-2' }],
      kept: { running: 0, protected: 0 },
    })
    expect(await readIds(sluice)).toEqual([])
    expect((await sluice(['runs', 'retention', '--off'])).stdout).toContain('No limits')
  })
})

describe('wipe', () => {
  it('asks first, and leaves an empty workspace', async () => {
    const { workspace, sluice } = openWorkspace(['run-1', 'run-2'])
    expect(await sluice(['wipe'])).toMatchObject({ code: 2, stderr: expect.stringContaining('--yes') })
    const questions: string[] = []
    await sluice(['wipe'], (question) => questions.push(question) === 0)
    expect(questions).toEqual([expect.stringContaining('Delete 2 runs')])
    expect(await readIds(sluice)).toHaveLength(2)
    const { stdout } = await sluice(['wipe', '--yes', '--json'])
    expect(JSON.parse(stdout)).toMatchObject({ workspace, deleted_runs: 2 })
    expect(await sluice(['wipe', '--yes'])).toMatchObject({
      stdout: expect.stringContaining('Connections, settings and saved mappings are kept.'),
    })
    expect(readdirSync(join(workspace, 'runs'))).toEqual([])
    expect(existsSync(join(workspace, 'catalogue'))).toBe(false)
  })
})

describe('run-again', () => {
  it("keeps the source's post_ids even for a run that had new ones, or refuses to", async () => {
    const workspace = createTemporaryFolder()
    const sandbox = await withSandbox()
    const sluice = (...args: string[]) =>
      runInProcess(args, { workspace, env: { SLUICE_API_KEY: sandbox.key } })
    const source = writeSource(workspace, 'posts.csv', 'post_id,user_id,text_data\np1,u1,hello\n')
    const again = async (...args: string[]) => {
      const { stdout } = await sluice(
        'run-again',
        'latest',
        '--keep-post-ids',
        '--dry-run',
        '--json',
        ...args,
      )
      return JSON.parse(stdout).first_request.body.post_id
    }
    await sluice('task', source, '--base-url', sandbox.baseUrl)
    await sluice('run-again', 'latest')
    expect(await again()).toBe('p1')
    await sluice('task', source, '--set', 'post_id={{run}}-{{user_id}}', '--base-url', sandbox.baseUrl)
    expect(await sluice('run-again', 'latest', '--keep-post-ids')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('sent post_ids of its own, not those of the source'),
    })
  })

  it('sends the same plan with new post_ids, and says whether the source has changed', async () => {
    onlyInLongForm()
    const workspace = createTemporaryFolder()
    const sandbox = await withSandbox()
    const env = { SLUICE_API_KEY: sandbox.key }
    const sluice = (...args: string[]) => runInProcess(args, { workspace, env })
    const source = writeSource(workspace, 'posts.csv', createRows(3))
    const ran = await sluice('task', source, '--base-url', sandbox.baseUrl, '--name', 'Posts', '--json')
    const first = JSON.parse(ran.stdout)

    const again = await sluice('run-again', 'latest', '--if-unchanged', '--json')
    expect(again).toMatchObject({ code: 0, stderr: expect.stringContaining('is the same as in run') })
    const second = JSON.parse(again.stdout)
    expect(second).toMatchObject({ name: 'Posts', rows: { read: 3, succeeded: 3 } })
    expect(second.run_id).not.toBe(first.run_id)
    expect(second).toMatchObject({ parent_run_id: null, retries: [] })
    const row = JSON.parse((await sluice('show', second.run_id, '--row', '3', '--json')).stdout)
    expect(JSON.parse(row.request_body)).toMatchObject({ post_id: `${second.run_id}-2` })

    writeSource(workspace, 'posts.csv', createRows(4))
    const refused = await sluice('run-again', first.run_id, '--if-unchanged')
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('has changed since run') })
    const third = await sluice('run-again', first.run_id, '--name', 'Longer', '--rate', '500', '--json')
    expect(third.stderr).toContain('has changed since run')
    expect(JSON.parse(third.stdout)).toMatchObject({ name: 'Longer', rows: { succeeded: 4 } })
    const kept = await sluice('run-again', first.run_id, '--keep-post-ids', '--json')
    expect(JSON.parse(kept.stdout).errors[0]).toMatchObject({ error_code: 'DUPLICATE_POST_ID' })

    rmSync(source)
    expect(await sluice('run-again', 'latest')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('does not exist'),
    })
    writeFileSync(join(workspace, 'other.csv'), 'text_data,user_id\nhello,u1\n')
    const other = await sluice('run-again', 'latest', '--source', join(workspace, 'other.csv'), '--json')
    expect(JSON.parse(other.stdout)).toMatchObject({ rows: { read: 1, succeeded: 1 } })
  })
})
