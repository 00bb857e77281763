import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { runSummarySchema } from '../../../src/shared/run/run.ts'
import { startFaultServer } from '../../helpers/fault-server.ts'
import { onlyInLongForm } from '../../helpers/long-form.ts'
import { withSandbox } from '../../helpers/sandbox.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { runInProcess } from './run-in-process.ts'
import { createRows, writeSource } from './write-source.ts'

/** A sandbox, a folder, and the command line between them. */
async function openCommandLine(options: Parameters<typeof withSandbox>[0] = {}) {
  const folder = createTemporaryFolder()
  const sandbox = await withSandbox(options)
  const run = (args: readonly string[], key = sandbox.key) =>
    runInProcess(args, {
      workspace: join(folder, 'workspace'),
      env: key === '' ? {} : { SLUICE_API_KEY: key },
    })
  const send = (...args: string[]) => run([...args, '--base-url', sandbox.baseUrl])
  const sum = async (...args: string[]) => {
    const result = await send(...args, '--json')
    return { code: result.code, summary: runSummarySchema.parse(JSON.parse(result.stdout)) }
  }
  return { folder, sandbox, run, send, sum }
}

describe('task --async', () => {
  it('waits for every callback, and says how they came and how long they took', async () => {
    const { folder, sandbox, send, run } = await openCommandLine({ callbacks: 'delay=5ms,early=30%' })
    const source = writeSource(folder, 'posts.csv', createRows(20))
    const result = await send('task', source, '--async')
    expect(result.code).toBe(0)
    expect(result.stdout).toMatch(/task async v1/)
    expect(result.stdout).toMatch(/Callbacks +20 received: 20 matched \(\d+ before the acknowledgement\)/)
    expect(result.stdout).toMatch(/callback_latency +20 /)
    const { started_at, ended_at, throughput } = JSON.parse((await run(['show', 'latest', '--json'])).stdout)
    const wholeMs = Date.parse(ended_at) - Date.parse(started_at)
    const shown = /completed · ([\d.,]+) (ms|s)\n/.exec(result.stdout)
    const shownMs = Number(shown?.[1]) * (shown?.[2] === 's' ? 1000 : 1)
    expect(Math.abs(shownMs - Math.max(wholeMs, throughput.duration_s * 1000))).toBeLessThanOrEqual(51)
    const { callbacks } = await sandbox.stats()
    expect(callbacks).toMatchObject({ delivered: 20 })
    const row = await run(['show', 'latest', '--row', '3'])
    expect(row.stdout).toMatch(/Callbacks .*settled/)
    expect(row.stdout).toContain('"callback_url"')
  })

  it('marks rows as overdue if their callbacks do not come in time, exits with 1, and says what to do', async () => {
    const { folder, sum, run } = await openCommandLine({ callbacks: 'drop=100%' })
    const source = writeSource(folder, 'posts.csv', createRows(3))
    const { code, summary } = await sum('task', source, '--async', '--callback-timeout', '200ms')
    expect(code).toBe(1)
    expect(summary).toMatchObject({ mode: 'async', rows: { overdue: 3 }, callbacks: { received: 0 } })
    const shown = (await run(['show', 'latest'])).stdout
    expect(shown).toMatch(/overdue +3/)
    expect(shown).toMatch(/sluice -- receiver/)
  })

  it('takes several models in v2, at the second host', async () => {
    onlyInLongForm()
    const { folder, sandbox, sum } = await openCommandLine()
    const source = writeSource(folder, 'media.csv', 'post_id,user_id,url\np1,u1,https://example.com/a.jpg\n')
    const second = ['--task-base-url', sandbox.taskBaseUrl]
    const { code } = await sum(
      'task',
      source,
      '--api',
      'v2',
      '--model',
      'visual',
      '--model',
      'ocr',
      ...second,
    )
    expect(code).toBe(0)
    const [task] = await sandbox.tasks()
    expect(task?.request).toMatchObject({ models: ['visual', 'ocr'], url: 'https://example.com/a.jpg' })
  })

  it('says which options have no effect without callbacks', async () => {
    onlyInLongForm()
    const { folder, send } = await openCommandLine()
    const source = writeSource(folder, 'posts.csv', createRows(1))
    const result = await send('task', source, '--callback-url', 'https://hooks.test', '--dry-run')
    expect(result.code).toBe(0)
    expect(result.stderr).toContain('--callback-url has no effect without --async.')
  })
})

describe('index', () => {
  it('adds items, exports their ids, and removes them with that export unchanged', async () => {
    const { folder, sandbox, sum, run } = await openCommandLine({ callbacks: 'delay=2ms' })
    const lines = Array.from({ length: 12 }, (_, index) => `https://example.com/${index + 1}.jpg,red`)
    const source = writeSource(folder, 'items.csv', `url,metadata.colour\n${lines.join('\n')}\n`)
    const added = await sum('index', 'add', source, '--index', 'sandbox-index', '--async')
    expect(added.code).toBe(0)
    expect(added.summary).toMatchObject({ operation: 'index-add', items: { added: 12, removed: 0 } })
    expect(await sandbox.indexItems('sandbox-index')).toHaveLength(12)

    const file = join(folder, 'added.csv')
    expect((await run(['export', 'latest', file])).code).toBe(0)
    expect(readFileSync(file, 'utf8')).toContain('sluice_custom_index_item_id')
    const removed = await sum('index', 'remove', file, '--index', 'sandbox-index')
    expect(removed.code).toBe(0)
    expect(removed.summary.items).toEqual({ added: 0, removed: 12 })
    expect(await sandbox.indexItems('sandbox-index')).toEqual([])
    expect((await run(['show', 'latest'])).stdout).toMatch(/Items +removed 12/)
  })

  it('requires an index id', async () => {
    const { folder, send } = await openCommandLine()
    const result = await send('index', 'add', join(folder, 'items.csv'))
    expect(result).toMatchObject({ code: 2, stdout: '' })
    expect(result.stderr).toContain('--index')
  })
})

describe('watchlist', () => {
  it('adds terms, warns that notes are overwritten, and counts every outcome', async () => {
    onlyInLongForm()
    const { folder, send, sum } = await openCommandLine()
    const source = writeSource(folder, 'terms.csv', 'term,notes\ngift card,new\nNew Term,x\nother,\n')
    const list = ['--watchlist', 'sandbox_terms']
    const added = await send('watchlist', 'add', source, ...list)
    expect(added.code).toBe(0)
    expect(added.stderr).toContain('Existing notes of these terms will be overwritten')
    expect(added.stdout).toMatch(/Terms +added +2\n +pre-existing +1 /)

    const updates = writeSource(folder, 'updates.csv', 'term,notes\nnew term,y\nunheard of,z\n')
    const updated = await sum('watchlist', 'update', updates, ...list, '--terms-per-request', '1')
    expect(updated.code).toBe(1)
    expect(updated.summary).toMatchObject({
      terms: { added: 0, pre_existing: 0, updated: 1, non_existent: 1, failed: [] },
      requests: { sent: 2 },
    })
  })

  it('clears notes with empty cells only if asked to', async () => {
    onlyInLongForm()
    const { folder, sandbox, send, sum } = await openCommandLine({
      watchlists: { mine: [{ term: 'one', notes: 'kept' }] },
    })
    const source = writeSource(folder, 'terms.csv', 'term,notes\none,\n')
    const update = ['watchlist', 'update', source, '--watchlist', 'mine']
    expect((await sum(...update)).code).toBe(0)
    expect(JSON.stringify(await sandbox.terms('mine'))).toContain('kept')
    const cleared = await send(...update, '--empty-notes', 'clear')
    expect(cleared.code).toBe(0)
    expect(cleared.stderr).toContain('Terms with an empty notes cell will lose their notes')
    expect(JSON.stringify(await sandbox.terms('mine'))).not.toContain('kept')
  })

  it('says which watchlist does not exist, and offers no retry, which would go to it again', async () => {
    onlyInLongForm()
    const { folder, send, run } = await openCommandLine()
    const source = writeSource(folder, 'terms.csv', 'term\none\ntwo\n')
    const result = await send('watchlist', 'add', source, '--watchlist', 'none_such')
    expect(result.code).toBe(1)
    expect(result.stdout).toMatch(/Terms +none: every request was refused/)
    expect(result.stdout.replaceAll(/\s+/g, ' ')).toContain('The watchlist "none_such" does not exist')
    expect(result.stdout.replaceAll(/\s+/g, ' ')).toContain('Correct --watchlist and')
    expect(result.stdout).not.toMatch(/sluice -- retry/)
    const { target } = JSON.parse((await run(['show', 'latest', '--json'])).stdout)
    expect(target).toBe('none_such')
  })

  it('counts rows, not requests, that succeeded per second', async () => {
    onlyInLongForm()
    const { folder, sum } = await openCommandLine({ latency: '150ms' })
    const terms = Array.from({ length: 40 }, (_, index) => `term ${index}`).join('\n')
    const source = writeSource(folder, 'terms.csv', `term\n${terms}\n`)
    const { summary } = await sum('watchlist', 'add', source, '--watchlist', 'sandbox_terms')
    const { duration_s, attempted_per_s, succeeded_per_s } = summary.throughput
    expect(summary.requests.sent).toBe(1)
    expect(succeeded_per_s).toBeCloseTo(40 / duration_s, 0)
    expect(succeeded_per_s).toBeGreaterThan(20 * attempted_per_s)
  })

  it('shows the part of one row of a request with many terms, and all of it as JSON', async () => {
    onlyInLongForm()
    const { folder, send, run } = await openCommandLine()
    const source = writeSource(folder, 'terms.csv', 'term\none\ntwo\nthree\n')
    expect((await send('watchlist', 'add', source, '--watchlist', 'sandbox_terms')).code).toBe(0)
    const { stdout } = await run(['show', 'latest', '--row', '3'])
    expect(stdout).toContain('1 of 3 terms in the request; --json has all')
    const request = stdout.slice(stdout.indexOf('Request'), stdout.indexOf('Attempts'))
    expect(request).toContain('"two"')
    expect(request).not.toMatch(/"one"|"three"/)
    const whole = JSON.parse((await run(['show', 'latest', '--row', '3', '--json'])).stdout)
    expect(JSON.parse(whole.request_body).terms).toHaveLength(3)
  })

  it('has no fields of tasks', async () => {
    const { folder, send } = await openCommandLine()
    const source = writeSource(folder, 'terms.csv', 'Words\none\n')
    const add = ['watchlist', 'add', source, '--watchlist', 'w']
    const result = await send(...add, '--map', 'text_data=Words', '--map', 'terms=Words')
    expect(result.code).toBe(2)
    expect(result.stderr).toMatch(/watchlist-add has no field `text_data`/)
    expect(result.stderr).toMatch(/no field `terms`; did you mean term\?/)
  })
})

describe('appeal', () => {
  it('reads the status of each without a key, and says where they stand', async () => {
    const { folder, run, sandbox } = await openCommandLine()
    const source = writeSource(folder, 'appeals.csv', 'appeal_id\nappeal-1\nappeal-2\nnone-such\n')
    const result = await run(['appeal', source, '--base-url', sandbox.baseUrl], '')
    expect(result).toMatchObject({ code: 1, stderr: '' })
    expect(result.stdout).toMatch(/Appeals +In Review +1 /)
    expect(result.stdout).toMatch(/INVALID_APPEAL/)
    const row = (await run(['show', 'latest', '--row', '2'], '')).stdout
    expect(row).toMatch(/Request +GET .*\/api\/v1\/appeals\/status\/appeal-1/)
    const dry = await run(['appeal', source, '--base-url', sandbox.baseUrl, '--dry-run', '--json'], '')
    expect(JSON.parse(dry.stdout)).toMatchObject({ first_request: { method: 'GET', body: null } })
  })

  it('counts a status that the interface does not list', async () => {
    onlyInLongForm()
    const { folder, run } = await openCommandLine()
    const service = await startFaultServer({
      onRequest: ({ path }, wire) =>
        wire.send(200, {
          appeal_id: path.split('/').at(-1),
          appeal: { appeal_status: 'Withdrawn' },
          original_decision: {},
        }),
    })
    const source = writeSource(folder, 'withdrawn.csv', 'appeal_id\nappeal-1\nappeal-2\n')
    const result = await run(['appeal', source, '--base-url', service.baseUrl], '')
    expect(result.stdout).toMatch(/Appeals +other status +2 /)
    const summary = JSON.parse((await run(['show', 'latest', '--json'], '')).stdout)
    expect(summary.appeals).toMatchObject({ in_review: 0, reviewed: 0, other_status: 2 })
  })
})

describe('index add', () => {
  it('warns if answers give several rows one item, and only then', async () => {
    const { folder, run } = await openCommandLine()
    let added = 0
    const service = await startFaultServer({
      onRequest: ({ body }, wire) => {
        added += 1
        const isSame = body.includes('/same-')
        const ids = { custom_index_item_id: isSame ? 'item-1' : `own-${added}`, task_id: `t${added}` }
        wire.send(200, { ...ids, message: 'added' })
      },
    })
    const add = async (...names: string[]) => {
      const rows = names.map((name) => `https://a.example/${name}.png\n`)
      const source = writeSource(folder, `${names[0]}.csv`, `url\n${rows.join('')}`)
      await run(['index', 'add', source, '--index', 'i', '--base-url', service.baseUrl], 'key')
      return JSON.parse((await run(['show', 'latest', '--json'], '')).stdout)
    }
    expect(await add('a', 'b', 'c')).toMatchObject({ items: { added: 3 }, warnings: [] })
    const { items, warnings } = await add('same-1', 'd', 'same-2', 'same-3')
    expect(items).toMatchObject({ added: 4 })
    expect(warnings).toMatchObject([
      { code: 'SHARED_ITEMS', message: expect.stringMatching(/^3 rows share their custom_index_item_id/) },
    ])
  })
})

describe('a second host', () => {
  it('is shown as the target of v2 tasks, and is in JSON next to the base URL', async () => {
    onlyInLongForm()
    const { folder, run } = await openCommandLine()
    const service = await startFaultServer({ onRequest: (_, wire) => wire.send(200, { task_id: 't' }) })
    const source = writeSource(folder, 'media.csv', 'url,user_id\nhttps://a.example/1.png,u1\n')
    const hosts = ['--base-url', 'http://127.0.0.1:9', '--task-base-url', service.baseUrl]
    const result = await run(['task', source, '--api', 'v2', ...hosts], 'key')
    expect(result.code).toBe(0)
    expect(result.stdout).toMatch(new RegExp(`media\\.csv .* ${service.baseUrl}`))
    const [listed] = JSON.parse((await run(['runs', '--json'], '')).stdout)
    expect(listed).toMatchObject({ base_url: 'http://127.0.0.1:9', task_base_url: service.baseUrl })
  })
})

describe('a folder', () => {
  it('becomes tasks: texts, whole requests, and media by a template', async () => {
    onlyInLongForm()
    const { folder, sandbox, sum } = await openCommandLine()
    const source = join(folder, 'posts')
    mkdirSync(join(source, 'a b'), { recursive: true })
    writeFileSync(join(source, 'one.txt'), 'Hello there')
    writeFileSync(join(source, 'two.json'), '{"text_data":"From JSON","user_id":"own"}')
    writeFileSync(join(source, 'a b', 'three.jpg'), 'picture')
    const template = ['--media-template', 'https://media.example.com/{{path}}', '--set', 'user_id=u1']
    const { code, summary } = await sum('task', source, ...template)
    expect(summary.rows).toMatchObject({ read: 3, succeeded: 3 })
    expect(code).toBe(0)
    const requests = (await sandbox.tasks()).map((task) => task.request)
    expect(requests).toContainEqual(expect.objectContaining({ text_data: 'Hello there', user_id: 'u1' }))
    expect(requests).toContainEqual(expect.objectContaining({ text_data: 'From JSON', user_id: 'own' }))
    expect(requests).toContainEqual(
      expect.objectContaining({ url: 'https://media.example.com/a%20b/three.jpg' }),
    )
  })

  it('has one address for each file, not two', async () => {
    const { folder, send } = await openCommandLine()
    const both = ['--media-template', 'https://m.test/{{path}}', '--media-url', 'https://m.test']
    const result = await send('task', folder, ...both)
    expect(result).toMatchObject({ code: 2, stdout: '' })
    expect(result.stderr).toContain('--media-template cannot be combined with --media-url')
  })
})
