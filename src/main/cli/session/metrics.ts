import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { METRICS, TREND_METRICS } from '../../../shared/load/metrics.ts'
import { SluiceError } from '../../../shared/messages/errors.ts'
import { toThrown } from '../../../shared/messages/thrown.ts'
import type { Percentiles } from '../../../shared/run/run.ts'
import type { RunSnapshot } from '../../../shared/run/snapshot.ts'

const PATH = '/metrics'
const HOST = '127.0.0.1'

/** Longest time for a request, and for a connection in which nothing moves, milliseconds. */
const WAIT_MS = 10_000

/** Connections at once; scrapers open one each. */
const CONNECTIONS_MAX = 100

/** Serves a load test's figures to this machine alone; port 0 takes a free one. A request that has not come after `waitMs` is ended. Throws `BAD_USAGE` where it is taken. */
export async function serveMetrics(port: number, waitMs = WAIT_MS) {
  let newest: RunSnapshot | null = null
  const server = createServer(
    { requestTimeout: waitMs, headersTimeout: waitMs, connectionsCheckingInterval: Math.min(1_000, waitMs) },
    (request, response) => answer(request, response, newest),
  )
  server.maxConnections = CONNECTIONS_MAX
  server.setTimeout(waitMs, (socket) => socket.destroy())
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(toPortError(port, error)))
    server.listen(port, HOST, resolve)
  })
  const { port: taken } = server.address() as AddressInfo
  return {
    url: `http://${HOST}:${taken}${PATH}`,
    /** What is served from now on. */
    update: (snapshot: RunSnapshot): void => {
      newest = snapshot
    },
    close: (): Promise<void> =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** Where a load test's figures can be scraped. */
export interface MetricsServer extends Awaited<ReturnType<typeof serveMetrics>> {}

function answer({ method, url }: IncomingMessage, response: ServerResponse, newest: RunSnapshot | null) {
  if (method !== 'GET' && method !== 'HEAD') {
    response.writeHead(405, { allow: 'GET, HEAD' }).end()
    return
  }
  if (url?.replace(/\?.*/, '') !== PATH) {
    response.writeHead(404, { 'content-type': 'text/plain; charset=utf-8' }).end(`Only ${PATH} exists.\n`)
    return
  }
  response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' })
  response.end(method === 'HEAD' ? undefined : formatMetrics(newest))
}

function toPortError(port: number, error: unknown): SluiceError {
  return new SluiceError(
    { id: 'metrics_port_unusable', host: HOST, port, ...toThrown(error) },
    { cause: error },
  )
}

type LoadSnapshot = RunSnapshot & { load: NonNullable<RunSnapshot['load']> }

/** One metric of Prometheus' text format. */
interface Metric {
  name: string
  type: 'counter' | 'gauge'
  help: string
  value: number
}

const POINTS: readonly [suffix: string, point: keyof Percentiles][] = [
  ['min', 'min'],
  ['avg', 'mean'],
  ['med', 'p50'],
  ['p90', 'p90'],
  ['p95', 'p95'],
  ['p99', 'p99'],
  ['p999', 'p99_9'],
  ['max', 'max'],
]

/**
 * A load test as Prometheus' text format has it (version 0.0.4), by the names and in the units of k6's remote-write
 * output: counters end in `_total`, shares in `_rate`, times are seconds. `testid` is the run, as k6's dashboards have
 * it. Nothing of the plan, the source or the key is in it.
 */
export function formatMetrics(snapshot: RunSnapshot | null): string {
  if (snapshot === null || !hasLoad(snapshot)) return ''
  const label = `{testid="${snapshot.runId}"}`
  return [...listCounts(snapshot), ...listTrends(snapshot)]
    .map(
      ({ name, type, help, value }) =>
        `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${name}${label} ${value}\n`,
    )
    .join('')
}

function hasLoad(snapshot: RunSnapshot): snapshot is LoadSnapshot {
  return snapshot.load !== null
}

function listCounts({ load, inFlight }: LoadSnapshot): Metric[] {
  const counter = (name: string, value: number, help: string) => ({
    name: `${name}_total`,
    type: 'counter' as const,
    help,
    value,
  })
  const gauge = (name: string, value: number | null, help: string) =>
    value === null ? [] : [{ name, type: 'gauge' as const, help, value }]
  const failedShare = load.requests === 0 ? 0 : load.failed / load.requests
  return [
    counter('k6_http_reqs', load.requests, 'Completed requests, without warm-up'),
    ...gauge('k6_http_req_failed_rate', failedShare, 'Share of unsuccessful requests'),
    counter('k6_dropped_iterations', load.dropped, 'Requests dropped because too many were in flight'),
    ...gauge('k6_vus', inFlight, 'Requests in flight'),
    ...gauge('sluice_scheduled_rate', load.scheduledPerS, 'Scheduled requests per second'),
    ...gauge('sluice_achieved_rate', load.achievedPerS, 'Requests sent in the last second'),
    ...gauge('sluice_callbacks_awaited', load.awaited, 'Outstanding callbacks'),
    counter(
      'sluice_generator_limited_seconds',
      load.limitedSeconds,
      'Seconds in which this machine was the bottleneck',
    ),
    ...gauge(
      'sluice_thresholds_crossed',
      load.thresholds.filter(({ ok }) => !ok).length,
      'Thresholds that fail',
    ),
  ]
}

function listTrends({ load }: LoadSnapshot): Metric[] {
  return TREND_METRICS.flatMap((series) => {
    const percentiles = load.latencyMs[series]
    if (percentiles === null || percentiles === undefined) return []
    return POINTS.map(([suffix, point]) => ({
      name: `k6_${series}_${suffix}`,
      type: 'gauge' as const,
      help: `${METRICS[series].meaning}, ${suffix}, in seconds`,
      // Milliseconds of whole microseconds.
      value: Math.round(percentiles[point] * 1000) / 1e6,
    }))
  })
}
