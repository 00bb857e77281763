import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { BUCKET_BOUNDS_MS } from '../../../src/shared/load/streamed-second.ts'
import { findClosedPort, startFaultServer, toTaskAnswer } from '../../helpers/fault-server.ts'
import { findCommand } from '../../helpers/find-command.ts'
import { onlyInLongForm } from '../../helpers/long-form.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { waitFor } from '../../helpers/wait-for.ts'
import { runInProcess } from './run-in-process.ts'
import { createRows, writeSource } from './write-source.ts'

const prometheus = findCommand('prometheus', 'SLUICE_PROMETHEUS')
const collector = findCommand('otelcol', 'SLUICE_COLLECTOR')

/** How long the service takes for every tenth request, milliseconds: in no bucket with the others. */
const SLOW_MS = 300

/** A service that is busy at every fourth request, and slow at every tenth. */
const startService = () =>
  startFaultServer({
    onRequest: (request, wire) => {
      const busy = { error: true, status: 503, error_code: 'BUSY', message: 'no' }
      if (request.number % 4 === 0) wire.send(503, busy)
      else if (request.number % 10 === 1) setTimeout(() => wire.send(200, toTaskAnswer(request)), SLOW_MS)
      else wire.send(200, toTaskAnswer(request))
    },
  })

interface Summary {
  run_id: string
  requests: { sent: number }
  latency_ms: { http_req_duration: { count: number; mean: number; p95: number; p99: number } }
}

/** Runs a load test of four seconds that shows its figures while it runs. */
async function load(folder: string, more: readonly string[]): Promise<Summary> {
  const service = await startService()
  const source = writeSource(folder, 'posts.csv', createRows(3))
  const ended = await runInProcess(
    [
      ...['load', source, '--base-url', service.baseUrl, '--rate', '50', '--duration', '4s'],
      ...['--first-request', 'skip', '--json', ...more],
    ],
    { workspace: join(folder, 'work'), env: { SLUICE_API_KEY: 'the-default-key' } },
  )
  expect(ended).toMatchObject({ code: 0 })
  const summary = JSON.parse(ended.stdout) as Summary
  expect(service.requests).toHaveLength(200)
  expect(summary.requests).toMatchObject({ sent: 200, succeeded: 150, unknown: 50 })
  return summary
}

/** Starts a program that ends with the test; what it wrote so far. */
function start(program: string, args: readonly string[]): { child: ChildProcess; text: () => string } {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  let text = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (more: string) => {
      text += more
    })
  }
  const ended = once(child, 'close')
  onTestFinished(async () => {
    child.kill()
    await ended
  })
  return { child, text: () => text }
}

/** The bounds in milliseconds of the bucket that a latency is in. */
function toBucket(ms: number): { from: number; to: number } {
  const index = BUCKET_BOUNDS_MS.findIndex((bound) => ms <= bound)
  return { from: BUCKET_BOUNDS_MS[index - 1] ?? 0, to: BUCKET_BOUNDS_MS[index] ?? Infinity }
}

describe.skipIf(prometheus === null)('Prometheus that scrapes a load test', () => {
  it('has the counts, the mean and the percentiles of its summary', async () => {
    onlyInLongForm()
    const folder = createTemporaryFolder()
    const [port, metricsPort] = [await findClosedPort(), await findClosedPort()]
    const config = {
      global: { scrape_interval: '1s' },
      scrape_configs: [{ job_name: 'sluice', static_configs: [{ targets: [`127.0.0.1:${metricsPort}`] }] }],
    }
    writeFileSync(join(folder, 'prometheus.yml'), JSON.stringify(config))
    const base = `http://127.0.0.1:${port}`
    start(prometheus ?? '', [
      `--config.file=${join(folder, 'prometheus.yml')}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ])
    await waitFor(async () => expect((await fetch(`${base}/-/ready`)).status).toBe(200))
    const summary = await load(folder, ['--metrics-port', String(metricsPort), '--metrics-linger', '50s'])
    const testid = `{testid="${summary.run_id}"}`
    /** The newest value of each series, by status; the target is gone since. */
    const ask = async (query: string): Promise<Record<string, number>> => {
      const answer = await fetch(`${base}/api/v1/query?query=${encodeURIComponent(query)}`)
      const { data } = (await answer.json()) as {
        data: { result: { metric: { status?: string }; value: [number, string] }[] }
      }
      return Object.fromEntries(
        data.result.map(({ metric, value }) => [metric.status ?? 'all', Number(value[1])]),
      )
    }
    const newest = (series: string) => `last_over_time(${series}${testid}[1h])`
    await waitFor(async () => expect(await ask(newest('k6_http_reqs_total'))).toEqual({ all: 200 }))
    expect(await ask(newest('sluice_http_reqs_total'))).toEqual({ 200: 150, 503: 50 })
    expect(await ask(newest('k6_http_req_failed_rate'))).toEqual({ all: 0.25 })
    const { count, mean, p95, p99 } = summary.latency_ms.http_req_duration
    expect(await ask(newest('sluice_http_req_duration_seconds_count'))).toEqual({ all: count })
    const { all: meanS } = await ask(
      `${newest('sluice_http_req_duration_seconds_sum')} / ${newest('sluice_http_req_duration_seconds_count')}`,
    )
    expect((1000 * (meanS ?? 0)) / mean).toBeCloseTo(1, 1)
    expect((await ask(newest('k6_http_req_duration_p99')))['all']).toBeCloseTo(p99 / 1000, 5)
    for (const [share, ms] of [
      [0.95, p95],
      [0.99, p99],
    ] as const) {
      const { all: seconds = NaN } = await ask(
        `histogram_quantile(${share}, ${newest('sluice_http_req_duration_seconds_bucket')})`,
      )
      const { from, to } = toBucket(ms)
      expect(seconds * 1000, `${share} of ${ms} ms`).toBeGreaterThan(from)
      expect(seconds * 1000, `${share} of ${ms} ms`).toBeLessThanOrEqual(to)
    }
  })
})

describe.skipIf(collector === null)('a Collector of OpenTelemetry that a load test sends to', () => {
  it('has the counts, the mean and the percentiles of its summary', async () => {
    onlyInLongForm()
    const folder = createTemporaryFolder()
    const port = await findClosedPort()
    const config = {
      receivers: { otlp: { protocols: { http: { endpoint: `127.0.0.1:${port}` } } } },
      exporters: { debug: { verbosity: 'detailed' } },
      service: {
        telemetry: { metrics: { level: 'none' } },
        pipelines: { metrics: { receivers: ['otlp'], exporters: ['debug'] } },
      },
    }
    writeFileSync(join(folder, 'collector.yaml'), JSON.stringify(config))
    const { text } = start(collector ?? '', ['--config', join(folder, 'collector.yaml')])
    await waitFor(() => expect(text()).toContain('Everything is ready'))
    const summary = await load(folder, ['--out', `otlp=http://127.0.0.1:${port}`])
    const { count, mean, p95, p99 } = summary.latency_ms.http_req_duration
    await waitFor(() => {
      expect(readStatuses(readNewest(text(), 'http_reqs'))).toEqual({ 200: 150, 503: 50 })
      expect(readNewest(text(), 'http_req_duration')).toMatch(new RegExp(`^Count: ${count}$`, 'm'))
    })
    const durations = readNewest(text(), 'http_req_duration')
    expect(durations).toContain(`testid: Str(${summary.run_id})`)
    const sumS = Number(/^Sum: (\S+)$/m.exec(durations)?.[1])
    expect((1000 * sumS) / count / mean).toBeCloseTo(1, 1)
    const counts = [...durations.matchAll(/^Buckets #\d+, Count: (\d+)$/gm)].map(([, one]) => Number(one))
    for (const [share, ms] of [
      [0.95, p95],
      [0.99, p99],
    ] as const) {
      const upTo = (index: number) => counts.slice(0, index + 1).reduce((total, one) => total + one, 0)
      const index = counts.findIndex((_, at) => upTo(at) >= share * count)
      expect(BUCKET_BOUNDS_MS[index], `${share} of ${ms} ms`).toBe(toBucket(ms).to)
    }
    expect(text()).not.toContain('the-default-key')
  })
})

/** What the debug exporter wrote of a metric when it came last. */
function readNewest(text: string, metric: string): string {
  const parts = text.split(/^Metric #\d+$/m).filter((part) => part.includes(`-> Name: ${metric}\n`))
  return parts.at(-1) ?? ''
}

/** The values of its points by HTTP status. */
function readStatuses(part: string): Record<string, number> {
  const points = part.matchAll(/-> status: Int\((\d+)\).*?^Value: (\d+)$/gms)
  return Object.fromEntries([...points].map(([, status, value]) => [status, Number(value)]))
}
