import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { ApiKey } from '../src/main/engine/secrets/bound-secret.ts'
import { planSchema } from '../src/shared/plan/plan.ts'
import { printTable } from './lib/figures.ts'
import { createBenchEngine, withFolder, writeSource } from './lib/workspace.ts'

const ROWS = 5_572
const IN_FLIGHT = 32
const LATENCY_MS = 20

/** Returns whether to answer a request with 429; its clock is `performance.now()`. */
type Limit = () => boolean

/** A service, with the Retry-After of its 429s in seconds. */
interface Service {
  name: string
  createLimit: () => Limit
  retryAfter: string | null
}

const SERVICES: readonly Service[] = [
  { name: 'takes everything', createLimit: () => () => false, retryAfter: null },
  { name: '5 % stray 429s, Retry-After: 1', createLimit: () => createStrays(0.05), retryAfter: '1' },
  { name: '200 a second, Retry-After: 1', createLimit: () => createBucket(200, 10), retryAfter: '1' },
  { name: '200 a second, no Retry-After', createLimit: () => createBucket(200, 10), retryAfter: null },
  { name: '200 a second, bursts of 200', createLimit: () => createBucket(200, 200), retryAfter: '1' },
]

/**
 * Runs against services that answer 429 randomly or beyond a limit: their duration, and the number of 429s.
 */
export async function runThrottlingBench(): Promise<void> {
  console.log(`${ROWS} rows, ${IN_FLIGHT} in flight, ${LATENCY_MS} ms a request`)
  const lines: string[][] = [['service', 'rows', 'seconds', 'rows a second', 'answers 429']]
  for (const service of SERVICES) {
    const { succeeded, seconds, sent, throttled } = await measure(service)
    lines.push([
      service.name,
      String(succeeded),
      seconds.toFixed(1),
      (succeeded / seconds).toFixed(1),
      `${throttled} of ${sent} (${((100 * throttled) / sent).toFixed(2)} %)`,
    ])
  }
  printTable(lines)
}

async function measure({ createLimit, retryAfter }: Service) {
  const server = await startService(createLimit(), retryAfter)
  try {
    return await withFolder(async (folder) => {
      const path = join(folder, 'source.csv')
      writeSource(path, ROWS)
      const engine = createBenchEngine(folder)
      const plan = planSchema.parse({
        connection: { baseUrl: server.baseUrl },
        source: { path },
        operation: { kind: 'task' },
        pace: { kind: 'closed', concurrency: IN_FLIGHT },
      })
      const apiKey = ApiKey.create('key', plan.connection, 'of the benchmark')
      const run = await engine.runs.startRun(plan, { apiKey })
      const { throughput, rows, requests } = await run.ended
      await engine.close()
      return {
        succeeded: rows.succeeded,
        seconds: throughput.duration_s,
        sent: requests.sent,
        throttled: server.throttled(),
      }
    })
  } finally {
    server.close()
  }
}

async function startService(isOver: Limit, retryAfter: string | null) {
  let throttled = 0
  const server = createServer((request, response) => {
    const isThrottled = isOver()
    if (isThrottled) throttled += 1
    request.resume()
    setTimeout(() => {
      const answer = isThrottled
        ? { error: true, status: 429, error_code: 'RATE_LIMITED', message: 'slow down', show_alert: false }
        : { task_id: 't', triggered_rules: [] }
      const headers = isThrottled && retryAfter !== null ? { 'retry-after': retryAfter } : {}
      response.writeHead(isThrottled ? 429 : 200, { 'content-type': 'application/json', ...headers })
      response.end(JSON.stringify(answer))
    }, LATENCY_MS)
  })
  server.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    throttled: () => throttled,
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

function createStrays(share: number): Limit {
  return () => Math.random() < share
}

/** A token bucket. */
function createBucket(ratePerS: number, burst: number): Limit {
  let tokens = burst
  let atMs = performance.now()
  return () => {
    const nowMs = performance.now()
    tokens = Math.min(burst, tokens + ((nowMs - atMs) * ratePerS) / 1000)
    atMs = nowMs
    if (tokens < 1) return true
    tokens -= 1
    return false
  }
}
