import { type HrTime, ValueType } from '@opentelemetry/api'
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-proto'
import { resourceFromAttributes } from '@opentelemetry/resources'
import {
  AggregationTemporality,
  type DataPoint,
  DataPointType,
  type MetricData,
  type ResourceMetrics,
} from '@opentelemetry/sdk-metrics'
import { METRICS } from '../../../shared/load/metrics.ts'
import { BUCKET_BOUNDS_MS, type StreamedSecond } from '../../../shared/load/streamed-second.ts'
import { SluiceError } from '../../../shared/messages/errors.ts'
import { toThrownText } from '../../../shared/messages/thrown.ts'
import { SecondTotals } from './second-totals.ts'

/** How long an export may take, milliseconds. */
const TIMEOUT_MS = 5_000

/**
 * Sends a load test's totals to an OpenTelemetry receiver after each second, and once more at the end. `url`
 * is the base before `/v1/metrics`, or a whole address; headers come from OTEL_EXPORTER_OTLP_HEADERS.
 */
export function openOtlpOutput(
  url: string,
  version: string,
  { nowMs = Date.now }: { nowMs?: () => number } = {},
) {
  const exporter = new OTLPMetricExporter({ url: toMetricsUrl(url), timeoutMillis: TIMEOUT_MS })
  const resource = resourceFromAttributes({ 'service.name': 'sluice', 'service.version': version })
  const totals = new SecondTotals()
  let newest: StreamedSecond | null = null
  /** The newest second that has arrived. */
  let arrived: StreamedSecond | null = null
  /** Last totals of earlier runs, until they have arrived: later totals do not include them. */
  const earlier: ResourceMetrics[] = []
  let failure: string | null = null
  let sending: Promise<void> | null = null
  const send = (metrics: ResourceMetrics): Promise<boolean> =>
    new Promise((resolve) => {
      exporter.export(metrics, ({ error }) => {
        failure = error === undefined ? null : toThrownText(error)
        resolve(failure === null)
      })
    })
  const sendTotals = async (): Promise<void> => {
    for (let [first] = earlier; first !== undefined; [first] = earlier) {
      if (!(await send(first))) return
      earlier.shift()
    }
    const last = newest
    if (last !== null && (await send(toResourceMetrics(resource, totals, last, nowMs())))) arrived = last
  }
  return {
    take(second: StreamedSecond): void {
      if (newest !== null && newest !== arrived && newest.runId !== second.runId) {
        earlier.push(toResourceMetrics(resource, totals, newest, nowMs()))
      }
      totals.add(second)
      newest = second
      // Totals are cumulative: the next ones of a run make up for those that were not sent.
      sending ??= sendTotals().finally(() => {
        sending = null
      })
    },
    /** Rejects if the last figures did not arrive. */
    async close(): Promise<void> {
      await sending
      await sendTotals()
      await exporter.shutdown()
      if (failure !== null) throw new SluiceError({ id: 'otlp_incomplete', url, reason: failure })
    },
  }
}

function toMetricsUrl(url: string): string {
  const { pathname, href } = new URL(url)
  return pathname === '/' ? `${href.replace(/\/$/, '')}/v1/metrics` : href
}

function toResourceMetrics(
  resource: ResourceMetrics['resource'],
  totals: SecondTotals,
  { startMs, inFlight }: StreamedSecond,
  nowMs: number,
): ResourceMetrics {
  // The last second ends with the last answer, before it is full.
  const times = { startTime: toTime(totals.startMs), endTime: toTime(Math.min(startMs + 1_000, nowMs)) }
  const attributes = { testid: totals.runId ?? '' }
  const point = <Value>(value: Value, own: Record<string, string | number> = {}): DataPoint<Value> => ({
    ...times,
    attributes: { ...attributes, ...own },
    value,
  })
  const counter = (name: keyof typeof METRICS, dataPoints: DataPoint<number>[]): MetricData => ({
    descriptor: {
      name,
      description: METRICS[name].meaning,
      valueType: ValueType.INT,
      unit: name.startsWith('data_') ? 'By' : '1',
    },
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
    dataPointType: DataPointType.SUM,
    isMonotonic: true,
    dataPoints,
  })
  const statuses = Array.from(totals.statuses, ([status, requests]) =>
    point(requests, { status: status ?? 0 }),
  )
  const trends = Array.from(totals.buckets, ([name, { counts, sumMs }]): MetricData => {
    const buckets = { boundaries: BUCKET_BOUNDS_MS.map((ms) => ms / 1_000), counts }
    const count = counts.reduce((sum, one) => sum + one, 0)
    return {
      descriptor: { name, description: METRICS[name].meaning, unit: 's', valueType: ValueType.DOUBLE },
      aggregationTemporality: AggregationTemporality.CUMULATIVE,
      dataPointType: DataPointType.HISTOGRAM,
      dataPoints: [point({ buckets, count, sum: sumMs / 1_000 })],
    }
  })
  const users: MetricData = {
    descriptor: { name: 'vus', description: METRICS.vus.meaning, unit: '1', valueType: ValueType.INT },
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
    dataPointType: DataPointType.GAUGE,
    dataPoints: [point(inFlight)],
  }
  const metrics = [
    counter('http_reqs', statuses),
    ...Object.entries(totals.counters).map(([name, value]) =>
      counter(name as keyof typeof totals.counters, [point(value)]),
    ),
    users,
    ...trends,
  ]
  return { resource, scopeMetrics: [{ scope: { name: 'sluice' }, metrics }] }
}

/** Unix milliseconds as seconds and nanoseconds. */
function toTime(ms: number): HrTime {
  return [Math.floor(ms / 1_000), Math.round((ms % 1_000) * 1e6)]
}
