import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isInstalled } from './child.ts'

/** A peer's figures about its requests; milliseconds. */
export interface PeerFigures {
  count: number
  p50: number
  p90: number
  p99: number
  max: number
}

interface RateTask {
  url: string
  ratePerSecond: number
  seconds: number
}

/** A load tester that can keep a rate. */
export interface RatePeer {
  name: string
  run(task: RateTask): PeerFigures
}

const BODY = JSON.stringify({
  text_data: 'thank you for the quick answer',
  user_id: 'user1',
  post_id: 'post1',
})
const PATH = '/api/v1/task/sync'

/** The available peers: autocannon always, k6, vegeta and oha if they are on the path. */
export function listRatePeers(): RatePeer[] {
  const peers: RatePeer[] = [{ name: 'autocannon -R', run: runAutocannon }]
  if (isInstalled('k6')) peers.push({ name: 'k6', run: runK6 })
  if (isInstalled('vegeta')) peers.push({ name: 'vegeta', run: runVegeta })
  if (isInstalled('oha')) peers.push({ name: 'oha', run: runOha })
  return peers
}

function runAutocannon({ url, ratePerSecond, seconds }: RateTask): PeerFigures {
  const script = createRequire(import.meta.url).resolve('autocannon/autocannon.js')
  const flags = ['-R', String(ratePerSecond), '-c', '100', '-d', String(seconds), '-m', 'POST', '-b', BODY]
  const output = run(process.execPath, [script, ...flags, '--json', '--no-progress', url + PATH])
  const { latency, requests } = JSON.parse(output) as {
    latency: Record<'p50' | 'p90' | 'p99' | 'max', number>
    requests: { total: number }
  }
  return { count: requests.total, p50: latency.p50, p90: latency.p90, p99: latency.p99, max: latency.max }
}

function runK6({ url, ratePerSecond, seconds }: RateTask): PeerFigures {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'))
  try {
    const file = join(folder, 'summary.json')
    const script = `import http from 'k6/http'
export const options = {
  scenarios: { main: { executor: 'constant-arrival-rate', rate: ${ratePerSecond}, duration: '${seconds}s',
    preAllocatedVUs: ${Math.ceil(ratePerSecond / 4)}, maxVUs: 2000 } },
  summaryTrendStats: ['count', 'p(50)', 'p(90)', 'p(99)', 'max'],
}
export default function () { http.post('${url}${PATH}', ${JSON.stringify(BODY)}) }
export function handleSummary(data) { return { ${JSON.stringify(file)}: JSON.stringify(data) } }`
    run('k6', ['run', '--quiet', '-'], script)
    const data = JSON.parse(readFileSync(file, 'utf8')) as {
      metrics: { http_req_duration: { values: Record<string, number> } }
    }
    const { values } = data.metrics.http_req_duration
    const at = (name: string) => values[name] ?? Number.NaN
    return { count: at('count'), p50: at('p(50)'), p90: at('p(90)'), p99: at('p(99)'), max: at('max') }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function runVegeta({ url, ratePerSecond, seconds }: RateTask): PeerFigures {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'))
  try {
    const body = join(folder, 'body.json')
    const results = join(folder, 'results.bin')
    writeFileSync(body, BODY)
    const target = `POST ${url}${PATH}\n@${body}\n`
    run('vegeta', ['attack', `-rate=${ratePerSecond}`, `-duration=${seconds}s`, `-output=${results}`], target)
    const report = JSON.parse(run('vegeta', ['report', '-type=json', results])) as {
      requests: number
      latencies: Record<'50th' | '90th' | '99th' | 'max', number>
    }
    const at = (name: '50th' | '90th' | '99th' | 'max') => report.latencies[name] / 1e6
    return { count: report.requests, p50: at('50th'), p90: at('90th'), p99: at('99th'), max: at('max') }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function runOha({ url, ratePerSecond, seconds }: RateTask): PeerFigures {
  const flags = ['-q', String(ratePerSecond), '-c', '200', '-z', `${seconds}s`, '-m', 'POST', '-d', BODY]
  const output = run('oha', [...flags, '--no-tui', '--output-format', 'json', url + PATH])
  const report = JSON.parse(output) as {
    summary: { total: number; requestsPerSec: number; slowest: number }
    latencyPercentiles: Record<'p50' | 'p90' | 'p99', number>
  }
  const { p50, p90, p99 } = report.latencyPercentiles
  const count = Math.round(report.summary.total * report.summary.requestsPerSec)
  return { count, p50: p50 * 1000, p90: p90 * 1000, p99: p99 * 1000, max: report.summary.slowest * 1000 }
}

function run(command: string, args: string[], input = ''): string {
  const result = spawnSync(command, args, { input, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 })
  // k6 would exit with 99 after a crossed threshold, but has none here.
  if (result.status !== 0) throw new Error(`${command} ended with ${result.status}: ${result.stderr}`)
  return result.stdout
}
