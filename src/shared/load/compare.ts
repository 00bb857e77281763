import { listPlanDifferences } from '../plan/plan-differences.ts'
import type { Percentiles } from '../run/run.ts'
import {
  COMPARED_PERCENTILES,
  describeComparison,
  describePercentiles,
  describeSeries,
  isMostlyFailed,
  summarizeVerdicts,
} from './compare-text.ts'
import { createHistogram, toPercentiles } from './latency-meter.ts'
import type {
  ComparedRun,
  DifferenceComparison,
  LoadComparison,
  RunLetters,
  SeriesComparison,
  Verdict,
} from './load-comparison.ts'
import { TREND_METRICS, type TrendMetric } from './metrics.ts'
import {
  type Interval,
  type LatencyHistory,
  toDesignEffect,
  toMeanInterval,
  toQuantileInterval,
  toWilsonInterval,
} from './statistics.ts'

/**
 * Confidence of each single statement. Five percentiles are judged side by side, so with 99 % for each all of
 * them hold together in at least 95 of 100 comparisons (Bonferroni).
 */
const CONFIDENCE = 0.99

/** A smaller ratio is not a relevant difference, however certain it is. */
const NEGLIGIBLE = 1.02

/** Without a relevant difference, runs are alike if the true ratio is certainly within this. */
const ALIKE = 1.1

const LETTERS: RunLetters = ['A', 'B']

/** Compares two runs: latencies, errors, throughput, plans. Sentences use `letters` (default: A and B). */
export function compareRuns(a: ComparedRun, b: ComparedRun, letters = LETTERS): LoadComparison {
  const metrics = Object.keys({ ...a.latencies, ...a.percentiles }) as TrendMetric[]
  const series = metrics.flatMap((metric) => {
    const [left, right] = [a.latencies[metric], b.latencies[metric]]
    if (left?.total.totalCount && right?.total.totalCount)
      return [markOwnDelays(compareLatency(metric, left, right, letters), a, b)]
    const compared = comparePercentiles(
      metric,
      readPercentiles(a, metric),
      readPercentiles(b, metric),
      letters,
    )
    return compared === null ? [] : [compared]
  })
  const failedShare = compareFailed(a, b)
  const comparison = {
    a: a.label,
    b: b.label,
    series: isMostlyFailed(failedShare) ? series.map((one) => withoutVerdicts(one, letters)) : series,
    failedShare,
    succeededPerS: compareThroughput(a, b),
    planDifferences: listPlanDifferences(a.plan, b.plan),
  }
  return { ...comparison, ...describeComparison(comparison, [a, b], letters) }
}

/** Compares one latency of two runs. Both must have samples. */
export function compareLatency(
  metric: TrendMetric,
  a: LatencyHistory,
  b: LatencyHistory,
  letters = LETTERS,
): SeriesComparison {
  const [aPercentiles, bPercentiles] = [toPercentiles(a.total), toPercentiles(b.total)]
  if (aPercentiles === null || bPercentiles === null) throw new Error(`${metric} has no samples to compare`)
  let isBatched = true
  const percentiles = COMPARED_PERCENTILES.map(([percentile]) => {
    const [left, right] = [a, b].map((one) => toQuantileInterval(one, percentile, CONFIDENCE))
    if (left === undefined || right === undefined) throw new Error('two histories give two intervals')
    isBatched &&= left.isBatched && right.isBatched
    const ratio = right.valueUs / left.valueUs
    const range = toRatioInterval(left, right)
    const verdict = toVerdict(ratio, range)
    return { percentile, aMs: left.valueUs / 1000, bMs: right.valueUs / 1000, ratio, ...range, verdict }
  })
  const verdict = summarizeVerdicts(percentiles)
  const compared = { metric, a: aPercentiles, b: bPercentiles, percentiles, isBatched, verdict }
  return { ...compared, sentence: describeSeries(compared, letters) }
}

function readPercentiles(run: ComparedRun, metric: TrendMetric): Partial<Percentiles> {
  const history = run.latencies[metric]
  return (history === undefined ? null : toPercentiles(history.total)) ?? run.percentiles?.[metric] ?? {}
}

/** Compares the percentiles that both runs have; null if there are none. Says nothing about confidence. */
function comparePercentiles(
  metric: TrendMetric,
  a: Partial<Percentiles>,
  b: Partial<Percentiles>,
  letters: RunLetters,
): SeriesComparison | null {
  const percentiles = COMPARED_PERCENTILES.flatMap(([percentile, name]) => {
    const [aMs, bMs] = [a[name], b[name]]
    if (aMs === undefined || bMs === undefined || aMs <= 0) return []
    return [{ percentile, aMs, bMs, ratio: bMs / aMs, low: null, high: null, verdict: 'unclear' as const }]
  })
  if (percentiles.length === 0) return null
  const compared = { metric, a, b, percentiles, isBatched: true, verdict: 'unclear' as const }
  return { ...compared, sentence: describePercentiles(compared, letters) }
}

/** Marks verdicts that delays of sending machines may explain. Such delays only make a run look slower. */
function markOwnDelays(series: SeriesComparison, a: ComparedRun, b: ComparedRun): SeriesComparison {
  if (!a.generatorLimited && !b.generatorLimited) return series
  const percentiles = series.percentiles.map((one) => {
    const { percentile, aMs, bMs, ratio, low, high, verdict } = one
    const point = COMPARED_PERCENTILES.find(([compared]) => compared === percentile)?.[1]
    const leastShare = (run: ComparedRun, ms: number) => {
      const without = point && run.withoutOwnDelays?.[series.metric]?.[point]
      return without === undefined ? (run.generatorLimited ? 0 : 1) : Math.min(1, without / ms)
    }
    const scale = verdict === 'slower' ? leastShare(b, bMs) : 1 / leastShare(a, aMs)
    const scaled = { low: low === null ? null : low * scale, high: high === null ? null : high * scale }
    const isSure =
      (verdict === 'slower' || verdict === 'faster') && toVerdict(ratio * scale, scaled) === verdict
    return isSure || verdict === 'unclear' ? one : { ...one, mayBeOwn: true as const }
  })
  return { ...series, percentiles }
}

/** Latencies that answers of any outcome have, so that they are those of failures where most failed. */
const OF_ANSWERS: ReadonlySet<TrendMetric> = new Set([
  'http_req_duration',
  'http_req_waiting',
  'http_req_receiving',
  'iteration_duration',
  'response_time',
])

/** Failures are often fast or slow for reasons of their own, so they make neither run faster or slower. */
function withoutVerdicts(series: SeriesComparison, letters: RunLetters): SeriesComparison {
  if (!OF_ANSWERS.has(series.metric) || series.percentiles.every(({ verdict }) => verdict === 'unclear'))
    return series
  const percentiles = series.percentiles.map(({ mayBeOwn: _mayBeOwn, ...one }) => ({
    ...one,
    verdict: 'unclear' as const,
  }))
  const unclear = { ...series, percentiles, verdict: 'unclear' as const }
  return { ...unclear, sentence: describeSeries(unclear, letters) }
}

type Estimate = ReturnType<typeof toQuantileInterval>

/**
 * The range of a ratio from the ranges of its two sides, by the method of variance estimates recovery on the
 * logarithms (A. Donner and G. Y. Zou 2012, Statistical Methods in Medical Research 21:347–359).
 */
function toRatioInterval(a: Estimate, b: Estimate): Interval {
  const log = Math.log(b.valueUs / a.valueUs)
  const reach = (from: Estimate, side: number | null) =>
    side === null ? null : Math.abs(Math.log(side / from.valueUs))
  const bound = (sign: 1 | -1, first: number | null, second: number | null) =>
    first === null || second === null ? null : Math.exp(log + sign * Math.hypot(first, second))
  return {
    low: bound(-1, reach(b, b.interval.low), reach(a, a.interval.high)),
    high: bound(1, reach(b, b.interval.high), reach(a, a.interval.low)),
  }
}

function toVerdict(ratio: number, { low, high }: Interval): Verdict {
  const isWithin = (factor: number) => low !== null && high !== null && low >= 1 / factor && high <= factor
  if (low !== null && low > 1 && ratio >= NEGLIGIBLE) return 'slower'
  if (high !== null && high < 1 && ratio <= 1 / NEGLIGIBLE) return 'faster'
  return isWithin(ALIKE) ? 'alike' : 'unclear'
}

/** Newcombe's interval of a difference of shares (R. G. Newcombe 1998, Statistics in Medicine 17:873–890). */
function compareFailed(a: ComparedRun, b: ComparedRun): DifferenceComparison {
  const [left, right] = [a, b].map((run) => {
    const share = run.requests === 0 ? 0 : run.failed / run.requests
    const batches = run.batches.map(({ requests, failed }) => ({ count: requests, hits: failed }))
    const effect = toDesignEffect(batches, CONFIDENCE) ?? 1
    return { share, ...toWilsonInterval(share, run.requests / effect, CONFIDENCE) }
  })
  if (left === undefined || right === undefined) throw new Error('two runs give two shares')
  const difference = right.share - left.share
  return {
    a: left.share,
    b: right.share,
    difference,
    low: difference - Math.hypot(right.share - right.low, left.high - left.share),
    high: difference + Math.hypot(right.high - right.share, left.share - left.low),
  }
}

function compareThroughput(a: ComparedRun, b: ComparedRun): DifferenceComparison {
  const [left = 0, right = 0] = [a, b].map((run) => (run.durationS > 0 ? run.succeeded / run.durationS : 0))
  const difference = right - left
  const [aMean, bMean] = [a, b].map((run) =>
    toMeanInterval(
      run.batches.map(({ succeeded, durationS }) => succeeded / durationS),
      CONFIDENCE,
    ),
  )
  const reach = aMean && bMean ? Math.hypot(aMean.reach, bMean.reach) : null
  return {
    a: left,
    b: right,
    difference,
    low: reach === null ? null : difference - reach,
    high: reach === null ? null : difference + reach,
  }
}

/** Several runs as one side of a comparison, with the latencies that all of them measured. */
export function poolRuns(runs: readonly ComparedRun[]): ComparedRun {
  const [first, ...others] = runs
  if (first === undefined) throw new Error('a side has at least one run')
  if (others.length === 0) return first
  const sum = (read: (run: ComparedRun) => number) => runs.reduce((total, run) => total + read(run), 0)
  const latencies: ComparedRun['latencies'] = {}
  for (const metric of TREND_METRICS) {
    const histories = runs.flatMap((run) => run.latencies[metric] ?? [])
    if (histories.length < runs.length) continue
    const total = createHistogram()
    for (const history of histories) total.add(history.total)
    latencies[metric] = { total, batches: histories.flatMap(({ batches }) => batches) }
  }
  return {
    label: `${runs.length} runs: ${runs.map(({ label }) => label).join(', ')}`,
    plan: first.plan,
    ownDifferences: others.flatMap(({ plan }) => listPlanDifferences(first.plan, plan)),
    state: runs.find(({ state }) => state !== 'whole')?.state ?? 'whole',
    durationS: sum(({ durationS }) => durationS),
    requests: sum(({ requests }) => requests),
    failed: sum(({ failed }) => failed),
    succeeded: sum(({ succeeded }) => succeeded),
    dropped: sum(({ dropped }) => dropped),
    missingCallbacks: sum(({ missingCallbacks }) => missingCallbacks),
    silence: runs.find(({ silence }) => silence !== undefined)?.silence,
    generatorLimited: runs.some(({ generatorLimited }) => generatorLimited),
    fromCache: sum(({ fromCache }) => fromCache),
    latencies,
    batches: runs.flatMap(({ batches }) => batches),
  }
}
