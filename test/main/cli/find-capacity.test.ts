import { describe, expect, inject, it } from 'vitest'
import type { SandboxOptions } from '../../../src/main/sandbox/sandbox-options.ts'
import { capacityReportSchema } from '../../../src/shared/load/capacity-report.ts'
import { onlyInLongForm } from '../../helpers/long-form.ts'
import { withSandbox } from '../../helpers/sandbox.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { waitFor } from '../../helpers/wait-for.ts'
import { runInProcess } from './run-in-process.ts'
import { spawnSluice } from './spawn-sluice.ts'
import { createRows, writeSource } from './write-source.ts'

async function prepare(sandboxOptions: SandboxOptions) {
  const folder = createTemporaryFolder()
  const sandbox = await withSandbox(sandboxOptions)
  const source = writeSource(folder, 'posts.csv', createRows(20))
  const base = ['load', source, '--base-url', sandbox.baseUrl]
  const options = { workspace: folder, env: { SLUICE_API_KEY: sandbox.key } }
  const load = (...args: string[]) => runInProcess([...base, ...args], options)
  return { folder, sandbox, source, options, load }
}

async function prepareSearch(...args: string[]) {
  const { source, sandbox, options } = await prepare({})
  const base = ['load', source, '--base-url', sandbox.baseUrl, '--find-capacity', '--rate', '20']
  const search = [...base, '--threshold', 'p(99)<20000', '--json', '--warmup', '0s', ...args]
  return { sandbox, search, options }
}

const SHORT = ['--find-capacity', '--warmup', '0s', '--duration', '300ms', '--cool-down', '0s', '--json']

describe('load --find-capacity', () => {
  // On a busy machine a probe can be void, and two probes are then too few: hence the retries.
  it('brackets a rate limit, says first what it will do, and stores each probe as a load test', {
    retry: 3,
  }, async () => {
    const { load, options } = await prepare({ ratePerSecond: 100 })
    const result = await load(
      // At twice the limit, one second uses up the burst of one second that the limit allows.
      ...['--find-capacity', '--warmup', '500ms', '--duration', '800ms', '--cool-down', '0s', '--json'],
      ...['--rate', '100', '--max-probes', '2', '--threshold', 'p(99)<20000'],
    )
    expect(result.stderr).toMatch(/Overloads the service on purpose/)
    expect(result.stderr).toMatch(/from 100 requests per second/)
    expect(result.stderr).toMatch(/At most +6,400 requests per second, 2 probes, 1 h/)
    const report = capacityReportSchema.parse(JSON.parse(result.stdout))
    expect(report, result.stderr).toMatchObject({
      end: 'probe_limit',
      unit: 'requests_per_second',
      capacity: 100,
      interval: { low: 100, high: 200 },
      // At a rate, a latency without a metric counts from the schedule; errors are limited by default.
      thresholds: ['response_time:p(99)<20000', 'http_req_failed:rate<0.01'],
    })
    // The bounds were not narrowed down, so this is not an answer yet.
    expect(result.code).toBe(1)
    expect(report.curve.map(({ level, held, failed }) => [level, held, failed])).toEqual([
      [100, 1, 0],
      [200, 0, 1],
    ])
    expect(report.probes[1]?.reasons[0]).toMatch(/✗ http_req_failed:rate<0.01/)
    const [, last] = report.probes
    const shown = await runInProcess(['show', last?.run_id ?? '', '--json'], options)
    expect(JSON.parse(shown.stdout)).toMatchObject({
      name: 'posts.csv, probe 2 at 200/s',
      thresholds: last?.thresholds,
      load: { scheduled_per_s: 200 },
    })
  })

  it('asks on a terminal, and sends nothing if the answer is no', async () => {
    const { source, sandbox, options } = await prepare({})
    const asked: string[] = []
    const result = await runInProcess(
      [
        ...['load', source, '--base-url', sandbox.baseUrl, ...SHORT, '--threshold', 'p(99)<1'],
        ...['--concurrency', '4', '--max-level', '32'],
      ],
      {
        ...options,
        ask: (question) => {
          asked.push(question)
          return false
        },
      },
    )
    expect(asked).toEqual(['Start the search?'])
    expect(result).toMatchObject({ code: 2, stdout: '' })
    expect(result.stderr).toMatch(/from 4 requests in flight/)
    expect(result.stderr).toMatch(/At most +32 requests in flight/)
    expect(result.stderr).toMatch(/Nothing was sent\./)
    expect((await sandbox.stats()).requests).toBe(0)
  })

  it('needs --yes for a production connection if nobody can be asked', async () => {
    const { source, sandbox, options } = await prepare({})
    const add = ['connection', 'add', 'live', '--base-url', sandbox.baseUrl, '--production']
    const added = await runInProcess(add, options)
    expect(added.code, added.stderr).toBe(0)
    const search = [
      'load',
      source,
      '--connection',
      'live',
      ...SHORT,
      '--rate',
      '10',
      '--threshold',
      'p(99)<1',
    ]
    const refused = await runInProcess(search, options)
    expect(refused.code).toBe(2)
    expect(refused.stderr + refused.stdout).toMatch(/marked as production/)
    expect((await sandbox.stats()).requests).toBe(0)
  })

  it('refuses contradicting options', async () => {
    const { load } = await prepare({})
    const refuse = async (...args: string[]) => {
      const result = await load(...args)
      expect(result.code, args.join(' ')).toBe(2)
      return result.stderr
    }
    const threshold = ['--threshold', 'p(99)<500']
    expect(await refuse('--find-capacity', '--rate', '10')).toMatch(/needs a --threshold/)
    expect(await refuse('--find-capacity', '--stages', '5@1s', ...threshold)).toMatch(/--stages cannot/)
    expect(await refuse('--find-capacity', '--rate', '9', '--requests', '5', ...threshold)).toMatch(
      /--requests cannot/,
    )
    expect(await refuse('--rate', '10', '--duration', '1s', '--max-probes', '3')).toMatch(
      /--max-probes only works with --find-capacity/,
    )
    expect(await refuse('--find-capacity', '--rate', '10', '--max-level', '5', ...threshold)).toMatch(
      /--max-level must not be below the start/,
    )
  })

  // On a busy machine the probe can be void, and then nothing was found: hence the retries.
  it('shows the result so far when Ctrl-C ends a pause between probes', { retry: 3 }, async () => {
    onlyInLongForm()
    const { search, options } = await prepareSearch('--duration', '200ms', '--cool-down', '10m')
    const paused = await spawnSluice(search, {
      ...options,
      onStderr: (text, child) => {
        if (text.includes('Probe 1 at')) child.kill('SIGINT')
      },
    })
    expect(paused.code, paused.stderr).toBe(130)
    const report = capacityReportSchema.parse(JSON.parse(paused.stdout))
    expect(report).toMatchObject({ end: 'interrupted', capacity: 20, probes: [{ level: 20 }] })
  })

  it.runIf(inject('isLong'))('ignores a probe that Ctrl-C ended', async () => {
    const { sandbox, search, options } = await prepareSearch('--duration', '10m')
    const untilSent = () =>
      waitFor(async () => expect((await sandbox.stats()).tasks).toBeGreaterThan(0), {
        timeout: 20_000,
        interval: 10,
      })
    const stopped = await spawnSluice(search, {
      ...options,
      onStart: (child) => void untilSent().then(() => child.kill('SIGINT')),
    })
    expect(stopped.code, stopped.stderr).toBe(130)
    expect(JSON.parse(stopped.stdout)).toMatchObject({ end: 'interrupted', capacity: null, probes: [] })
    const runs = JSON.parse((await runInProcess(['runs', '--json'], options)).stdout)
    expect(runs.map(({ state }: { state: string }) => state)).toEqual(['interrupted'])
  })
})
