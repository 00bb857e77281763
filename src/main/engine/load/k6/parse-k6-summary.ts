import type { K6Shape } from '../../../../shared/load/k6-result.ts'
import { isJsonObject } from '../../../../shared/service/json-object.ts'
import { type K6Metric, type K6Summary, type K6Verdict, parseMetricName, toNumbers } from './k6-metric.ts'

/** A summary and which of the three kinds it is. */
export interface ParsedK6Summary extends K6Summary {
  shape: Exclude<K6Shape, 'json-lines'>
}

/** Reads the JSON of a k6 summary; null where it is none. */
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

/** The flat shape: `true` says of a threshold that it FAILED, and a rate is called `value`. */
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
  // It does not say how long the run was, but every counter is divided by that.
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

/** `p95` is `p(95)`; `matches` of a `total` are k6's `passes`, of which the others are `fails`. */
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
