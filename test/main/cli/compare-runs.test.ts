import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { toNormalQuantile } from '../../../src/shared/load/statistics.ts'
import { nameTrendGroup, suggestPattern } from '../../../src/shared/lookback/trend.ts'
import { copyGolden } from '../../golden/answers.ts'
import { startFaultServer } from '../../helpers/fault-server.ts'
import { onlyInLongForm } from '../../helpers/long-form.ts'
import { withSandbox } from '../../helpers/sandbox.ts'
import { createDraw } from '../../helpers/seeded-draw.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { runInProcess } from './run-in-process.ts'
import { writeSource } from './write-source.ts'

/** The default output of `k6 run --summary-export`: no p99. */
function toSummary(p95: number) {
  return JSON.stringify({
    metrics: {
      http_reqs: { count: 1000, rate: 100 },
      http_req_failed: { passes: 0, fails: 1000, value: 0 },
      http_req_duration: { avg: 50, min: 10, med: 48, max: 300, 'p(90)': p95 - 5, 'p(95)': p95 },
    },
    root_group: { name: '', path: '', groups: {}, checks: {} },
  })
}

test('k6 summaries are compared by their percentiles, which a check of speed cannot judge', async () => {
  onlyInLongForm()
  const workspace = createTemporaryFolder()
  const sluice = (...args: string[]) => runInProcess(args, { workspace, env: {} })
  const ids: string[] = []
  for (const [name, p95] of [
    ['a', 100],
    ['b', 130],
  ] as const) {
    const file = join(workspace, `${name}.json`)
    writeFileSync(file, toSummary(p95))
    ids.push(JSON.parse((await sluice('import-k6', file, '--json')).stdout).run_id)
  }
  const [a = '', b = ''] = ids
  const compared = await sluice('compare', a, b)
  expect(compared).toMatchObject({ code: 0 })
  expect(compared.stdout).toContain("p95 at 1.30 times A's")
  const slower = await sluice('compare', a, b, '--fail-if-slower', '10%')
  expect(slower).toMatchObject({ code: 98 })
  expect(slower.stderr).toContain('--fail-if-slower cannot judge p50, p95 and p99 of http_req_duration: ')
  expect((await sluice('compare', a, b, '--fail-if-slower', 'much')).code).toBe(2)
})

/**
 * The output of `k6 run --out json` for a service: 30 seconds of 20 requests, log-normal around 20 ms. From
 * `breaksAt` on, all fail.
 */
function toPoints(seed: number, factor: number, breaksAt = 30): string {
  const draw = createDraw(seed)
  const lines = ['{"type":"Metric","metric":"http_req_duration","data":{"type":"trend","contains":"time"}}']
  for (let request = 0; request < 600; request += 1) {
    const time = new Date(Date.UTC(2026, 0, 1) + request * 50).toISOString()
    const value = 20 * factor * Math.exp(0.3 * toNormalQuantile(0.001 + 0.998 * draw()))
    const isFailing = request >= breaksAt * 20
    const points = { http_reqs: 1, http_req_failed: Number(isFailing), http_req_duration: value }
    for (const [metric, amount] of Object.entries(points)) {
      const tags = { status: isFailing ? '503' : '200', expected_response: String(!isFailing) }
      const data = { time, value: amount, tags }
      lines.push(JSON.stringify({ type: 'Point', metric, data }))
    }
  }
  return `${lines.join('\n')}\n`
}

test('a check of speed passes equal services and fails a slower one, with one run or several', async () => {
  const workspace = createTemporaryFolder()
  const sluice = (...args: string[]) => runInProcess(args, { workspace, env: {} })
  const importRun = async (seed: number, factor: number) => {
    const file = join(workspace, `${seed}.json`)
    writeFileSync(file, toPoints(seed, factor))
    return String(JSON.parse((await sluice('import-k6', file, '--json')).stdout).run_id)
  }
  const ids: string[] = []
  for (const [seed, factor] of [1, 1, 1, 1, 2, 2].entries()) ids.push(await importRun(seed, factor))
  const [a = '', a2 = '', b = '', b2 = '', slow = '', slow2 = ''] = ids
  const gate = ['--fail-if-slower', '10%', '--judge', 'p95,p50']

  const equal = await sluice('compare', a, b, ...gate)
  expect(equal.code, equal.stderr).toBe(0)
  expect(equal.stderr).toContain('judged by p50 and p95 of http_req_duration, and failures (0 % after 0 %).')
  const slower = await sluice('compare', a, slow, ...gate, '--json')
  expect(slower.code, slower.stderr).toBe(99)
  expect(JSON.parse(slower.stdout)).toMatchObject({
    a_run_id: a,
    b_run_ids: [slow],
    failed_share: { difference: 0 },
    gate: {
      result: 'failed',
      margin_percent: 10,
      percentiles: [
        { metric: 'http_req_duration', percentile: 50, result: 'slower', reason: null },
        { metric: 'http_req_duration', percentile: 95, result: 'slower' },
      ],
      failures: { a: 0, b: 0, result: 'within' },
    },
  })
  expect(JSON.parse((await sluice('compare', a, b, '--json')).stdout).gate).toBeNull()

  const several = await sluice('compare', '--base', a, a2, '--with', b, b2, ...gate)
  expect(several.stdout).toContain('A  2 runs: ')
  expect([0, 98], several.stderr).toContain(several.code)
  const severalSlower = await sluice('compare', '--base', a, a2, '--with', slow, slow2, ...gate)
  expect(severalSlower.code, severalSlower.stderr).toBe(99)
  for (const wrong of [
    ['--base', a],
    ['--base', a, '--with', a, ...gate],
    ['--base', a, '--with', b, '--list', 'changed'],
    [a, b, '--judge', 'p50'],
    [a, b, '--fail-if-slower', '10%', '--judge', 'fast'],
  ]) {
    expect((await sluice('compare', ...wrong)).code, wrong.join(' ')).toBe(2)
  }
})

test('a check of speed fails a B that breaks down, and cannot judge one that fails for a few seconds', async () => {
  onlyInLongForm()
  const workspace = createTemporaryFolder()
  const sluice = (...args: string[]) => runInProcess(args, { workspace, env: {} })
  const importRun = async (seed: number, breaksAt: number) => {
    const file = join(workspace, `${seed}.json`)
    writeFileSync(file, toPoints(seed, 1, breaksAt))
    return String(JSON.parse((await sluice('import-k6', file, '--json')).stdout).run_id)
  }
  const [a, broken, troubled] = [await importRun(0, 30), await importRun(1, 16), await importRun(2, 25)]
  const check = (b: string) => sluice('compare', a, b, '--fail-if-slower', '10%', '--judge', 'p50', '--json')
  const fails = await check(broken)
  expect(fails.code, fails.stderr).toBe(99)
  expect(JSON.parse(fails.stdout).gate).toMatchObject({
    result: 'failed',
    failures: { a: 0, b: 14 / 30, result: 'more', reason: null },
  })
  const open = await check(troubled)
  expect(open.code, open.stderr).toBe(98)
  expect(open.stderr).toContain('--fail-if-slower cannot judge failures (16.7 % after 0 %): ')
  expect(JSON.parse(open.stdout).gate).toMatchObject({
    result: 'not_judged',
    percentiles: [{ percentile: 50, result: 'within' }],
    failures: { a: 0, b: 5 / 30, result: 'not_judged', reason: 'too_few', p: null },
  })
})

test('a check of speed says what short runs cannot show, and fails a service that refuses everything fast', async () => {
  onlyInLongForm()
  const folder = createTemporaryFolder()
  const sandbox = await withSandbox({ latency: '40ms' })
  const source = writeSource(folder, 'posts.csv', 'user_id,text_data\nu1,good morning\nu2,see you at lunch\n')
  const load = async (key: string) => {
    const tested = await runInProcess(
      [
        'load',
        source,
        '--base-url',
        sandbox.baseUrl,
        '--concurrency',
        '4',
        '--duration',
        '2s',
        '--first-request',
        'skip',
        '--json',
      ],
      { workspace: join(folder, 'runs'), env: { SLUICE_API_KEY: key } },
    )
    return String(JSON.parse(tested.stdout).run_id)
  }
  const [a, b, refused] = [await load(sandbox.key), await load(sandbox.key), await load('another')]
  const check = (earlier: string, later: string) =>
    runInProcess(['compare', earlier, later, '--fail-if-slower', '50%'], {
      workspace: join(folder, 'runs'),
      env: {},
    })
  const short = await check(a, b)
  expect(short).toMatchObject({ code: 98 })
  expect(short.stderr).toContain('--fail-if-slower cannot judge p50, p95 and p99 of http_req_duration: ')
  const failing = await check(a, refused)
  expect(failing).toMatchObject({ code: 99 })
  expect(failing.stderr).toContain('B has more requests that did not succeed: 100 % after 0 %.')
  expect(failing.stdout).not.toContain('faster than A')
})

test('a run is not checked against itself, which could only pass', async () => {
  const folder = createTemporaryFolder()
  const sandbox = await withSandbox()
  const source = writeSource(folder, 'posts.csv', 'user_id,text_data\nu1,good morning\n')
  const sluice = (...args: string[]) =>
    runInProcess(args, { workspace: join(folder, 'runs'), env: { SLUICE_API_KEY: sandbox.key } })
  await sluice('task', source, '--name', 'nightly', '--base-url', sandbox.baseUrl, '--quiet')
  for (const check of ['--fail-if-slower', '--fail-if-changed']) {
    const checked = await sluice('compare', 'latest', 'latest:nightly', check, '10%')
    expect([checked.code, checked.stderr]).toEqual([2, expect.stringContaining('A and B both contain run ')])
  }
  expect(await sluice('compare', 'latest', 'latest:nightly')).toMatchObject({ code: 0 })
})

test("a run is not checked against an earlier version's retry of it, which is part of it", async () => {
  const workspace = join(createTemporaryFolder(), 'workspace')
  copyGolden('retried', workspace)
  const sluice = (...args: string[]) => runInProcess(args, { workspace, env: {} })
  const [run] = JSON.parse((await sluice('runs', '--json')).stdout)
  const [id, retry] = run.sessions.map((session: { run_id: string }) => session.run_id)
  const checked = await sluice('compare', id, retry, '--fail-if-changed', '50%')
  expect([checked.code, checked.stderr]).toEqual([2, expect.stringContaining(`both contain run ${retry}`)])
  await sluice('baseline', 'set', id)
  const baseline = await sluice('compare', retry, '--against-baseline', '--fail-if-slower', '50%')
  expect(baseline.code, baseline.stderr).toBe(2)
  expect(await sluice('compare', id, retry)).toMatchObject({ code: 0 })
})

test('runs are compared with their baseline by their decisions, and shown as a trend', async () => {
  onlyInLongForm()
  const folder = createTemporaryFolder()
  const sandbox = await withSandbox()
  const texts = ['win a free prize now', 'claim your cash prize now', 'see you at lunch', 'good morning']
  const rows = texts.map((text, index) => `u${index},${text},${index < 2 ? 'spam' : 'ham'}`)
  const source = writeSource(folder, 'posts.csv', `user_id,text_data,truth\n${rows.join('\n')}\n`)
  const sluice = (...args: string[]) =>
    runInProcess(args, { workspace: join(folder, 'runs'), env: { SLUICE_API_KEY: sandbox.key } })
  const send = async () => {
    const sent = await sluice('task', source, '--legacy', '--base-url', sandbox.baseUrl, '--json', '--quiet')
    return String(JSON.parse(sent.stdout).run_id)
  }
  const first = await send()
  expect((await sluice('baseline', 'list')).stdout).toContain('No baselines.')
  const unset = await sluice('compare', first, '--against-baseline')
  expect(unset).toMatchObject({ code: 2 })
  expect(unset.stderr).toContain('baseline set')
  expect((await sluice('baseline', 'set', first)).stdout).toContain('baseline `default`')
  expect((await sluice('compare', first, '--against-baseline')).stderr).toContain('is the baseline')
  expect(await sluice('compare', '--against-baseline')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('no other run has the source and connection of a baseline `default`'),
  })

  await sandbox.admin('DELETE', '/rules/rule-spam')
  await sandbox.admin('DELETE', '/tasks')
  const second = await send()
  const labels = ['--label', 'truth', '--positive', 'spam=Likely spam']
  const compared = await sluice(
    'compare',
    '--against-baseline',
    '--json',
    '--fail-if-changed',
    '60%',
    ...labels,
  )
  expect(compared).toMatchObject({ code: 0 })
  const document = JSON.parse(compared.stdout)
  expect(document).toMatchObject({
    a_run_id: first,
    b_run_id: second,
    decisions: { joined_by: 'row', joined: { rows: 4, changed: 2 } },
  })
  expect(document.decisions.labels.rules[0]).toMatchObject({ change: { recall: { value: -1 } } })
  expect(document.decisions.warnings.join(' ')).not.toContain('False alarms')
  const failed = await sluice('compare', second, '--against-baseline', '--fail-if-changed', '10%')
  expect(failed).toMatchObject({ code: 99 })
  expect(failed.stderr).toContain('More than 10 % changed: 2 of 4 rows')
  expect(failed.stdout).toContain('2 of 4 rows changed (50.0 %)')
  expect(failed.stdout).toMatch(/Likely spam +2 +0 +0 +2 +0 +0\.50/)
  expect(failed.stdout).toMatch(/− Likely spam +u0 \| win a free prize now/)

  const trend = JSON.parse((await sluice('trend', source, '--json', ...labels)).stdout)
  expect(trend.runs).toMatchObject([
    { run_id: first, rows: 4, rules: [{ rule: 'Likely spam', share: 0.5 }], metrics: { rows: 4 } },
    { run_id: second, rows: 4, rules: [] },
  ])
  const shown = (await sluice('trend', 'latest', ...labels)).stdout
  expect(shown).toContain('Likely spam, by labels')
  const mistyped = await sluice('trend', 'latest', ...labels, '--positive', 'spma=Likely spam')
  expect(mistyped.stdout).toContain(`${second} and 1 earlier run: No row has the label \`spma\`.`)
  const unread = 'Labels that stand for no rule count as rows that should trigger none: `spam` (2 rows).'
  const other = ['--label', 'truth', '--positive', 'ham=Likely spam']
  expect((await sluice('trend', 'latest', ...other)).stdout).toContain(
    `${second} and 1 earlier run: ${unread}`,
  )
  expect((await sluice('compare', second, '--against-baseline', ...other)).stdout).toContain(unread)
  expect(mistyped.stdout).toContain(`${second}: No row triggered the rule \`Likely spam\`.`)
  expect((await sluice('trend', join(folder, 'other.csv'))).stderr).toContain(source)

  await sluice('delete', first, '--yes')
  expect((await sluice('compare', second, '--against-baseline')).stderr).toContain('no longer exists')
  expect((await sluice('baseline', 'list')).stdout).toContain('(deleted)')
  expect((await sluice('baseline', 'remove', second)).code).toBe(2)
  expect((await sluice('baseline', 'remove', first)).stdout).toContain('removed the baseline')
})

test('a check of decisions does not pass for lack of decisions', async () => {
  onlyInLongForm()
  const workspace = createTemporaryFolder()
  const sandbox = await withSandbox()
  const rows = (count: number) =>
    `user_id,text_data\n${Array.from({ length: count }, (_, row) => `u${row},a text of row ${row}`).join('\n')}\n`
  const source = writeSource(workspace, 'posts.csv', rows(10))
  const sluice = (...args: string[]) =>
    runInProcess(args, { workspace, env: { SLUICE_API_KEY: sandbox.key } })
  const send = async (baseUrl: string, ...args: string[]) =>
    String(
      JSON.parse((await sluice('task', source, '--base-url', baseUrl, '--json', '--quiet', ...args)).stdout)
        .run_id,
    )
  const check = (a: string, b: string, share = '10%') =>
    sluice('compare', a, b, '--by', 'row', '--fail-if-changed', share)
  const refusing = await withSandbox({ faults: ['400=100%'] })
  const none = await check(await send(refusing.baseUrl), await send(refusing.baseUrl))
  expect(none, none.stdout + none.stderr).toMatchObject({ code: 98 })
  expect(none.stderr).toContain('--fail-if-changed cannot be judged: no row was answered in both runs.')

  const whole = await send(sandbox.baseUrl)
  const few = await check(whole, await send(sandbox.baseUrl, '--limit', '2'))
  expect(few).toMatchObject({ code: 98 })
  expect(few.stderr).toContain('8 of the 10 rows of A have nothing in B to be compared with')
  writeSource(workspace, 'posts.csv', rows(12))
  expect(await check(whole, await send(sandbox.baseUrl))).toMatchObject({ code: 0 })
  expect((await check(whole, whole, '100%')).stderr).toContain('expected less than 100%')
})

test('a check of decisions tells runs without a common row from runs that changed', async () => {
  const workspace = createTemporaryFolder()
  const sandbox = await withSandbox()
  const sluice = (...args: string[]) =>
    runInProcess(args, { workspace, env: { SLUICE_API_KEY: sandbox.key, GITHUB_ACTIONS: 'true' } })
  const send = async (name: string) => {
    const source = writeSource(workspace, `${name}.csv`, `user_id,text_data\nu1,a text of ${name}\n`)
    const sent = await sluice('task', source, '--base-url', sandbox.baseUrl, '--json', '--quiet')
    return String(JSON.parse(sent.stdout).run_id)
  }
  const checked = await sluice(
    'compare',
    await send('monday'),
    await send('tuesday'),
    '--fail-if-changed',
    '10%',
  )
  expect(checked, checked.stderr).toMatchObject({ code: 98 })
  expect(checked.stderr).toContain('--fail-if-changed cannot be judged: the runs have no row in common.')
})

test('a trend says which load tests failed by a threshold', async () => {
  const workspace = join(createTemporaryFolder(), 'workspace')
  copyGolden('load-thresholds', workspace)
  const sluice = (...args: string[]) => runInProcess(args, { workspace, env: {} })
  const [run] = JSON.parse((await sluice('trend', 'latest', '--json')).stdout).runs
  expect(run).toMatchObject({ state: 'completed', load_failure: 'threshold failed' })
  expect((await sluice('trend', 'latest')).stdout).toContain(`${run.run_id}: threshold failed`)
})

test('a trend says which runs did not run to their end', async () => {
  for (const state of ['stopped', 'interrupted'] as const) {
    const workspace = join(createTemporaryFolder(), 'workspace')
    copyGolden(state, workspace)
    const sluice = (...args: string[]) => runInProcess(args, { workspace, env: {} })
    const [run] = JSON.parse((await sluice('trend', 'latest', '--json')).stdout).runs
    expect(run).toMatchObject({ state })
    expect((await sluice('trend', 'latest')).stdout).toContain(`${run.run_id}: ${state}`)
  }
})

test('runs of related sources are one trend: by a pattern of names, as a list, and by a tag', async () => {
  onlyInLongForm()
  const folder = createTemporaryFolder()
  const sandbox = await withSandbox()
  const sluice = (...args: string[]) =>
    runInProcess(args, { workspace: join(folder, 'runs'), env: { SLUICE_API_KEY: sandbox.key } })
  const send = async (name: string, ...args: string[]) => {
    const source = writeSource(folder, name, `user_id,text_data\nu1,hello from ${name}\n`)
    const sending = ['task', source, '--base-url', sandbox.baseUrl, '--json', '--quiet', ...args]
    return String(JSON.parse((await sluice(...sending)).stdout).run_id)
  }
  const weeks = [await send('posts-2026-w01.csv'), await send('posts-2026-w02.csv')]
  const other = await send('other.csv')
  const read = async (...args: string[]) => {
    const shown = await sluice('trend', '--json', ...args)
    expect(shown.stderr).toBe('')
    const { by, source, runs } = JSON.parse(shown.stdout)
    return { by, source, runs: runs.map(({ run_id: id }: { run_id: string }) => id) }
  }
  const pattern = 'posts-2026-w*.csv'
  expect(await read(pattern)).toEqual({ by: 'pattern', source: pattern, runs: weeks })
  expect(await read(join(folder, pattern))).toMatchObject({ by: 'pattern', runs: weeks })
  const files = ['posts-2026-w01.csv', 'posts-2026-w02.csv'].map((name) => join(folder, name))
  expect(await read(...files)).toMatchObject({ by: 'sources', source: files.join(', '), runs: weeks })
  const unsent = join(folder, 'posts-2026-w03.csv')
  const told = await sluice('trend', ...files, unsent)
  expect(told).toMatchObject({ code: 0, stderr: `No run sent ${unsent}.\n` })
  // A source with exactly that name takes precedence over the pattern.
  const bracketed = await send('posts-2026-w[01].csv')
  expect(await read(join(folder, 'posts-2026-w[01].csv'))).toMatchObject({ by: 'sources', runs: [bracketed] })

  for (const runId of [other, ...weeks.slice(1)]) await sluice('runs', 'edit', runId, '--tag', 'weekly')
  expect(await read('--tag', 'weekly')).toEqual({
    by: 'tag',
    source: 'weekly',
    runs: [weeks[1], other],
  })
  expect((await sluice('trend', '--tag', 'monthly')).stderr).toContain('no run has the tag `monthly`')
  for (const args of [[], ['posts.csv', '--tag', 'weekly']]) {
    expect((await sluice('trend', ...args)).stderr).toContain('Name sources or a run, or pass --tag TAG')
  }
  for (const args of [['trend'], ['task', '--base-url', 'http://127.0.0.1:9']]) {
    const wide = await sluice(...args, 'posts-{1..100000}.csv')
    expect(wide).toMatchObject({ code: 2, stderr: expect.stringContaining('more than 1,000 names') })
  }
  const unknown = await sluice('trend', 'posts-2025-*.csv')
  expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining('no run sent') })
  expect((await sluice('trend', 'a.csv', 'b.csv')).stderr).toContain('no run sent')
})

test('numbers in source names may differ within one trend', () => {
  expect(suggestPattern('/data/posts-2026-w01.csv')).toBe('posts-*-w*.csv')
  expect(suggestPattern('C:\\data\\2026-11-27_posts[1].csv')).toBe('*_posts?*?.csv')
  expect(suggestPattern('/2026/posts.csv')).toBeNull()
  expect(suggestPattern('/data/2026.csv')).toBe('[0-9][0-9][0-9][0-9].csv')
  expect(suggestPattern('/data/2026-7.csv.gz')).toBe('[0-9][0-9][0-9][0-9]-[0-9].csv.gz')
  expect(suggestPattern('/data/12')).toBe('[0-9][0-9]')
  expect(suggestPattern('/data/posts.mp3')).toBeNull()
})

test('a trend names a file from a browser without its upload folder', () => {
  const paths = [`/data/uploads/${'a'.repeat(24)}/posts.csv`, '/data/more.csv']
  expect(nameTrendGroup({ kind: 'sources', paths })).toBe('posts.csv, /data/more.csv')
})

test('rows whose callbacks differ have changed only if their result has, and are warned of', async () => {
  const workspace = createTemporaryFolder()
  const source = writeSource(workspace, 'posts.csv', 'post_id,user_id,text_data\np1,u1,one\np2,u1,two\n')
  const spam = [{ rule_id: 'r1', rule_name: 'Spam' }]
  const isSaidTwice = { value: false }
  const server = await startFaultServer({
    onRequest: async ({ body }, wire) => {
      const { callback_url, post_id, user_id } = JSON.parse(body) as Record<string, string>
      const post = (triggered_rules: object) =>
        fetch(callback_url ?? '', {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ task_id: `task-${post_id}`, post_id, user_id, triggered_rules }),
        })
      await post(spam)
      if (isSaidTwice.value && post_id === 'p2') await post([])
      wire.send(200, { task_id: `task-${post_id}`, message: 'accepted' })
    },
  })
  const sluice = (...args: string[]) => runInProcess(args, { workspace, env: { SLUICE_API_KEY: 'key-1' } })
  const send = async () => {
    const where = ['--base-url', server.baseUrl]
    const sent = await sluice('task', source, '--async', ...where, '--yes', '--json')
    return JSON.parse(sent.stdout)
  }
  const before = await send()
  isSaidTwice.value = true
  const after = await send()
  expect(after.callbacks).toMatchObject({ received: 3, settled: 2, differing: 1 })
  const compared = await sluice('compare', before.run_id, after.run_id, '--fail-if-changed', '0%', '--json')
  const { decisions } = JSON.parse(compared.stdout)
  expect(decisions.joined).toMatchObject({ rows: 2, changed: 0, decided: 2 })
  expect(decisions.outcomes.listed).toEqual([])
  expect(decisions.warnings).toContainEqual(expect.stringMatching(/^B: 1 row got callbacks that differ/))
  expect(compared.code).toBe(0)
})

test('which of two rows with one task was answered first is no change, and is warned of', async () => {
  const workspace = createTemporaryFolder()
  const server = await startFaultServer({
    onRequest: (_, wire) => wire.send(200, { task_id: 't1', triggered_rules: [] }),
  })
  const sluice = (...args: string[]) => runInProcess(args, { workspace, env: { SLUICE_API_KEY: 'key-1' } })
  const send = async (...posts: string[]) => {
    const rows = posts.map((post) => `${post},u1,one\n`).join('')
    const source = writeSource(workspace, `${posts.join('-')}.csv`, `post_id,user_id,text_data\n${rows}`)
    const where = ['--base-url', server.baseUrl, '--concurrency', '1']
    const sent = await sluice('task', source, ...where, '--yes', '--json')
    return JSON.parse(sent.stdout)
  }
  const runs = [await send('p1', 'p2'), await send('p2', 'p1')].map(({ run_id }) => run_id)
  const compared = await sluice('compare', ...runs, '--by', 'post_id', '--fail-if-changed', '0%', '--json')
  const { decisions } = JSON.parse(compared.stdout)
  expect(decisions.joined).toMatchObject({ rows: 2, changed: 0 })
  expect(decisions.warnings).toContainEqual(
    expect.stringMatching(/^B: 1 row succeeded by an answer with the task_id/),
  )
  expect(compared.code).toBe(0)
})
