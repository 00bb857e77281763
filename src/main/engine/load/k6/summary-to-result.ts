import type { K6Latency, K6Result } from '../../../../shared/load/k6-result.ts'
import type { Percentiles } from '../../../../shared/run/run.ts'
import type { K6Metric } from './k6-metric.ts'
import { K6_LATENCIES, ONCE_A_CONNECTION } from './k6-samples.ts'
import { NOT_SUCCEEDED, toThresholdResults } from './k6-thresholds.ts'
import type { ParsedK6Summary } from './parse-k6-summary.ts'

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

/** What a summary of k6 says, in our words: of the scenario `main` alone where it has that. */
export function summaryToResult(summary: ParsedK6Summary): K6Result {
  const { shape, metrics, k6Version, planned } = summary
  const hasMain = metrics.some(({ name, tags }) => name === 'http_reqs' && tags === 'scenario:main')
  const find = (name: string) =>
    metrics.find((metric) => metric.name === name && metric.tags === (hasMain ? 'scenario:main' : ''))
  const rate = find(NOT_SUCCEEDED) ?? find('http_req_failed')
  // Of these rates k6 counts what is true as passed, and what is true is that a request failed.
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
      'A summary has percentiles and no distribution: they cannot be merged with those of other runs, and a comparison has no confidence.',
      ...(shape === 'machine-readable' ? ['This kind of summary says nothing of thresholds.'] : []),
      ...(hasMain && planned === null
        ? ['The time includes the warm-up and the last answers, so requests a second are more than it seems.']
        : []),
    ],
  }
}

/** k6 reports no time of a scenario: the planned one where it is known, else all of the run but the warm-up. */
function toDurationS({ totalS, planned }: ParsedK6Summary, hasMain: boolean): number | null {
  if (!hasMain || planned === null) return totalS
  const leftS = totalS === null ? null : totalS - planned.warmupMs / 1000
  if (planned.measuredMs === null) return leftS
  // A run that was stopped did not last as long as it should have.
  return leftS === null ? planned.measuredMs / 1000 : Math.min(planned.measuredMs / 1000, leftS)
}

function toLatencies(metrics: readonly K6Metric[], tags: string): Record<string, K6Latency> {
  return Object.fromEntries(
    metrics
      .filter(
        (metric) =>
          metric.tags === tags &&
          'avg' in metric.values &&
          (K6_LATENCIES as readonly string[]).includes(metric.name) &&
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
