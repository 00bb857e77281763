import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readK6Result } from '../../../../../src/main/engine/load/k6/import-k6-result.ts'
import { type K6Body, writeK6Project } from '../../../../../src/main/engine/load/k6/k6-project.ts'
import type { LoadInput } from '../../../../../src/shared/load/load.ts'
import { startFaultServer, toTaskAnswer } from '../../../../helpers/fault-server.ts'
import { findCommand } from '../../../../helpers/find-command.ts'
import { withSandbox } from '../../../../helpers/sandbox.ts'
import { createTemporaryFolder } from '../../../../helpers/temporary-folder.ts'
import { buildK6Plan } from './build-k6-plan.ts'

const k6 = findCommand('k6', 'SLUICE_K6')
if (k6 === null) {
  process.stderr.write(
    'No k6 is on the PATH, so exported projects are not run in it; SLUICE_K6 can name one.\n',
  )
}

const BODIES: K6Body[] = [
  { text_data: 'a "quoted"\n\u2028 <b>', user_id: 'u1' },
  { text_data: '$& ünï \u{1f600}', user_id: 'u2' },
  { text_data: 'third', user_id: 'u3', models: ['text'] },
]

interface Summary {
  metrics: Record<string, { values: Record<string, number>; thresholds?: Record<string, { ok: boolean }> }>
}

/** Runs the project in a folder. */
function run(cwd: string, env: Record<string, string>) {
  return new Promise<{ code: number; output: string }>((resolve) => {
    execFile(
      k6 ?? '',
      ['run', '--quiet', '--out', 'json=samples.json.gz', 'script.js'],
      { cwd, env: { ...process.env, ...env } },
      (error, stdout, stderr) => resolve({ code: Number(error?.code ?? 0), output: stdout + stderr }),
    )
  })
}

/** Exports a load against a sandbox, runs it, and returns what k6 and the sandbox saw. */
async function runInK6(load: LoadInput, env: Record<string, string> = {}) {
  const sandbox = await withSandbox()
  const folder = join(createTemporaryFolder(), 'load.k6')
  const plan = buildK6Plan(load, { connection: { baseUrl: sandbox.baseUrl, timeoutMs: 5_000 } })
  await writeK6Project({ folder, plan, appVersion: '0.1.0', bodies: [BODIES], rowsFileMaxBytes: 120 })
  const result = await run(folder, { SLUICE_API_KEY: sandbox.key, ...env })
  const summary = JSON.parse(await readFile(join(folder, 'summary.json'), 'utf8')) as Summary
  const [imported, samples] = await Promise.all(
    ['summary.json', 'samples.json.gz'].map((name) => readK6Result([join(folder, name)])),
  )
  return { ...result, metrics: summary.metrics, tasks: await sandbox.tasks(), imported, samples }
}

describe.skipIf(k6 === null)('an exported project in k6', () => {
  it("sends the rows in order, repeatedly, at the plan's rate, each with a new post_id", async () => {
    const { code, output, metrics, tasks, imported, samples } = await runInK6({
      pace: { kind: 'open', ratePerSecond: 50 },
      requests: 70,
      warmupMs: 1_000,
      thresholds: ['p(99)<5000', 'rate<0.01', 'dropped==0'],
    })
    expect({ code, output }).toMatchObject({ code: 0 })
    const main = tasks.filter(({ post_id }) => !post_id.includes('warmup'))
    expect(main).toHaveLength(70)
    expect(tasks.length - main.length).toBeGreaterThanOrEqual(45)
    expect(new Set(tasks.map(({ post_id }) => post_id)).size).toBe(tasks.length)
    expect(
      tasks.filter(({ post_id }) => !/^k6-\d{8}-\d{6}-[a-z0-9]{6}-(warmup-)?\d+$/.test(post_id)),
    ).toEqual([])
    for (const { post_id: postId, request } of main) {
      const row = BODIES[(Number(postId.split('-').at(-1)) - 1) % BODIES.length]
      expect(request).toEqual({ ...row, post_id: postId })
    }
    expect(metrics['http_reqs{scenario:main}']?.values['count']).toBe(70)
    expect(metrics['not_succeeded{scenario:main}']?.values['rate']).toBe(0)
    expect(metrics['http_req_duration{scenario:main}']?.thresholds).toMatchObject({
      'p(99)<5000': { ok: true },
    })
    for (const result of [imported, samples]) {
      expect(result).toMatchObject({ scenario: 'main', requests: 70, failed: 0, dropped: 0 })
    }
    expect(imported?.durationS).toBeCloseTo(1.4, 1)
    expect(imported?.thresholds.map(({ expression, ok }) => [expression, ok])).toEqual(
      expect.arrayContaining([
        ['p(99)<5000', true],
        ['http_req_failed:rate<0.01', true],
        ['dropped_iterations:count==0', true],
      ]),
    )
  })

  it('exits with 99 if a threshold is crossed', async () => {
    const { code, metrics, tasks } = await runInK6(
      { pace: { kind: 'closed', concurrency: 2 }, requests: 12, thresholds: ['rate<0.5', 'p(50)<0.001'] },
      { SLUICE_API_KEY: 'wrong' },
    )
    expect(code).toBe(99)
    expect(tasks).toEqual([])
    expect(metrics['not_succeeded{scenario:main}']?.values['rate']).toBe(1)
    expect(metrics['http_req_failed{scenario:main}']?.thresholds).toMatchObject({ 'rate<0.5': { ok: false } })
  })

  it('applies thresholds on the address of its requests below a base path', async () => {
    const server = await startFaultServer({
      onRequest: (request, wire) => wire.send(200, toTaskAnswer(request)),
    })
    const baseUrl = `${server.baseUrl}/moderation`
    const folder = join(createTemporaryFolder(), 'load.k6')
    const thresholds = [`http_reqs{url:${baseUrl}/api/v1/task/sync}:count==12`]
    const plan = buildK6Plan(
      { pace: { kind: 'closed', concurrency: 2 }, requests: 12, thresholds },
      { connection: { baseUrl, timeoutMs: 5_000 } },
    )
    await writeK6Project({ folder, plan, appVersion: '0.1.0', bodies: [BODIES] })
    const { code, output } = await run(folder, { SLUICE_API_KEY: 'any' })
    expect({ code, output }).toMatchObject({ code: 0 })
    expect(server.requests.map(({ path }) => path)).toEqual(
      Array.from({ length: 12 }, () => '/moderation/api/v1/task/sync'),
    )
    const { metrics } = JSON.parse(await readFile(join(folder, 'summary.json'), 'utf8')) as Summary
    expect(metrics['http_reqs{scenario:main,name:/api/v1/task/sync}']).toMatchObject({
      values: { count: 12 },
      thresholds: { 'count==12': { ok: true } },
    })
  })

  it('is valid in every pace', async () => {
    const stage = (from: number, to: number) => ({ from, to, durationMs: 400 })
    const paces = [
      { pace: { kind: 'closed', concurrency: 2 }, durationMs: 1_000, thinkTime: { minMs: 1, maxMs: 5 } },
      { pace: { kind: 'stages', of: 'rate', stages: [stage(20, 20), stage(40.5, 10)] } },
      { pace: { kind: 'stages', of: 'concurrency', stages: [stage(1, 1), stage(3, 2)] } },
    ] satisfies LoadInput[]
    const results = await Promise.all(paces.map((load) => runInK6(load)))
    for (const { code, output, tasks } of results) {
      expect({ code, output }).toMatchObject({ code: 0 })
      expect(tasks.length).toBeGreaterThan(10)
    }
  })
})
