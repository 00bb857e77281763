import { type Load, toMeasuredMs } from '../../../../shared/load/load.ts'
import { METRIC_NAMES, METRICS, type MetricKind, type MetricName } from '../../../../shared/load/metrics.ts'
import { parseThreshold, type ThresholdExpression } from '../../../../shared/load/threshold-parser.ts'
import { isOfAll, isRowTag, type ThresholdTag } from '../../../../shared/load/threshold-tags.ts'
import {
  readExpression,
  type Threshold,
  type ThresholdResult,
  toMargin,
} from '../../../../shared/load/thresholds.ts'
import { formatDurationMs } from '../../../../shared/messages/duration.ts'
import type { K6Metric, K6Verdict } from './k6-result.ts'
import { K6_LATENCIES } from './k6-samples.ts'

/** Thresholds as k6's options have them, by metric. */
export type K6Thresholds = Record<string, (string | K6Abort)[]>

interface K6Abort {
  threshold: string
  abortOnFail: true
  delayAbortEval?: string
}

/** Tag of the measured scenario, the one after the warm-up. */
const MAIN = 'scenario:main'

/** The script's own rate of requests that did not succeed, including errors inside a 200. */
export const NOT_SUCCEEDED = 'not_succeeded'

// k6 reports a metric of one scenario only if it has a threshold; these always hold.
const HOLDS = { trend: 'max>=0', rate: 'rate>=0', counter: 'count>=0' } as const satisfies Partial<
  Record<MetricKind, string>
>

const REPORTED: Readonly<Record<keyof typeof HOLDS, readonly string[]>> = {
  trend: K6_LATENCIES,
  rate: [...listK6Metrics('rate'), NOT_SUCCEEDED],
  counter: listK6Metrics('counter'),
}

function listK6Metrics(kind: MetricKind): MetricName[] {
  return METRIC_NAMES.filter((metric) => METRICS[metric].isInK6 && METRICS[metric].kind === kind)
}

/** Whether a threshold always holds and only makes k6 report the metric of a scenario. */
export function isReportingThreshold(expression: string): boolean {
  return Object.values<string>(HOLDS).includes(expression)
}

/**
 * k6's thresholds for a load, on the measured scenario, and the expressions that k6 cannot judge. Those on
 * unsuccessful requests are set on k6's own metric, which goes by the status, and on {@link NOT_SUCCEEDED}.
 * `path` is the name that the script gives to its requests.
 */
export function toK6Thresholds(load: Load, path: string): { thresholds: K6Thresholds; leftOut: string[] } {
  const thresholds: K6Thresholds = {}
  for (const kind of Object.keys(HOLDS) as (keyof typeof HOLDS)[]) {
    for (const metric of REPORTED[kind]) thresholds[toMainMetric(metric)] = [HOLDS[kind]]
  }
  const leftOut: string[] = []
  for (const threshold of load.thresholds) {
    const parsed = readExpression(threshold.expression)
    const known = toKnown(parsed)
    if (!METRICS[known.metric].isInK6 || !known.tags.every((tag) => isInScript(tag, known.metric))) {
      leftOut.push(threshold.expression)
      continue
    }
    for (const metric of toMetrics(known, load, path)) {
      thresholds[metric] = [...(thresholds[metric] ?? []), toK6Threshold(threshold, parsed, load)]
    }
  }
  return { thresholds, leftOut }
}

/**
 * Whether the script's samples have a tag: neither those of rows nor error codes other than k6's. Only
 * `http_req_…` and `http_reqs` have the tags of a request; a threshold on others would see no samples, and
 * hold.
 */
function isInScript({ name, value }: ThresholdTag, metric: string): boolean {
  if (isRowTag({ name, value })) return false
  if (!metric.startsWith('http_req') && name !== 'scenario') return false
  return name !== 'error_code' || /^1\d{3}$/.test(value)
}

/** The metric under the name that k6 has for it. */
function toKnown({ metric, tags }: ThresholdExpression): Pick<ThresholdExpression, 'metric' | 'tags'> {
  if (metric !== 'succeeded_duration') return { metric, tags }
  return {
    metric: 'http_req_duration',
    tags: [
      { name: 'expected_response', value: 'true' },
      ...tags.filter(({ name }) => name !== 'expected_response'),
    ],
  }
}

function toMetrics(
  { metric, tags }: Pick<ThresholdExpression, 'metric' | 'tags'>,
  load: Load,
  path: string,
): string[] {
  // Virtual users belong to no scenario.
  if (METRICS[metric].kind === 'gauge') return [metric]
  // The script's own rate has no tags of the request.
  if (metric === 'http_req_failed' && tags.every(isOfAll)) {
    return [toMainMetric(metric), toMainMetric(NOT_SUCCEEDED)]
  }
  return [
    toMainMetric(
      metric,
      tags.map((tag) => toScriptTag(tag, load, path)),
    ),
  ]
}

/** A tag that a script's requests have: their path as the name, under any key, and the numbers of stages. */
function toScriptTag({ name, value }: ThresholdTag, { pace }: Load, path: string): string {
  if (name === 'stage' && pace.kind === 'stages') {
    const index = pace.stages.findIndex((stage) => stage.name === value)
    return `stage:${index === -1 ? value : index}`
  }
  if (name === 'scenario') return MAIN
  return name === 'name' || name === 'url' ? `name:${path}` : `${name}:${value}`
}

function toMainMetric(metric: string, tags: readonly string[] = []): string {
  return `${metric}{${[...new Set([MAIN, ...tags])].join(',')}}`
}

function toK6Threshold(
  { abortOnFail, delayAbortEvalMs }: Threshold,
  parsed: ThresholdExpression,
  load: Load,
): string | K6Abort {
  const threshold = formatExpression(toCounted(parsed, load, abortOnFail))
  if (!abortOnFail) return threshold
  // k6's clock starts with the warm-up.
  const delayMs = delayAbortEvalMs + load.warmupMs
  return {
    threshold,
    abortOnFail,
    ...(delayMs === 0 ? {} : { delayAbortEval: formatDurationMs(delayMs) }),
  }
}

/**
 * k6 divides a counter by its whole running time, with the warm-up and the last answers. If the measured time
 * is known beforehand, a count is equivalent, but only at the end, so thresholds that abort keep the rate.
 */
function toCounted(parsed: ThresholdExpression, load: Load, abortOnFail: boolean): ThresholdExpression {
  const isCounter = METRICS[parsed.metric].kind === 'counter'
  const measuredMs = toMeasuredMs(load)
  if (!isCounter || parsed.aggregation !== 'rate' || abortOnFail || measuredMs === null) return parsed
  return { ...parsed, aggregation: 'count', limit: (parsed.limit * measuredMs) / 1000 }
}

function formatExpression({ aggregation, percentile, operator, limit }: ThresholdExpression): string {
  return `${aggregation === 'p' ? `p(${percentile})` : aggregation}${operator}${limit}`
}

/** Every threshold that k6 judged, in our terms: value, limit and margin where known. */
export function toThresholdResults(metrics: readonly K6Metric[]): ThresholdResult[] {
  return metrics.flatMap((metric) =>
    metric.thresholds
      .filter(({ expression }) => !isRepeated(metric, expression, metrics))
      .map((verdict) => toResult(metric, verdict)),
  )
}

function isRepeated(metric: K6Metric, expression: string, metrics: readonly K6Metric[]): boolean {
  if (metric.tags === MAIN && isReportingThreshold(expression)) return true
  // Exported projects judge failure by k6's definition and by Sluice's; ours counts.
  return (
    metric.name === 'http_req_failed' &&
    metrics.some(
      ({ name, tags, thresholds }) =>
        name === NOT_SUCCEEDED &&
        tags === metric.tags &&
        thresholds.some((other) => other.expression === expression),
    )
  )
}

function toResult({ name, tags, values }: K6Metric, { expression, ok }: K6Verdict): ThresholdResult {
  // k6's own grammar for any metric: the left side names a value, the right side is a number.
  const [left = '', operator = '', right = ''] = expression.split(/\s*(<=|<|>=|>|===|==|!=)\s*/)
  const limit = Number(right.replaceAll('_', ''))
  const value = values[left.trim()] ?? (left.trim() === 'p(50)' ? values['med'] : undefined) ?? null
  return {
    expression: toExpression(name, tags, expression),
    value,
    ok,
    limit,
    margin: value === null || Number.isNaN(limit) ? null : toMargin(operator, value, limit),
    unit:
      K6_LATENCIES.includes(name) || name.endsWith('_duration')
        ? 'ms'
        : 'passes' in values
          ? 'share'
          : 'number',
  }
}

/** Written like our own thresholds if we have such a metric, with k6's tags otherwise. */
function toExpression(name: string, tags: string, expression: string): string {
  const own = name === NOT_SUCCEEDED ? 'http_req_failed' : name
  if (tags !== '' && tags !== MAIN) return `${own}{${tags}}:${expression}`
  if (own === 'http_req_duration' && parseThreshold(expression).ok) return expression
  return `${own}:${expression}`
}
