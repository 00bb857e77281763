import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, inject, it } from 'vitest'
import { startFaultServer } from '../../helpers/fault-server.ts'
import { onlyInLongForm } from '../../helpers/long-form.ts'
import { withSandbox } from '../../helpers/sandbox.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { waitFor } from '../../helpers/wait-for.ts'
import { runInProcess } from './run-in-process.ts'
import { spawnSluice } from './spawn-sluice.ts'
import { createRows, writeSource } from './write-source.ts'

async function prepare(latency = '5ms') {
  const folder = createTemporaryFolder()
  const sandbox = await withSandbox({ latency })
  const source = writeSource(folder, 'posts.csv', createRows(60))
  const options = { workspace: folder, env: { SLUICE_API_KEY: sandbox.key } }
  return { folder, sandbox, source, options, base: ['--base-url', sandbox.baseUrl] }
}

describe('load', () => {
  it('measures, exits by its thresholds, and can be shown, exported and compared', async () => {
    const { folder, sandbox, source, options, base } = await prepare()
    const rate = ['load', source, ...base, '--rate', '100', '--duration', '500ms']
    const held = await spawnSluice(
      [...rate, '--threshold', 'p(99)<30000', '--threshold', 'dropped==0', '--json'],
      options,
    )
    expect(held.code).toBe(0)
    const first = JSON.parse(held.stdout)
    expect(first).toMatchObject({
      state: 'completed',
      requests: { sent: 50, succeeded: 50 },
      throughput: { duration_s: 0.5 },
      thresholds: [
        { expression: 'p(99)<30000', ok: true },
        { expression: 'dropped==0', ok: true, value: 0 },
      ],
      load: { scheduled_per_s: 100, statuses: [{ status: 200, error_code: null, requests: 50 }] },
    })
    // What a busy machine sends late, at the very end, went out after the measured time.
    expect(first.throughput.attempted_per_s).toBeLessThanOrEqual(100)
    expect(first.throughput.attempted_per_s).toBeGreaterThan(0)
    // Every submission has a post_id of its own, whatever the source has.
    const tasks = (await sandbox.tasks()).filter(({ post_id }) => !post_id.endsWith('-first'))
    expect(new Set(tasks.map(({ post_id }) => post_id)).size).toBe(50)
    expect(tasks.every(({ post_id }) => post_id.startsWith(`${first.run_id}-`))).toBe(true)

    const crossed = await runInProcess([...rate, '--threshold', 'http_req_duration:avg<1'], options)
    expect(crossed.code).toBe(99)
    expect(crossed.stdout).toMatch(/✗ http_req_duration:avg<1 +[\d.,]+ ms +[\d.,]+ ms over the limit of 1 ms/)

    const look = (...args: string[]) => runInProcess(args, options)
    const shown = await look('show', 'latest')
    expect(shown.stdout.trim()).toBe(crossed.stdout.trim())
    const { stdout: listed } = await look('runs')
    expect(listed).toMatch(/1 of 1 failed +[\d.,]+ +load task/)
    expect(listed).toMatch(/passed +[\d.,]+ +load task/)
    // Nothing is left to be done of a load test, however few of its rows it came to.
    expect(first.rows.not_sent).toBeGreaterThan(0)
    expect(listed).not.toContain('LEFT')

    for (const name of ['r.html', 'r.junit.xml', 'r.hlog', 'r.csv', 'r.jsonl']) {
      const result = await look('export', 'latest', join(folder, name), '--json')
      expect(result.code, result.stderr).toBe(0)
      expect(readFileSync(join(folder, name), 'utf8').length).toBeGreaterThan(100)
    }
    const { stdout: samples } = await look('export', 'latest', join(folder, 'r.jsonl'))
    expect(samples).toMatch(/^50 records in /)

    const compared = await look('compare', first.run_id, 'latest')
    expect(compared.code).toBe(0)
    expect(compared.stdout).toMatch(/^A {2}posts\.csv .*\nB {2}posts\.csv /)
    expect(compared.stdout).toMatch(/http_req_duration {2}50 in A, 50 in B/)
    const document = JSON.parse((await look('compare', first.run_id, 'latest', '--json')).stdout)
    expect(document).toMatchObject({ a_run_id: first.run_id, plan_differences: [] })
    expect(document.series.map(({ metric }: { metric: string }) => metric)).toContain('response_time')
  })

  it('exits with 1 if no request succeeded, whether or not thresholds held', async () => {
    onlyInLongForm()
    const { source, options, base } = await prepare()
    const load = [
      'load',
      source,
      '--concurrency',
      '2',
      '--requests',
      '20',
      '--first-request',
      'skip',
      '--json',
    ]
    const refused = await runInProcess([...load, ...base, '--threshold', 'p(99)<60000'], {
      ...options,
      env: { SLUICE_API_KEY: 'another' },
    })
    expect(JSON.parse(refused.stdout)).toMatchObject({ requests: { sent: 20, succeeded: 0, rejected: 20 } })
    expect(refused.code).toBe(1)
    const nobody = await runInProcess([...load, '--base-url', 'http://127.0.0.1:9'], options)
    expect(JSON.parse(nobody.stdout)).toMatchObject({ requests: { succeeded: 0, failed: 20 } })
    expect(nobody.code).toBe(1)
  })

  it('exits with 1 and says why if the service refuses row 1, which is sent first and counted separately', async () => {
    onlyInLongForm()
    const { sandbox, source, options, base } = await prepare()
    const load = ['load', source, '--concurrency', '2', '--requests', '20', '--threshold', 'p(99)<60000']
    const fine = await runInProcess([...load, ...base, '--json'], options)
    expect(fine.code).toBe(0)
    expect(JSON.parse(fine.stdout)).toMatchObject({
      requests: { sent: 20, succeeded: 20 },
      load: { first_request: { outcome: 'succeeded', status: 200 } },
    })
    expect((await sandbox.stats()).requests).toBe(21)
    const refused = await runInProcess([...load, ...base], { ...options, env: { SLUICE_API_KEY: 'another' } })
    expect(refused.code).toBe(1)
    expect(refused.stdout).toMatch(
      /Stopped: the first request ended the load test before it began: 403 INVALID_API_KEY/,
    )
    expect((await sandbox.stats()).requests).toBe(22)
    const nobody = await runInProcess([...load, '--base-url', 'http://127.0.0.1:9'], options)
    expect(nobody.code).toBe(1)
    expect(nobody.stdout).toMatch(/Stopped: .*connection refused by 127\.0\.0\.1:9/)
  })

  it('is a smoke test with --once: one request, whose success the exit code tells', async () => {
    onlyInLongForm()
    const { sandbox, source, options, base } = await prepare()
    const once = ['load', source, ...base, '--once', '--json']
    // Pace and thresholds of the command line that it is added to do not matter.
    const fine = await runInProcess(
      [...once, '--rate', '500', '--duration', '5m', '--threshold', 'p(50)<0'],
      options,
    )
    expect(fine.code, fine.stderr).toBe(0)
    expect(JSON.parse(fine.stdout)).toMatchObject({ requests: { sent: 1, succeeded: 1 }, thresholds: [] })
    expect((await sandbox.stats()).requests).toBe(1)
    const refused = await runInProcess(once, { ...options, env: { SLUICE_API_KEY: 'another' } })
    expect(refused.code).toBe(1)
    expect((await sandbox.stats()).requests).toBe(2)
    expect((await runInProcess([...once, '--find-capacity'], options)).code).toBe(2)
  })

  it('has no success in async if no callback brought a result, also with --once', async () => {
    const { source, options } = await prepare()
    const service = await startFaultServer({
      onRequest: (request, wire) => wire.send(202, { task_id: `task-${request.number}` }),
    })
    const load = ['load', source, '--async', '--base-url', service.baseUrl, '--callback-timeout', '1s']
    const once = await runInProcess([...load, '--once'], options)
    expect(once.code).toBe(1)
    expect(once.stdout.replaceAll(/\s+/g, ' ')).toContain(
      'The request was acknowledged, but no callback brought its result, which fails the test',
    )
    const several = [...load, '--concurrency', '2', '--requests', '5', '--json']
    const summary = await runInProcess(several, options)
    expect(summary.code).toBe(1)
    expect(JSON.parse(summary.stdout)).toMatchObject({
      requests: { sent: 5, succeeded: 5 },
      load: { callbacks: { overdue: 5 } },
    })
    const failed = await runInProcess(['runs', '--failed', '--json'], options)
    expect(JSON.parse(failed.stdout)).toHaveLength(2)
  })

  it('refuses what only works with runs of rows', async () => {
    onlyInLongForm()
    const { folder, source, options, base } = await prepare()
    await runInProcess(['load', source, ...base, '--concurrency', '1', '--requests', '3'], options)
    const refuse = async (...args: string[]) => {
      const result = await runInProcess(args, options)
      expect(result.code, args.join(' ')).toBe(2)
      return result.stderr
    }
    expect(await refuse('retry', 'latest')).toMatch(/is a load test and cannot be retried/)
    expect(await refuse('resume', 'latest')).toMatch(/is a load test and cannot be resumed/)
    expect(await refuse('show', 'latest', '--row', '1')).toMatch(
      /is a load test, which has no results per row/,
    )
    const csv = join(folder, 'x.csv')
    expect(await refuse('export', 'latest', csv, '--state', 'rejected')).toMatch(
      /cannot be used with a load test/,
    )
    expect(await refuse('export', 'latest', join(folder, 'x.xlsx'))).toMatch(/ends in \.html/)
    expect(existsSync(csv)).toBe(false)
  })

  it('shows its plan and the first request, and sends nothing, with --dry-run', async () => {
    const { sandbox, source, options, base } = await prepare()
    const args = ['load', source, ...base, '--stages', '5..50@1m30s', '--threshold', 'p(95)<300', '--dry-run']
    const text = await runInProcess(args, options)
    expect(text.code).toBe(0)
    expect(text.stdout).toMatch(/Load +open, requests a second: 5 to 50 for 1 min 30 s/)
    expect(text.stdout).toContain('thresholds p(95)<300')
    expect(text.stdout).toMatch(/First request, row 2 +POST .*\n/)
    const document = JSON.parse((await runInProcess([...args, '--json'], options)).stdout)
    expect(document).toMatchObject({ dry_run: true, rows: { sendable: 60 } })
    // A load does not send the post_id of the source.
    expect(document.first_request.body.post_id).toMatch(/^[\w-]+-1$/)
    expect(document.first_request.body.post_id).not.toBe('p1')
    expect(document.load[0]).toMatch(/^open/)
    expect((await sandbox.stats()).requests).toBe(0)
  })

  it('runs again from its plan, without retries unless the plan has them', async () => {
    onlyInLongForm()
    const { folder, source, options, base } = await prepare()
    const plan = join(folder, 'plan.json')
    const args = ['load', source, ...base, '--concurrency', '2', '--requests', '10', '--save-plan', plan]
    expect((await runInProcess(args, options)).code).toBe(0)
    const saved = JSON.parse(readFileSync(plan, 'utf8'))
    expect(saved).toMatchObject({ load: { pace: { concurrency: 2 }, requests: 10 }, retry: { limit: 0 } })
    expect(saved.pace).toBeUndefined()
    const { retry: _without, ...written } = saved
    const load = { ...saved.load, thresholds: ['http_reqs:count>10'] }
    writeSource(folder, 'plan.json', JSON.stringify({ ...written, load }))
    const again = await runInProcess(['plan', plan, '--trust-plan', '--json'], options)
    expect(again.code).toBe(99)
    expect(again.stderr).toMatch(/✗ http_reqs:count>10: 10, at the limit itself/)
    expect(JSON.parse(again.stdout)).toMatchObject({ requests: { sent: 10, retried: 0 } })
    writeSource(folder, 'plan.json', JSON.stringify({ ...written, operation: { kind: 'appeal-status' } }))
    expect((await runInProcess(['plan', plan], options)).stderr).toMatch(/load: a load test submits tasks/)
  })

  it.each([
    [['--rate', '5'], /--duration, --requests: expected either a duration or a number of requests/],
    [['--duration', '5s'], /add --rate, --concurrency or --stages/],
    [['--rate', '5', '--stages', '5@1s'], /--rate and --stages cannot be combined/],
    [['--rate', '5', '--duration', '5s', '--abort-on-fail'], /--abort-on-fail needs a --threshold/],
    [['--rate', '5', '--duration', '5s', '--think-time', '1s'], /--think-time: .*closed pace/],
    [
      ['--concurrency', '5', '--requests', '5', '--when-full', 'drop'],
      /--when-full: belongs to an open pace/,
    ],
    [['--rate', '5', '--duration', '5s', '--threshold', 'p(99)<5s'], /--threshold: .*character 8/],
    [['--stages', '5@1'], /--stages: .*expected a duration/],
    [['--rate', '1.2345', '--duration', '5s'], /--rate: .*at most three decimal places/],
    [
      ['--concurrency', '5', '--requests', '5', '--think-time', '2s-1s'],
      /--think-time: .*shorter duration first/,
    ],
    [['--rate', '5', '--duration', '5s', '--http', '2'], /--http: HTTP\/2 needs an https address/],
    [['--rate', '5', '--duration', '5s', '--max-in-flight', '1', '--workers', '2'], /must not exceed/],
  ])('refuses %j', async (args, message) => {
    const folder = createTemporaryFolder()
    const source = writeSource(folder, 'posts.csv', createRows(2))
    const base = ['load', source, '--base-url', 'http://127.0.0.1:1']
    const result = await runInProcess([...base, ...args], { workspace: folder, env: { SLUICE_API_KEY: 'k' } })
    expect(result.stderr).toMatch(message)
    expect(result.code).toBe(2)
  })
})

/** Live figures, once so many requests have ended and a second is over, with which percentiles come. */
async function untilRequests(url: string, count: number): Promise<string> {
  const look = async () => {
    const text = await (await fetch(url)).text()
    expect(Number(/^k6_http_reqs_total\S* (\d+)/m.exec(text)?.[1] ?? 0)).toBeGreaterThanOrEqual(count)
    expect(text).toContain('k6_http_req_duration_p99')
    return text
  }
  return waitFor(look, { timeout: 50_000, interval: 50 })
}

describe('a load that goes on', () => {
  it('can be scraped, and Ctrl-C ends it, still writes and prints what was measured, and exits with 130', async () => {
    onlyInLongForm()
    const { source, options, base, sandbox } = await prepare('2ms')
    const length = ['--rate', '100', '--duration', '10m', '--threshold', 'p(99)<30000']
    let scraped = ''
    let isFound = false
    const stopped = await spawnSluice(['load', source, ...base, ...length, '--metrics-port', '0'], {
      ...options,
      onStderr: (text, child) => {
        const [url] = /http:\/\/127\.0\.0\.1:\d+\/metrics/.exec(text) ?? []
        if (url === undefined || isFound) return
        isFound = true
        void untilRequests(url, 130).then((metrics) => {
          scraped = metrics
          child.kill('SIGINT')
        })
      },
    })
    expect(stopped.code).toBe(130)
    expect(stopped.stderr).toMatch(/Stopping: waiting for .* in flight\. Results so far are kept/)
    expect(stopped.stdout).toMatch(/posts\.csv · interrupted · [\d.]+ s measured/)
    expect(stopped.stdout).toMatch(/✓ p\(99\)<30000/)
    expect(stopped.stdout).toMatch(/succeeded +[\d.]+\/s/)
    expect(stopped.stdout).not.toMatch(/resume|retry/)
    expect(scraped).toMatch(/^k6_http_req_duration_p99\{testid="[\w-]+"\} [\d.]+$/m)
    expect(scraped).not.toContain(sandbox.key)
    expect(scraped).not.toContain('posts.csv')
  })

  it('says after kill -9 that it was cut off, and shows the same requests everywhere', {
    skip: !inject('isLong'),
  }, async () => {
    const { folder, source, options, base } = await prepare('150ms')
    const length = ['--rate', '100', '--duration', '10m', '--threshold', 'http_reqs:count>100000']
    let isFound = false
    const killed = await spawnSluice(['load', source, ...base, ...length, '--metrics-port', '0'], {
      ...options,
      onStderr: (text, child) => {
        const [url] = /http:\/\/127\.0\.0\.1:\d+\/metrics/.exec(text) ?? []
        if (url === undefined || isFound) return
        isFound = true
        void untilRequests(url, 130).then(() => child.kill('SIGKILL'))
      },
    })
    expect(killed.code).not.toBe(0)
    const look = (...args: string[]) => runInProcess(args, options)
    const summary = JSON.parse((await look('show', 'latest', '--json')).stdout)
    const { sent, succeeded, unknown } = summary.requests
    expect(summary).toMatchObject({
      state: 'interrupted',
      stop_reason: expect.stringMatching(/^its process ended/),
    })
    expect(summary.throughput.attempted_per_s).toBeCloseTo(sent / summary.throughput.duration_s, 0)
    expect(unknown).toBeGreaterThan(0)
    expect(succeeded + unknown).toBe(sent)
    expect(summary.errors).toEqual([expect.objectContaining({ outcome: 'unknown', rows: unknown })])

    // As in every look at it, what is counted are requests.
    expect((await look('runs')).stdout).toMatch(
      new RegExp(`interrupted, threshold failed +60 +${succeeded} +0 +0 +${unknown} `),
    )
    const { stdout: shown } = await look('show', 'latest')
    expect(shown).toContain('Stopped: its process ended before the load did')
    expect(shown).toMatch(new RegExp(`sent +[\\d.]+/s +${sent} in total`))
    expect(shown).toMatch(new RegExp(`${unknown} unknown [(]sent`))
    const write = async (name: string) => {
      const file = join(folder, name)
      expect((await look('export', 'latest', file)).code).toBe(0)
      return readFileSync(file, 'utf8')
    }
    const junit = await write('k.junit.xml')
    expect(junit).toContain(`name="requests" value="${sent}"`)
    expect(junit).toContain(`name="requests_not_succeeded" value="${unknown}"`)
    expect(junit).toContain('the run was interrupted: its process ended')
    expect(await write('k.html')).toContain('Stopped: its process ended before the load did')
    const kept = (await write('k.jsonl'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(kept.length).toBe(succeeded)
  })
})
