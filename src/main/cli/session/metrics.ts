import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { METRIC_KINDS, METRICS, type MetricName, TREND_METRICS } from '../../../shared/load/metrics.ts'
import { BUCKET_BOUNDS_MS, type StreamedSecond } from '../../../shared/load/streamed-second.ts'
import { SluiceError } from '../../../shared/messages/errors.ts'
import { toThrown } from '../../../shared/messages/thrown.ts'
import type { Percentiles } from '../../../shared/run/run.ts'
import type { RunSnapshot } from '../../../shared/run/snapshot.ts'
import { isLoadSnapshot, type LoadSnapshot } from '../progress/load-progress.ts'
import { SecondTotals } from './second-totals.ts'

const PATH = '/metrics'
const HOST = '127.0.0.1'

/** Longest time for a request to arrive, and for an idle connection, milliseconds. */
const WAIT_MS = 10_000

/** Connections at once; each scraper opens one. */
const CONNECTIONS_MAX = 100

/**
 * Serves a load test's metrics, by default to this machine alone; port 0 takes a free one. A request that
 * takes longer than `waitMs` to arrive is ended. Throws `BAD_USAGE` if the port is taken.
 */
export async function serveMetrics(
  port: number,
  { host = HOST, waitMs = WAIT_MS }: { host?: string; waitMs?: number } = {},
) {
  const totals = new SecondTotals()
  let newest: RunSnapshot | null = null
  let onRead = (): void => {}
  const server = createServer(
    { requestTimeout: waitMs, headersTimeout: waitMs, connectionsCheckingInterval: Math.min(1_000, waitMs) },
    (request, response) => {
      // An answer that began before lingering may hold older figures.
      const onAnswered = onRead
      if (answer(request, response, newest, totals)) response.on('finish', () => onAnswered())
    },
  )
  server.maxConnections = CONNECTIONS_MAX
  server.setTimeout(waitMs, (socket) => socket.destroy())
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(toPortError(host, port, error)))
    server.listen(port, host.replace(/^\[|\]$/g, ''), resolve)
  })
  const { port: taken } = server.address() as AddressInfo
  return {
    url: `http://${host.includes(':') && !host.startsWith('[') ? `[${host}]` : host}:${taken}${PATH}`,
    /** Replaces what is served. */
    update: (snapshot: RunSnapshot): void => {
      newest = snapshot
    },
    /** Resolves when somebody has read the current figures, at the latest after `ms` milliseconds. */
    linger: (ms: number): Promise<void> =>
      new Promise((resolve) => {
        const timer = setTimeout(resolve, ms)
        onRead = () => {
          clearTimeout(timer)
          resolve()
        }
      }),
    /** Adds a second of the current test. */
    addSecond: (second: StreamedSecond): void => totals.add(second),
    close: (): Promise<void> =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** Answers a request; returns whether the answer has the figures. */
function answer(
  { method, url }: IncomingMessage,
  response: ServerResponse,
  newest: RunSnapshot | null,
  totals: SecondTotals,
): boolean {
  if (method !== 'GET' && method !== 'HEAD') {
    response.writeHead(405, { allow: 'GET, HEAD' }).end()
    return false
  }
  if (url?.replace(/\?.*/, '') !== PATH) {
    response.writeHead(404, { 'content-type': 'text/plain; charset=utf-8' }).end(`Only ${PATH} exists.\n`)
    return false
  }
  response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' })
  response.end(method === 'HEAD' ? undefined : formatMetrics(newest) + formatTotals(totals))
  return method === 'GET'
}

function toPortError(host: string, port: number, error: unknown): SluiceError {
  return new SluiceError({ id: 'metrics_port_unusable', host, port, ...toThrown(error) }, { cause: error })
}

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
 * A load test in Prometheus' text format (version 0.0.4), with the names and units of k6's remote-write
 * output: counters end in `_total`, shares in `_rate`, times are seconds. `testid` is the run, as in k6's
 * dashboards. Contains nothing of the plan, the source or the key.
 */
export function formatMetrics(snapshot: RunSnapshot | null): string {
  if (snapshot === null || !isLoadSnapshot(snapshot)) return ''
  const label = `{testid="${snapshot.runId}"}`
  return [...listCounts(snapshot), ...listTrends(snapshot)]
    .map(
      ({ name, type, help, value }) =>
        `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${name}${label} ${value}\n`,
    )
    .join('')
}

/** Totals of a load test's finished seconds: counters by status, and distributions. */
function formatTotals({ runId, statuses, buckets }: SecondTotals): string {
  if (runId === null) return ''
  const testid = `testid="${runId}"`
  const counts = Array.from(
    statuses,
    ([status, requests]) => `sluice_http_reqs_total{${testid},status="${status ?? 0}"} ${requests}\n`,
  )
  const distributions = [...buckets].map(([metric, { counts: each, sumMs }]) => {
    const name = `sluice_${metric}_seconds`
    let sum = 0
    const lines = each.map((count, index) => {
      const bound = BUCKET_BOUNDS_MS[index]
      sum += count
      return `${name}_bucket{${testid},le="${bound === undefined ? '+Inf' : bound / 1000}"} ${sum}\n`
    })
    const help = `# HELP ${name} ${METRICS[metric].meaning}, in seconds\n# TYPE ${name} histogram\n`
    return `${help}${lines.join('')}${name}_sum{${testid}} ${sumMs / 1000}\n${name}_count{${testid}} ${sum}\n`
  })
  const head =
    '# HELP sluice_http_reqs_total Completed requests by HTTP status, 0 without an answer\n# TYPE sluice_http_reqs_total counter\n'
  return head + counts.join('') + distributions.join('')
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
    ...listFurther(load),
    ...gauge('sluice_scheduled_rate', load.scheduledPerS, 'Scheduled requests per second'),
    ...gauge('sluice_achieved_rate', load.achievedPerS, 'Requests sent in the last second'),
    ...gauge('sluice_callbacks_awaited', load.awaited, 'Outstanding callbacks'),
    counter(
      'sluice_generator_limited_seconds',
      load.limitedSeconds,
      'Seconds whose latencies may include delays of this machine',
    ),
    ...gauge(
      'sluice_thresholds_crossed',
      load.thresholds.filter(({ ok }) => !ok).length,
      'Thresholds that fail',
    ),
  ]
}

/** Metrics that cover the seconds that are over. */
const FURTHER = [
  'iterations',
  'checks',
  'data_sent',
  'data_received',
  'vus_max',
] as const satisfies MetricName[]

function listFurther({ metrics }: LoadSnapshot['load']): Metric[] {
  return FURTHER.flatMap((name): Metric[] => {
    const { kind, meaning } = METRICS[name]
    const value = metrics[name]?.[METRIC_KINDS[kind].aggregations[0]]
    if (value === undefined) return []
    const suffix = kind === 'counter' ? '_total' : kind === 'rate' ? '_rate' : ''
    const type = kind === 'counter' ? 'counter' : 'gauge'
    return [
      {
        name: `k6_${name}${suffix}`,
        type,
        help: `${meaning.charAt(0).toUpperCase()}${meaning.slice(1)}`,
        value,
      },
    ]
  })
}

function listTrends({ load }: LoadSnapshot): Metric[] {
  return TREND_METRICS.flatMap((series) => {
    const percentiles = load.latencyMs[series]
    if (percentiles === null || percentiles === undefined) return []
    return POINTS.map(([suffix, point]) => ({
      name: `k6_${series}_${suffix}`,
      type: 'gauge' as const,
      help: `${METRICS[series].meaning}, ${suffix}, in seconds`,
      // Milliseconds, rounded to microseconds, in seconds.
      value: Math.round(percentiles[point] * 1000) / 1e6,
    }))
  })
}
