import type { Percentiles } from '../../../../shared/run/run.ts'
import { isJsonObject } from '../../../../shared/service/json-object.ts'
import type { K6Latency, K6Metric, K6Result, K6Shape, K6Verdict } from './k6-result.ts'
import { K6_LATENCIES, ONCE_A_CONNECTION } from './k6-samples.ts'
import { NOT_SUCCEEDED, toThresholdResults } from './k6-thresholds.ts'

/** The metrics of a summary and what it says about the run. */
interface K6Summary {
  metrics: K6Metric[]
  k6Version: string | null
  /** Duration of the whole run, including warm-up and last answers; null if missing. */
  totalS: number | null
  /** Added by projects that Sluice exported; null in all others. */
  planned: { warmupMs: number; measuredMs: number | null } | null
}

/** Splits a metric's name: `http_req_duration{scenario:main}`. */
function parseMetricName(text: string): { name: string; tags: string } {
  const match = /^([^{]*)\{(.*)\}$/s.exec(text)
  return { name: match?.[1] ?? text, tags: match?.[2] ?? '' }
}

function toNumbers(values: Readonly<Record<string, unknown>>): Record<string, number> {
  return Object.fromEntries(
    Object.entries(values).filter((entry): entry is [string, number] => typeof entry[1] === 'number'),
  )
}

/** A summary and which of the three kinds it is. */
export interface ParsedK6Summary extends K6Summary {
  shape: Exclude<K6Shape, 'json-lines'>
}

/** Reads the JSON of a k6 summary; null if it is not one. */
export function parseK6Summary(value: unknown): ParsedK6Summary | null {
  if (!isJsonObject(value)) return null
  const { metrics, results, sluice } = value
  const planned = parsePlanned(sluice)
  if (isJsonObject(results) && Array.isArray(results['metrics'])) {
    return { shape: 'machine-readable', ...readMachine(value, results['metrics']), planned }
  }
  if (!isJsonObject(metrics)) return null
  const entries = Object.entries(metrics).filter((entry): entry is [string, Record<string, unknown>] =>
    isJsonObject(entry[1]),
  )
  if (entries.length === 0) return null
  const isNested = entries.every(([, metric]) => isJsonObject(metric['values']))
  return isNested
    ? { shape: 'handle-summary', ...readHandleSummary(value, entries), planned }
    : { shape: 'summary-export', ...readExport(entries), planned }
}

function readHandleSummary(
  { state }: Record<string, unknown>,
  entries: readonly [string, Record<string, unknown>][],
): Omit<K6Summary, 'planned'> {
  const totalMs = isJsonObject(state) ? state['testRunDurationMs'] : null
  const metrics = entries.map(
    ([name, { values, thresholds }]): K6Metric => ({
      ...parseMetricName(name),
      values: isJsonObject(values) ? toNumbers(values) : {},
      thresholds: listVerdicts(thresholds, (verdict) => isJsonObject(verdict) && verdict['ok'] === true),
    }),
  )
  return { metrics, k6Version: null, totalS: typeof totalMs === 'number' ? totalMs / 1000 : null }
}

/** The flat shape: a threshold's `true` means it FAILED, and a rate is called `value`. */
function readExport(entries: readonly [string, Record<string, unknown>][]): Omit<K6Summary, 'planned'> {
  const metrics = entries.map(([name, { thresholds, value, ...values }]): K6Metric => {
    const numbers = toNumbers(values)
    const isRate = 'passes' in numbers && 'fails' in numbers
    return {
      ...parseMetricName(name),
      values: typeof value === 'number' ? { ...numbers, [isRate ? 'rate' : 'value']: value } : numbers,
      thresholds: listVerdicts(thresholds, (hasFailed) => hasFailed === false),
    }
  })
  // The duration of the run is missing, but each counter's rate was divided by it.
  const counter = metrics.find(({ values: { count, rate } }) => (count ?? 0) > 0 && (rate ?? 0) > 0)
  const totalS = counter === undefined ? null : (counter.values['count'] ?? 0) / (counter.values['rate'] ?? 1)
  return { metrics, k6Version: null, totalS }
}

function readMachine(
  { config, metadata }: Record<string, unknown>,
  list: readonly unknown[],
): Omit<K6Summary, 'planned'> {
  const metrics = list.filter(isJsonObject).map(
    ({ name, values }): K6Metric => ({
      ...parseMetricName(String(name)),
      values: isJsonObject(values) ? toLongNames(toNumbers(values)) : {},
      thresholds: [],
    }),
  )
  const totalS = isJsonObject(config) ? config['duration'] : null
  const version = isJsonObject(metadata) ? metadata['k6_version'] : null
  return {
    metrics,
    k6Version: typeof version === 'string' ? version : null,
    totalS: typeof totalS === 'number' ? totalS : null,
  }
}

/** `p95` becomes `p(95)`; of a `total`, `matches` are k6's `passes` and the rest its `fails`. */
function toLongNames(values: Record<string, number>): Record<string, number> {
  const { matches, total, ...rest } = values
  const named = Object.entries(rest).map(([name, value]): [string, number] => [
    name.replace(/^p(\d+(?:\.\d+)?)$/, 'p($1)'),
    value,
  ])
  const counts =
    matches === undefined || total === undefined ? {} : { passes: matches, fails: total - matches }
  return { ...Object.fromEntries(named), ...counts }
}

function listVerdicts(thresholds: unknown, isOk: (verdict: unknown) => boolean): K6Verdict[] {
  if (!isJsonObject(thresholds)) return []
  return Object.entries(thresholds).map(([expression, verdict]) => ({ expression, ok: isOk(verdict) }))
}

function parsePlanned(value: unknown): K6Summary['planned'] {
  if (!isJsonObject(value) || typeof value['warmup_ms'] !== 'number') return null
  const measured = value['measured_ms']
  return { warmupMs: value['warmup_ms'], measuredMs: typeof measured === 'number' ? measured : null }
}

const POINTS: Readonly<Record<string, keyof Percentiles>> = {
  count: 'count',
  min: 'min',
  avg: 'mean',
  med: 'p50',
  'p(50)': 'p50',
  'p(90)': 'p90',
  'p(95)': 'p95',
  'p(99)': 'p99',
  'p(99.9)': 'p99_9',
  max: 'max',
}

/** A k6 summary in our terms: only the scenario `main` if it has one. */
export function summaryToResult(summary: ParsedK6Summary): K6Result {
  const { shape, metrics, k6Version, planned } = summary
  const hasMain = metrics.some(({ name, tags }) => name === 'http_reqs' && tags === 'scenario:main')
  const find = (name: string) =>
    metrics.find((metric) => metric.name === name && metric.tags === (hasMain ? 'scenario:main' : ''))
  const rate = find(NOT_SUCCEEDED) ?? find('http_req_failed')
  // k6 counts `true` as a pass, and for these rates `true` means that a request failed.
  const failed = rate?.values['passes'] ?? null
  return {
    shape,
    k6Version,
    scenario: hasMain ? 'main' : null,
    startedAt: null,
    durationS: toDurationS(summary, hasMain),
    requests: find('http_reqs')?.values['count'] ?? null,
    failed,
    dropped: find('dropped_iterations')?.values['count'] ?? (hasMain ? null : 0),
    latencies: toLatencies(metrics, hasMain ? 'scenario:main' : ''),
    thresholds: toThresholdResults(metrics),
    statuses: [],
    seconds: [],
    notes: [
      'a summary has percentiles and no distribution: they cannot be merged with those of other runs, and a comparison has no confidence',
      ...(shape === 'machine-readable' ? ['this kind of summary does not record thresholds'] : []),
      ...(hasMain && planned === null
        ? ['the time includes the warm-up and the last answers, so requests a second are more than it seems']
        : []),
    ],
  }
}

/** k6 reports no scenario duration: take the planned one if known, else the whole run minus the warm-up. */
function toDurationS({ totalS, planned }: ParsedK6Summary, hasMain: boolean): number | null {
  if (!hasMain || planned === null) return totalS
  const leftS = totalS === null ? null : totalS - planned.warmupMs / 1000
  if (planned.measuredMs === null) return leftS
  // A stopped run was shorter than planned.
  return leftS === null ? planned.measuredMs / 1000 : Math.min(planned.measuredMs / 1000, leftS)
}

function toLatencies(metrics: readonly K6Metric[], tags: string): Record<string, K6Latency> {
  return Object.fromEntries(
    metrics
      .filter(
        (metric) =>
          metric.tags === tags &&
          'avg' in metric.values &&
          K6_LATENCIES.includes(metric.name) &&
          !ONCE_A_CONNECTION.includes(metric.name),
      )
      .map(({ name, values }): [string, K6Latency] => [
        name,
        { percentiles: toPercentiles(values), histogram: null },
      ]),
  )
}

function toPercentiles(values: Readonly<Record<string, number>>): Partial<Percentiles> {
  return Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) => {
      const point = Object.hasOwn(POINTS, name) ? POINTS[name] : undefined
      return point === undefined ? [] : [[point, value]]
    }),
  )
}
