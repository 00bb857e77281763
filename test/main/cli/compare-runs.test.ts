import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { withSandbox } from '../../helpers/sandbox.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { runInProcess } from './run-in-process.ts'
import { writeSource } from './write-source.ts'

/** What `k6 run --summary-export` writes by default: no p99. */
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

test('summaries of k6 are compared by their percentiles, which a check of speed cannot judge', async () => {
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
  expect(slower).toMatchObject({ code: 99 })
  expect(slower.stderr).toContain('--fail-if-slower has nothing to judge: ')
  expect((await sluice('compare', a, b, '--fail-if-slower', 'much')).code).toBe(2)
})

test('a check of speed passes the same service twice, and fails one that refuses everything fast', async () => {
  const folder = createTemporaryFolder()
  const sandbox = await withSandbox({ latency: '40ms' })
  const source = writeSource(folder, 'posts.csv', 'user_id,text_data\nu1,good morning\nu2,see you at lunch\n')
  const load = async (key: string) => {
    const tested = await runInProcess(
      ['load', source, '--base-url', sandbox.baseUrl, '--concurrency', '4', '--duration', '2s', '--json'],
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
  const passed = await check(a, b)
  expect(passed).toMatchObject({ code: 0 })
  expect(passed.stderr).toContain(
    '--fail-if-slower passed: B is not slower by significantly more than 50 %, judged by p50 of http_req_duration.',
  )
  const failing = await check(a, refused)
  expect(failing).toMatchObject({ code: 99 })
  expect(failing.stderr).toContain('B has more requests that did not succeed: 100 % after 0 %.')
  expect(failing.stdout).not.toContain('faster than A')
})

test('runs are compared with their baseline by what was decided, and shown as a trend', async () => {
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
  expect((await sluice('compare', '--against-baseline')).code).toBe(2)

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
  expect((await sluice('trend', join(folder, 'other.csv'))).stderr).toContain(source)

  await sluice('delete', first, '--yes')
  expect((await sluice('compare', second, '--against-baseline')).stderr).toContain('no longer exists')
  expect((await sluice('baseline', 'list')).stdout).toContain('(deleted)')
  expect((await sluice('baseline', 'remove', second)).code).toBe(2)
  expect((await sluice('baseline', 'remove', first)).stdout).toContain('removed the baseline')
})
