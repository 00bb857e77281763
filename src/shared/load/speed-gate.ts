import { formatFigure, formatMs, formatShare } from '../messages/figure-text.ts'
import { describeLimited, formatPercentileName, joinWords } from './compare-text.ts'
import type { LoadComparison, SeriesComparison } from './load-comparison.ts'

/**
 * The latencies that the service alone makes. What opening connections, being late or waiting for a free place adds is
 * up to the machine that sends, and to the plan.
 */
const JUDGED_SERIES: readonly string[] = ['http_req_duration', 'callback_latency']

/** The percentiles that are judged; of p99.9 a run rarely has enough requests. */
const JUDGED_PERCENTILES: readonly number[] = [50, 90, 95, 99]

/** A smaller difference, milliseconds, may be the sending machine's. */
const DIFFERENCE_MIN_MS = 1

/** Why percentiles are not judged: see {@link SpeedVerdict}. */
type UnjudgedReason = 'too-few' | 'too-short' | 'limited'

/** A percentile of B that is slower than allowed. */
type SlowerPercentile = { metric: string } & SeriesComparison['percentiles'][number]

/** What the gate makes of a comparison. */
export interface SpeedVerdict {
  isPassed: boolean
  /** Percentiles whose whole range is above the allowed ratio. */
  slower: SlowerPercentile[]
  /** B has more requests that did not succeed, and that is not chance (99 % confidence). */
  hasMoreFailures: boolean
  judged: { metric: string; percentiles: number[] }[]
  /** Why nothing could be judged, which does not pass; null if something could. */
  nothing: 'no-success' | 'no-latency' | 'no-range' | null
  /**
   * Percentiles that were left out. `too-few`: too few requests for a range. `too-short`: too few seconds to tell how
   * requests depend on each other, so that only the median is judged. `limited`: this machine was the bottleneck at
   * times, which the median withstands.
   */
  unjudged: { metric: string; percentiles: number[]; reason: UnjudgedReason }[]
}

/**
 * Judges whether B is slower than A by more than `percent`, or fails more often. Only a difference that is significant
 * counts, so services that differ by no more than that fail in at most one of 100 comparisons (docs/compare.md).
 */
export function judgeSpeed(comparison: LoadComparison, percent: number): SpeedVerdict {
  const { failedShare, limited } = comparison
  const series = comparison.series.filter(({ metric }) => JUDGED_SERIES.includes(metric))
  const judged = series.map((one) => judgeSeries(one, percent, limited.length > 0))
  const slower = judged.flatMap((one) => one.slower)
  const hasMoreFailures = failedShare.low !== null && failedShare.low > 0
  const nothing =
    failedShare.a === 1 || failedShare.b === 1
      ? 'no-success'
      : series.length === 0
        ? 'no-latency'
        : judged.every(({ known }) => known.length === 0)
          ? 'no-range'
          : null
  return {
    isPassed: slower.length === 0 && !hasMoreFailures && nothing === null,
    slower,
    hasMoreFailures,
    judged: judged.map(({ metric, known }) => ({ metric, percentiles: known })),
    nothing,
    unjudged: judged.flatMap((one) => one.unjudged),
  }
}

function judgeSeries(
  { metric, percentiles, isBatched }: SeriesComparison,
  percent: number,
  isLimited: boolean,
): Pick<SpeedVerdict, 'slower' | 'unjudged'> & { metric: string; known: number[] } {
  const unjudged = new Map<UnjudgedReason, number[]>()
  const known = percentiles.filter(({ percentile, low }) => {
    if (!JUDGED_PERCENTILES.includes(percentile)) return false
    const reason = findUnjudgedReason(percentile, { low, isBatched, isLimited })
    if (reason !== null) unjudged.set(reason, [...(unjudged.get(reason) ?? []), percentile])
    return reason === null
  })
  const slower = known.filter(
    ({ low, aMs, bMs }) => low !== null && low > 1 + percent / 100 && bMs - aMs > DIFFERENCE_MIN_MS,
  )
  return {
    metric,
    known: known.map(({ percentile }) => percentile),
    slower: slower.map((percentile) => ({ metric, ...percentile })),
    unjudged: [...unjudged].map(([reason, list]) => ({ metric, percentiles: list, reason })),
  }
}

function findUnjudgedReason(
  percentile: number,
  { low, isBatched, isLimited }: { low: number | null; isBatched: boolean; isLimited: boolean },
): UnjudgedReason | null {
  if (low === null) return 'too-few'
  if (percentile === 50) return null
  if (isLimited) return 'limited'
  return isBatched ? null : 'too-short'
}

const NOTHING = {
  'no-latency': 'there is no latency that both runs measured',
  'no-range': 'the runs have too few requests, or one has only the percentiles of a k6 summary',
} as const

/** What the gate found, a sentence each: why it passed or did not, then what it did not judge. */
export function describeVerdict(
  { isPassed, judged, slower, hasMoreFailures, nothing, unjudged }: SpeedVerdict,
  { failedShare: { a, b }, limited }: LoadComparison,
  percent: number,
): string[] {
  const lines: string[] = []
  if (isPassed) {
    const list = judged
      .filter(({ percentiles }) => percentiles.length > 0)
      .map(({ metric, percentiles }) => `${joinWords(percentiles.map(formatPercentileName))} of ${metric}`)
    lines.push(
      `--fail-if-slower passed: B is not slower by significantly more than ${percent} %, judged by ${joinWords(list)}.`,
    )
  }
  if (slower.length > 0) {
    const list = slower.map(
      ({ metric, percentile, ratio, aMs, bMs }) =>
        `${metric} ${formatPercentileName(percentile)} ${formatFigure((ratio - 1) * 100)} % (${formatMs(bMs)} after ${formatMs(aMs)})`,
    )
    lines.push(`B is slower than A by more than ${percent} %: ${list.join(', ')}.`)
  }
  if (hasMoreFailures)
    lines.push(`B has more requests that did not succeed: ${formatShare(b)} after ${formatShare(a)}.`)
  if (nothing !== null) {
    const what = nothing === 'no-success' ? describeNoSuccess(a, b) : NOTHING[nothing]
    return [...lines, `--fail-if-slower has nothing to judge: ${what}.`]
  }
  const reasons = {
    'too-few': 'that takes more requests. Run longer',
    'too-short': 'that takes at least 8 seconds of each run',
    limited: `${describeLimited(limited)}. Run again on an idle machine`,
  } as const
  return [
    ...lines,
    ...unjudged.map(
      ({ metric, percentiles, reason }) =>
        `--fail-if-slower did not judge ${joinWords(percentiles.map(formatPercentileName))} of ${metric}: ${reasons[reason]}.`,
    ),
  ]
}

function describeNoSuccess(a: number, b: number): string {
  if (a === 1 && b === 1) return 'no request of either run succeeded'
  return `no request of ${a === 1 ? 'A' : 'B'} succeeded`
}
