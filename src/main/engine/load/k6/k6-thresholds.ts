import { parseThreshold } from '../../../../shared/load/threshold-parser.ts'
import { type ThresholdResult, toMargin } from '../../../../shared/load/thresholds.ts'
import type { K6Metric, K6Verdict } from './k6-metric.ts'

/** The script's own rate of requests that did not succeed, in projects that Sluice exported. */
export const NOT_SUCCEEDED = 'not_succeeded'

/** What an exported project sets so that k6 reports a scenario's metric: it always holds and says nothing. */
const REPORTING = new Set(['max>=0', 'rate>=0', 'count>=0'])

const LATENCY =
  /^(http_req_(duration|waiting|connecting|tls_handshaking|blocked|sending|receiving)|.*_duration)$/

/** Every threshold that k6 judged, in our words: value, limit and how far they are apart, as far as these are known. */
export function toThresholdResults(metrics: readonly K6Metric[]): ThresholdResult[] {
  return metrics.flatMap((metric) =>
    metric.thresholds
      .filter(({ expression }) => !isRepeated(metric, expression, metrics))
      .map((verdict) => toResult(metric, verdict)),
  )
}

function isRepeated(metric: K6Metric, expression: string, metrics: readonly K6Metric[]): boolean {
  if (metric.tags === 'scenario:main' && REPORTING.has(expression)) return true
  // Exported projects judge both what k6 takes for failed and what Sluice does; ours counts.
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
  // k6's own grammar, whatever the metric: the left side is looked up, the right side is a number.
  const [left = '', operator = '', right = ''] = expression.split(/\s*(<=|<|>=|>|===|==|!=)\s*/)
  const limit = Number(right.replaceAll('_', ''))
  const value = values[left.trim()] ?? (left.trim() === 'p(50)' ? values['med'] : undefined) ?? null
  return {
    expression: toExpression(name, tags, expression),
    value,
    ok,
    limit,
    margin: value === null || Number.isNaN(limit) ? null : toMargin(operator, value, limit),
    unit: LATENCY.test(name) ? 'ms' : 'passes' in values ? 'share' : 'number',
  }
}

/** As our own thresholds are written where there is such a metric, with k6's tags otherwise. */
function toExpression(name: string, tags: string, expression: string): string {
  const own = name === NOT_SUCCEEDED ? 'http_req_failed' : name
  if (tags !== '' && tags !== 'scenario:main') return `${own}{${tags}}:${expression}`
  if (own === 'http_req_duration' && parseThreshold(expression).ok) return expression
  return `${own}:${expression}`
}
