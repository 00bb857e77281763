import { readdirSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { runSummarySchema } from '../../../src/shared/run/run.ts'
import { onlyInLongForm } from '../../helpers/long-form.ts'
import { withSandbox } from '../../helpers/sandbox.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { runInProcess } from './run-in-process.ts'
import { createRows, writeSource } from './write-source.ts'

describe('task', () => {
  it('submits every row, exits with 0, and says nothing but the summary', async () => {
    const folder = createTemporaryFolder()
    const sandbox = await withSandbox()
    const source = writeSource(folder, 'posts.csv', createRows(20))
    const result = await runInProcess(['task', source, '--base-url', sandbox.baseUrl], {
      workspace: folder,
      env: { SLUICE_API_KEY: sandbox.key },
    })
    expect(result).toMatchObject({ code: 0, stderr: '' })
    expect(result.stdout).toMatch(/read +20/)
    expect(result.stdout).toMatch(/succeeded +20 +100 %/)
    expect(result.stdout).toMatch(/http_req_duration/)
    expect(result.stdout).toMatch(/sluice(?: --)? export \S+ results\.csv/)
    expect(result.stdout).not.toContain(sandbox.key)
    expect((await sandbox.stats()).tasks).toBe(20)
  })

  it('prints exactly one document with --json, every row in one count', async () => {
    const folder = createTemporaryFolder()
    const sandbox = await withSandbox()
    const rows = `${createRows(8)}a_b,u1,forbidden character\np10,,no user\n`
    const source = writeSource(folder, 'posts.csv', rows)
    const result = await runInProcess(['task', source, '--base-url', sandbox.baseUrl, '--json'], {
      workspace: folder,
      env: { SLUICE_API_KEY: sandbox.key },
    })
    expect(result).toMatchObject({ code: 1, stderr: '' })
    const summary = runSummarySchema.parse(JSON.parse(result.stdout))
    expect(summary).toMatchObject({ state: 'completed', operation: 'task', mode: 'sync', api: 'v1' })
    const { read, ...counts } = summary.rows
    expect(read).toBe(10)
    expect(counts).toMatchObject({ succeeded: 8, invalid: 2 })
    expect(Object.values(counts).reduce((sum, count) => sum + count, 0)).toBe(read)
    expect(summary.latency_ms.http_req_duration?.count).toBe(8)
  })

  it('names triggered rules, from which the sample has several', async () => {
    onlyInLongForm()
    const folder = createTemporaryFolder()
    const sandbox = await withSandbox()
    const rows = 'user_id,text_data\nu1,sandbox:violence:3\nu2,Is the pool open?\nu3,sandbox:violence:2\n'
    const source = writeSource(folder, 'posts.csv', rows)
    const result = await runInProcess(['task', source, '--base-url', sandbox.baseUrl], {
      workspace: folder,
      env: { SLUICE_API_KEY: sandbox.key },
    })
    expect(result.code).toBe(0)
    expect(result.stdout).toMatch(/Violent content +2 +66\.7 %/)
  })

  it('fills fields from columns by number and name, and from templates', async () => {
    onlyInLongForm()
    const folder = createTemporaryFolder()
    const sandbox = await withSandbox()
    const source = writeSource(folder, 'posts.tsv', 'Who\tWhat\nann\tfirst\nbob\tsecond\n')
    const mapping = ['--map', 'text_data=2', '--map', 'user_id=Who', '--set', 'post_id={{Who}}-{{row}}']
    const result = await runInProcess(['task', source, '--base-url', sandbox.baseUrl, ...mapping, '--json'], {
      workspace: folder,
      env: { OTHER_KEY: sandbox.key, SLUICE_API_KEY: 'not-this-one' },
    })
    expect(result.code).toBe(1)
    const again = await runInProcess(
      ['task', source, '--base-url', sandbox.baseUrl, ...mapping, '--api-key-env', 'OTHER_KEY', '--json'],
      { workspace: folder, env: { OTHER_KEY: sandbox.key } },
    )
    expect(again).toMatchObject({ code: 0, stderr: '' })
    const requests = (await sandbox.tasks()).map((task) => task.request)
    expect(requests).toEqual([
      { post_id: 'ann-1', user_id: 'ann', text_data: 'first' },
      { post_id: 'bob-2', user_id: 'bob', text_data: 'second' },
    ])
  })

  it('exits with 2 if no row passes the checks, lists causes with examples, and sends nothing', async () => {
    const folder = createTemporaryFolder()
    const sandbox = await withSandbox()
    const rows = Array.from({ length: 15 }, (_, index) => `p_${index},u1,text`).join('\n')
    const source = writeSource(folder, 'posts.csv', `post_id,user_id,text_data\n${rows}\n`)
    const result = await runInProcess(['task', source, '--base-url', sandbox.baseUrl], {
      workspace: folder,
      env: { SLUICE_API_KEY: sandbox.key },
    })
    expect(result.code).toBe(2)
    expect(result.stdout).toContain('15 rows')
    expect(result.stdout).toContain('post_id: must not contain `_` or `;`\n      row 2: found `p_0`')
    expect(result.stdout).toContain('row 11: found')
    expect(result.stdout).not.toContain('row 12:')
    expect(result.stdout).toMatch(/and 5 rows more/)
    expect(result.stdout).toMatch(/show \S+ --problems/)
    const all = await runInProcess(['show', 'latest', '--problems'], { workspace: folder })
    expect(all.stdout).toContain('row 16, post_id: must not contain `_` or `;`, found `p_14`')
    expect((await sandbox.stats()).requests).toBe(0)
  })
})

describe('task --dry-run', () => {
  it('checks everything, shows the first request, sends nothing and keeps nothing, without a key', async () => {
    const folder = createTemporaryFolder()
    const sandbox = await withSandbox()
    const source = writeSource(folder, 'posts.csv', `post_id,user_id,text_data\nb_1,u1,bad\n"p-2",u2,good\n`)
    const args = ['task', source, '--base-url', sandbox.baseUrl, '--dry-run']
    const result = await runInProcess(args, { workspace: folder })
    expect(result).toMatchObject({ code: 1, stderr: '' })
    expect(result.stdout).toContain('2 read, 1 can be sent, 1 invalid')
    expect(result.stdout).toContain('row 2: found `b_1`')
    expect(result.stdout).toContain(`POST ${sandbox.baseUrl}/api/v1/task/sync`)
    expect(result.stdout).toContain('"text_data": "good"')
    const json = await runInProcess([...args, '--json'], { workspace: folder })
    expect(JSON.parse(json.stdout)).toMatchObject({
      dry_run: true,
      rows: { read: 2, invalid: 1, sendable: 1 },
      first_request: { row: 3, record: 2, body: { post_id: 'p-2', user_id: 'u2', text_data: 'good' } },
    })
    expect((await sandbox.stats()).requests).toBe(0)
    const runs = await runInProcess(['runs', '--json'], { workspace: folder })
    expect(JSON.parse(runs.stdout)).toEqual([])
    expect(readdirSync(folder, { recursive: true }).join('\n')).not.toMatch(/\.(db|sqlite)/)
  })

  it('shows the first request with every digit that will be sent', async () => {
    onlyInLongForm()
    const folder = createTemporaryFolder()
    const source = writeSource(
      folder,
      'long.csv',
      'user_id,text_data,content_metadata\nu1,x,"{""id"":12345678901234567890,""ratio"":1.50}"\n',
    )
    const args = ['task', source, '--base-url', 'http://127.0.0.1:9', '--dry-run']
    const result = await runInProcess(args, { workspace: folder })
    expect(result.stdout).toContain('"id": 12345678901234567890')
    const json = await runInProcess([...args, '--json'], { workspace: folder })
    expect(json.stdout).toContain('"id": 12345678901234567890')
    expect(JSON.parse(json.stdout)).toMatchObject({ first_request: { body: { text_data: 'x' } } })
  })
})
