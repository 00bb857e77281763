import { existsSync, linkSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createHistogram, toCellStart } from '../../../src/shared/load/latency-meter.ts'
import { BUCKET_BOUNDS_MS } from '../../../src/shared/load/streamed-second.ts'
import { type FaultServer, startFaultServer, toTaskAnswer } from '../../helpers/fault-server.ts'
import { onlyInLongForm } from '../../helpers/long-form.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { runInProcess } from './run-in-process.ts'
import { HISTOGRAM, METRIC, SUM, walkProtobuf } from './session/otlp-message.ts'
import { createRows, writeSource } from './write-source.ts'

const env = { SLUICE_API_KEY: 'the-default-key' }

/** How long the service takes to say that it is busy, milliseconds. */
const BUSY_MS = 6

/** A service that is busy at every fourth request. */
const startService = () =>
  startFaultServer({
    onRequest: (request, wire) => {
      const busy = { error: true, status: 503, error_code: 'BUSY', message: 'no' }
      if (request.number % 4 === 0) setTimeout(() => wire.send(503, busy), BUSY_MS)
      else wire.send(200, toTaskAnswer(request))
    },
  })

function open(service: FaultServer, ask?: () => boolean) {
  const folder = createTemporaryFolder()
  const source = writeSource(folder, 'posts.csv', createRows(3))
  const send = (args: readonly string[]) =>
    runInProcess(args, { workspace: join(folder, 'work'), env, ...(ask !== undefined && { ask }) })
  const load = [
    'load',
    source,
    '--base-url',
    service.baseUrl,
    '--rate',
    '40',
    '--duration',
    '2s',
    '--first-request',
    'skip',
  ]
  return { folder, source, send, load: (more: readonly string[]) => send([...load, ...more]) }
}

type Line = Record<string, number> & {
  time: string
  run_id: string
  statuses: { status: number | null; requests: number }[]
  latency_ms: Record<string, { count: number; min: number; max: number }>
  buckets: Record<string, { counts: number[]; sum_ms: number }>
}

/** Where the cell of the histogram begins that a latency is in: the longest is told as its end. */
function toCellMs(ms: number): number {
  return toCellStart(createHistogram(), Math.round(ms * 1000)) / 1000
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, one) => total + one, 0)

it('leaves out of reports what messages quote of a row', async () => {
  const service = await startFaultServer({
    onRequest: (request, wire) =>
      wire.send(400, {
        error_code: 'INVALID_PARAM',
        message: `too rude: ${JSON.parse(request.body).text_data}`,
      }),
  })
  const folder = createTemporaryFolder()
  const source = writeSource(folder, 'posts.csv', 'user_id,text_data\nana,I will attack you\n')
  const send = (...args: string[]) => runInProcess(args, { workspace: join(folder, 'work'), env })
  const load = ['load', source, '--base-url', service.baseUrl, '--requests', '3', '--concurrency', '1']
  expect((await send(...load)).stdout).toContain('too rude: I will attack you')
  for (const name of ['report.html', 'report.md']) {
    expect((await send('report', 'latest', join(folder, name))).code).toBe(0)
    const text = readFileSync(join(folder, name), 'utf8')
    expect(text).toContain('too rude: …')
    expect(text).not.toContain('attack')
  }
})

describe('--out ndjson=FILE', () => {
  it('writes a line for each second with its absolute time, and the lines add up to the summary', async () => {
    const service = await startService()
    const { folder, load } = open(service)
    const file = join(folder, 'seconds.ndjson')
    const beforeMs = Date.now()
    const ended = await load(['--out', `ndjson=${file}`, '--json'])
    const summary = JSON.parse(ended.stdout)
    const lines = readFileSync(file, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Line)
    expect(lines.length).toBeGreaterThanOrEqual(2)
    for (const [index, line] of lines.entries()) {
      expect(line).toMatchObject({ run_id: summary.run_id, second: index })
      expect(Date.parse(line.time)).toBeGreaterThanOrEqual(beforeMs)
      expect(Date.parse(line.time) - Date.parse(lines[0]?.time ?? '')).toBe(index * 1000)
      expect(Date.parse(line.time)).toBeLessThanOrEqual(Date.now())
    }
    const total = (name: string) => sum(lines.map((line) => line[name] ?? 0))
    expect(total('sent')).toBe(80)
    expect(total('succeeded')).toBe(60)
    expect(total('unknown')).toBe(20)
    const { requests, latency_ms: latency } = summary
    expect(requests).toMatchObject({ sent: 80, succeeded: 60, unknown: 20 })
    const of = (status: number) =>
      sum(
        lines.flatMap(({ statuses }) =>
          statuses.filter((one) => one.status === status).map((one) => one.requests),
        ),
      )
    expect([of(200), of(503)]).toEqual([60, 20])
    const counted = lines.flatMap(({ buckets }) => buckets['http_req_duration']?.counts ?? [])
    expect(sum(counted)).toBe(latency.http_req_duration.count)
    for (const { buckets, latency_ms: told } of lines) {
      const duration = told['http_req_duration']
      // On a machine that stood still, nothing ended in a whole second.
      if (duration === undefined) continue
      const counts = buckets['http_req_duration']?.counts ?? []
      const { min, max } = duration
      const toBucket = (ms: number) => BUCKET_BOUNDS_MS.findIndex((bound) => toCellMs(ms) <= bound)
      expect(counts.findIndex((count) => count > 0)).toBe(toBucket(min))
      expect(counts.findLastIndex((count) => count > 0)).toBe(toBucket(max))
    }
    // The busy answers are above 5 ms, whatever the others took.
    expect(
      sum(lines.flatMap(({ buckets }) => buckets['http_req_duration']?.counts.slice(3) ?? [])),
    ).toBeGreaterThanOrEqual(20)
    const sumMs = sum(lines.map(({ buckets }) => buckets['http_req_duration']?.sum_ms ?? 0))
    expect(sumMs / 80 / latency.http_req_duration.mean).toBeCloseTo(1, 1)
  })

  it('opens its file before anything is sent, and never over the source', async () => {
    const service = await startService()
    const { folder, source, load, send } = open(service)
    const missing = await load(['--out', `ndjson=${join(folder, 'missing', 'seconds.ndjson')}`])
    expect(missing).toMatchObject({ code: 2 })
    expect(missing.stderr).toContain('--out: cannot write')
    expect(await load(['--out', `ndjson=${source}`])).toMatchObject({ code: 2 })
    expect(readFileSync(source, 'utf8')).toBe(createRows(3))
    const nameless = await load(['--out', 'influxdb=http://127.0.0.1'])
    expect(nameless.stderr).toContain('expected ndjson=FILE or otlp=URL')
    expect(await load(['--metrics-host', '0.0.0.0'])).toMatchObject({ code: 2 })
    await send([
      'task',
      source,
      '--base-url',
      'http://127.0.0.1:1',
      '--save-plan',
      join(folder, 'a.plan.json'),
      '--dry-run',
    ])
    const run = await send([
      ...['plan', join(folder, 'a.plan.json'), '--trust-plan', '--out'],
      `ndjson=${join(folder, 'seconds.ndjson')}`,
    ])
    expect(run.stderr).toContain('--out only works with load tests')
    expect(service.requests).toEqual([])
  })

  it('keeps the old content of the file until a load begins, and leaves no new file behind if none does', async () => {
    onlyInLongForm()
    const service = await startService()
    const { folder, load } = open(service)
    const file = join(folder, 'seconds.ndjson')
    const fresh = join(folder, 'fresh.ndjson')
    const both = [...['--out', `ndjson=${file}`], ...['--out', `ndjson=${fresh}`], '--overwrite']
    writeFileSync(file, 'the last measurement\n')
    // The column is found missing when the run reads its source.
    const failed = await load([...both, '--map', 'text_data=missing'])
    expect(failed).toMatchObject({ code: 2 })
    expect(readFileSync(file, 'utf8')).toBe('the last measurement\n')
    expect(existsSync(fresh)).toBe(false)
    expect(service.requests).toEqual([])
    expect(await load(both)).toMatchObject({ code: 0 })
    expect(readFileSync(file, 'utf8')).toMatch(/^\{"time"/)
    expect(readFileSync(fresh, 'utf8')).toBe(readFileSync(file, 'utf8'))
  })

  it('overwrites a file that it wrote, and refuses any other and one that was changed since', async () => {
    onlyInLongForm()
    const service = await startService()
    const { folder, load } = open(service)
    const file = join(folder, 'seconds.ndjson')
    const out = ['--out', `ndjson=${file}`]
    for (let time = 1; time <= 2; time += 1) {
      expect(await load(out)).toMatchObject({ code: 0 })
      expect(readFileSync(file, 'utf8').match(/"second":0,/g)).toHaveLength(1)
    }
    const before = service.requests.length
    for (const [text, said] of [
      [`${readFileSync(file, 'utf8')}{"note":"mine"}\n`, 'seconds.ndjson was changed since Sluice wrote it'],
      ['what I noted by hand\n', 'seconds.ndjson was changed since Sluice wrote it'],
    ] as const) {
      writeFileSync(file, text)
      const refused = await load(out)
      expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('--overwrite')])
      expect(refused.stderr).toContain(said)
      expect(readFileSync(file, 'utf8')).toBe(text)
    }
    const notes = join(folder, 'notes.txt')
    writeFileSync(notes, 'what I noted by hand\n')
    expect((await load(['--out', `ndjson=${notes}`])).stderr).toContain(
      'notes.txt exists, and was not written from this workspace',
    )
    expect(service.requests).toHaveLength(before)
  })

  it('keeps the old content of the file if the test is declined, and does not linger then', async () => {
    onlyInLongForm()
    const service = await startService()
    const { folder, send, load } = open(service, () => false)
    const file = join(folder, 'seconds.ndjson')
    const overwrite = ['--out', `ndjson=${file}`, '--overwrite']
    writeFileSync(file, 'the last measurement\n')
    const where = ['--base-url', service.baseUrl, '--api-key-env', 'SLUICE_API_KEY', '--production']
    expect(await send(['connection', 'add', 'live', ...where])).toMatchObject({ code: 0 })
    const linger = ['--metrics-port', '0', '--metrics-linger', '10m']
    const declined = await load([...overwrite, ...linger])
    expect(declined).toMatchObject({ code: 2 })
    expect(declined.stderr).toContain('Nothing was sent.')
    expect(readFileSync(file, 'utf8')).toBe('the last measurement\n')
    expect(service.requests).toEqual([])
  })

  it('does not linger after a source that cannot be read', async () => {
    onlyInLongForm()
    const service = await startService()
    const { load } = open(service)
    const linger = ['--metrics-port', '0', '--metrics-linger', '10m']
    expect(await load(['--map', 'text_data=missing', ...linger])).toMatchObject({ code: 2 })
  })

  it('refuses a file that the command also uses for something else, by whatever name', async () => {
    const service = await startService()
    const { folder, load, send } = open(service)
    const to = (name: string) => ['--out', `ndjson=${join(folder, name)}`]
    const twice = await load([...to('one.ndjson'), ...to('./one.ndjson')])
    expect(twice).toMatchObject({ code: 2 })
    expect(twice.stderr).toContain('one.ndjson is named by another --out')
    expect(existsSync(join(folder, 'one.ndjson'))).toBe(false)
    const token = join(folder, 'token.txt')
    writeFileSync(token, 'a-token\n')
    linkSync(token, join(folder, 'other-name.txt'))
    const header = await load([...to('other-name.txt'), '--header', `x-token: @${token}`])
    expect(header).toMatchObject({ code: 2 })
    expect(header.stderr).toContain('other-name.txt is the value of a header')
    expect(readFileSync(token, 'utf8')).toBe('a-token\n')
    const plan = join(folder, 'load.plan.json')
    const saved = await load([...to('load.plan.json'), '--save-plan', plan])
    expect(saved).toMatchObject({ code: 2 })
    expect(saved.stderr).toContain('load.plan.json is the file of --save-plan')
    const written = readFileSync(plan, 'utf8')
    const run = await send(['plan', plan, '--trust-plan', ...to('load.plan.json')])
    expect(run).toMatchObject({ code: 2 })
    expect(run.stderr).toContain('load.plan.json is the plan file')
    expect(readFileSync(plan, 'utf8')).toBe(written)
    const exported = await load([...to('seconds.csv'), '--export', join(folder, 'seconds.csv')])
    expect(exported.stderr).toContain('seconds.csv is the file of --export')
    expect(service.requests).toEqual([])
  })
})

describe('--out otlp=URL', () => {
  it('sends counters and histograms that add up to the summary, times included', async () => {
    onlyInLongForm()
    const service = await startService()
    const exports: { path: string; body: Buffer }[] = []
    const receiver = createServer((request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        exports.push({ path: request.url ?? '', body: Buffer.concat(chunks) })
        response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end()
      })
    })
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => {
      receiver.closeAllConnections()
      receiver.close()
    })
    const { port } = receiver.address() as AddressInfo
    const ended = await open(service).load(['--out', `otlp=http://127.0.0.1:${port}`, '--json'])
    const summary = JSON.parse(ended.stdout)
    expect(exports.length).toBeGreaterThanOrEqual(2)
    const last = exports.at(-1) ?? { path: '', body: Buffer.alloc(0) }
    expect(last.path).toBe('/v1/metrics')
    let name = ''
    const counts: Record<string, number> = {}
    const sums: number[] = []
    for (const [path, value] of walkProtobuf(last.body)) {
      if (typeof value === 'number') continue
      if (path === `${METRIC}/1`) name = value.toString()
      if (path === `${HISTOGRAM}/4`) counts[name] = Number(value.readBigUInt64LE())
      if (path === `${SUM}/6` && name === 'http_reqs') sums.push(Number(value.readBigInt64LE()))
      if (path === `${HISTOGRAM}/2`) {
        expect(Number(value.readBigUInt64LE() / 1_000_000n)).toBeGreaterThan(Date.now() - 60_000)
      }
    }
    expect(counts['http_req_duration']).toBe(summary.latency_ms.http_req_duration.count)
    expect(sums.sort((a, b) => a - b)).toEqual([20, 60])
    expect(last.body.includes(summary.run_id)).toBe(true)
    expect(last.body.includes('the-default-key')).toBe(false)
  })

  it('says at the end that figures did not arrive, and does not change the test', async () => {
    onlyInLongForm()
    const service = await startService()
    const ended = await open(service).load(['--out', 'otlp=http://127.0.0.1:1', '--json'])
    expect(ended.stderr).toContain('the figures did not all arrive at http://127.0.0.1:1')
    expect(JSON.parse(ended.stdout)).toMatchObject({ requests: { sent: 80 } })
  }, 30_000)
})

describe('--metrics-port', () => {
  it('serves after the test until the final figures are read, if asked to', async () => {
    const { serveMetrics } = await import('../../../src/main/cli/session/metrics.ts')
    const server = await serveMetrics(0)
    onTestFinished(() => server.close())
    let hasEnded = false
    const read = server.linger(60_000).then(() => {
      hasEnded = true
    })
    // None of these has the figures.
    for (const [path, method] of [
      ['/', 'GET'],
      ['/metrics', 'HEAD'],
      ['/metrics', 'POST'],
    ] as const) {
      await (await fetch(new URL(path, server.url), { method })).text()
      expect({ path, method, hasEnded }).toMatchObject({ hasEnded: false })
    }
    await fetch(server.url)
    await read
    expect(hasEnded).toBe(true)
    await expect(server.linger(1)).resolves.toBeUndefined()
  })

  it('serves counters by status and distributions of the completed seconds, at the given address', async () => {
    const { serveMetrics } = await import('../../../src/main/cli/session/metrics.ts')
    const server = await serveMetrics(0, { host: 'localhost' })
    const second = {
      runId: 'run-1',
      startMs: 1_000_000,
      second: 0,
      scheduled: null,
      sent: 3,
      ended: { succeeded: 2, rejected: 0, failed: 0, unknown: 1 },
      statuses: [
        { status: 200, requests: 2 },
        { status: null, requests: 1 },
      ],
      iterations: 3,
      sentBytes: 900,
      receivedBytes: 1_200,
      dropped: 0,
      inFlight: 1,
      isGeneratorLimited: false,
      latencyMs: {},
      buckets: { http_req_duration: { counts: [1, 0, 2, ...Array.from({ length: 13 }, () => 0)], sumMs: 9 } },
    }
    server.addSecond(second)
    server.addSecond({ ...second, second: 1 })
    const text = await (await fetch(server.url)).text()
    await server.close()
    expect(text).toContain('sluice_http_reqs_total{testid="run-1",status="200"} 4\n')
    expect(text).toContain('sluice_http_reqs_total{testid="run-1",status="0"} 2\n')
    expect(text).toContain('sluice_http_req_duration_seconds_bucket{testid="run-1",le="0.001"} 2\n')
    expect(text).toContain('sluice_http_req_duration_seconds_bucket{testid="run-1",le="0.005"} 6\n')
    expect(text).toContain('sluice_http_req_duration_seconds_bucket{testid="run-1",le="+Inf"} 6\n')
    expect(text).toContain('sluice_http_req_duration_seconds_sum{testid="run-1"} 0.018\n')
  })
})
