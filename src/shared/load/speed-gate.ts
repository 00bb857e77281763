import { z } from 'zod'
import { formatFigure, formatMs, formatShare } from '../messages/figure-text.ts'
import { FAILING_SHARE, formatPercentileName, joinWords } from './compare-text.ts'
import { type TrendMetric, trendMetricSchema } from './metrics.ts'
import {
  type BatchesOfRuns,
  countAbove,
  type Exceeding,
  toExcessChance,
  toQuantileUs,
} from './slower-test.ts'
import type { Cumulative } from './statistics.ts'

/** The latencies that depend on the service alone, without opening connections or late sending. */
export const JUDGED_METRICS = ['http_req_duration', 'callback_latency'] as const satisfies TrendMetric[]

/** Percentiles judged by default; runs rarely have enough requests for p99.9. */
export const JUDGED_PERCENTILES: readonly number[] = [50, 95, 99]

/**
 * Highest probability that a B within the margin fails. Each percentile, and the failures, have an equal part
 * of it (Bonferroni).
 */
const FALSE_ALARMS = 0.01

/** The sending machine may cause smaller differences, microseconds. */
const DIFFERENCE_MIN_US = 1_000

/** Fewest seconds of a run, and batches of a side, that show how requests depend on each other. */
const SECONDS_MIN = 8

/** Failures are judged for shorter runs too: two seconds show that a service refuses everything. */
const FAILURE_SECONDS_MIN = 2

/** Fewest requests of a side beyond a percentile that make it reliable, whatever the distribution. */
const BEYOND_MIN = 10

/** It is judged only if B would fail with this many times the allowed value, or so many more failures. */
const SEEN_FACTOR = 2

/** A B never passes if its share of failures is larger by more than this. */
const PLAINLY_MORE = 0.1

/**
 * Consecutive failing seconds, at a run's end and anywhere in it. Without a real difference, fewer than one
 * in 100 comparisons of runs of 30 seconds or more has as many, if failures come in bursts of five seconds or
 * less on average (test/gate).
 */
const BREAKDOWN_SECONDS_MIN = 10
const OUTAGE_SECONDS_MIN = 30

/** Such a stretch must also be longer than A's longest by this factor. */
const BREAKDOWN_FACTOR = 3

/** What is judged of a run. A batch: a few consecutive seconds in which the sending machine did not stall. */
export interface JudgedRun {
  /** Seconds in which a request ended. */
  seconds: number
  /** Of these, seconds that the sending machine shaped; no latency includes them. */
  limitedSeconds: number
  requests: number
  failed: number
  /** Failed requests by second, for all seconds. */
  failures: readonly Exceeding[]
  latencies: Partial<Record<(typeof JUDGED_METRICS)[number], readonly Cumulative[]>>
  /** Share of the callbacks that did not arrive, and are missing in latencies (default: 0). */
  missingCallbacks?: number
}

const reasonSchema = z.enum([
  'no_requests',
  'too_short',
  'too_few',
  'generator_limited',
  'mostly_failures',
  'percentiles_only',
  'missing_callbacks',
])

/** Why something cannot be judged. */
type Reason = z.infer<typeof reasonSchema>

const percentileVerdictSchema = z.object({
  metric: trendMetricSchema,
  percentile: z.number(),
  /** Null if a run did not measure it. */
  a_ms: z.number().nullable(),
  b_ms: z.number().nullable(),
  /** The highest value allowed for B. */
  allowed_ms: z.number().nullable(),
  result: z.enum(['within', 'slower', 'not_judged']),
  /** Why it cannot be judged. */
  reason: reasonSchema.nullable(),
  /** The probability that chance alone makes B so much slower than allowed; compared with `level`. */
  p: z.number().nullable(),
  /** If within: the multiple of A's value from which B would have failed, if requests varied as much. */
  fails_from: z.number().nullable(),
})

export const speedVerdictSchema = z.object({
  result: z.enum(['passed', 'failed', 'not_judged']),
  /** How much slower B may be. */
  margin_percent: z.number(),
  /** The probability below which a difference counts as significant. */
  level: z.number(),
  percentiles: z.array(percentileVerdictSchema),
  failures: z.object({
    /** Shares of failed requests. */
    a: z.number(),
    b: z.number(),
    result: z.enum(['within', 'more', 'not_judged']),
    reason: reasonSchema.nullable(),
    p: z.number().nullable(),
  }),
  /** Seconds that no latency includes, since the sending machine shaped them. */
  left_out_seconds: z.object({ a: z.int(), b: z.int() }),
})

export type SpeedVerdict = z.infer<typeof speedVerdictSchema>

type PercentileVerdict = z.infer<typeof percentileVerdictSchema>

export interface SpeedQuestion {
  /** Percent by which B may be slower. */
  margin: number
  percentiles: readonly number[]
  /** Skips computing from which difference on B would have failed, which takes most of the time. */
  isBrief?: true
}

/**
 * Judges whether the runs of B are slower than those of A by more than the margin, or fail more often. A B
 * within the margin fails in at most one of 100 comparisons (docs/compare.md).
 */
export function judgeSpeed(
  a: readonly JudgedRun[],
  b: readonly JudgedRun[],
  { margin, percentiles, isBrief }: SpeedQuestion,
): SpeedVerdict {
  const runs = [...a, ...b]
  const measured = JUDGED_METRICS.filter((metric) =>
    runs.some((run) => run.latencies[metric] || findMissing([run], metric, 100) !== null),
  )
  const metrics = measured.length === 0 ? (['http_req_duration'] as const) : measured
  const level = FALSE_ALARMS / (metrics.length * percentiles.length + 1)
  const verdicts = metrics.flatMap((metric) => {
    const reason = findReason(a, b, metric)
    return percentiles.map((percentile) =>
      judgePercentile(toBatches(a, metric), toBatches(b, metric), {
        metric,
        percentile,
        margin,
        level,
        reason: findMissing(runs, metric, percentile) ?? reason,
        isBrief: isBrief ?? false,
      }),
    )
  })
  const failures = judgeFailures(a, b, level)
  const isFailed = failures.result === 'more' || verdicts.some(({ result }) => result === 'slower')
  const isOpen = failures.result === 'not_judged' || verdicts.some(({ result }) => result === 'not_judged')
  return {
    result: isFailed ? 'failed' : isOpen ? 'not_judged' : 'passed',
    margin_percent: margin,
    level,
    percentiles: verdicts,
    failures,
    left_out_seconds: { a: sumUp(a, 'limitedSeconds'), b: sumUp(b, 'limitedSeconds') },
  }
}

/** Why the latencies of two sides cannot be judged at all; null if they may be. */
function findReason(
  a: readonly JudgedRun[],
  b: readonly JudgedRun[],
  metric: (typeof JUDGED_METRICS)[number],
): Reason | null {
  const runs = [...a, ...b]
  if (runs.some(({ requests }) => requests === 0)) return 'no_requests'
  if ([a, b].some((side) => sumUp(side, 'failed') > FAILING_SHARE * sumUp(side, 'requests')))
    return 'mostly_failures'
  if (runs.some(({ seconds }) => seconds === 0)) return 'percentiles_only'
  if (runs.some(({ seconds, limitedSeconds }) => limitedSeconds * 2 > seconds)) return 'generator_limited'
  if (runs.some(({ latencies }) => (latencies[metric]?.length ?? 0) < SECONDS_MIN)) return 'too_short'
  return null
}

/** A percentile is unknown if more callbacks are missing than half of those that may lie beyond it. */
function findMissing(
  runs: readonly JudgedRun[],
  metric: (typeof JUDGED_METRICS)[number],
  percentile: number,
): Reason | null {
  if (metric !== 'callback_latency') return null
  const missing = Math.max(...runs.map(({ missingCallbacks = 0 }) => missingCallbacks))
  return missing > (1 - percentile / 100) / 2 ? 'missing_callbacks' : null
}

function toBatches(
  runs: readonly JudgedRun[],
  metric: (typeof JUDGED_METRICS)[number],
): BatchesOfRuns<Cumulative> {
  return runs.map(({ latencies }) => latencies[metric] ?? [])
}

function judgePercentile(
  a: BatchesOfRuns<Cumulative>,
  b: BatchesOfRuns<Cumulative>,
  asked: {
    metric: TrendMetric
    percentile: number
    margin: number
    level: number
    reason: Reason | null
    isBrief: boolean
  },
): PercentileVerdict {
  const { metric, percentile, margin, level, reason, isBrief } = asked
  const isMeasured = a.flat().length > 0 && b.flat().length > 0
  const [aUs, bUs] = [a, b].map((runs) => toQuantileUs(runs, percentile / 100)) as [number, number]
  const allowedUs = Math.max(aUs * (1 + margin / 100), aUs + DIFFERENCE_MIN_US)
  const figures = isMeasured
    ? { metric, percentile, a_ms: aUs / 1000, b_ms: bUs / 1000, allowed_ms: allowedUs / 1000 }
    : { metric, percentile, a_ms: null, b_ms: null, allowed_ms: null }
  const open = (why: Reason) =>
    ({ ...figures, result: 'not_judged', reason: why, p: null, fails_from: null }) as const
  if (reason !== null) return open(reason)
  const fewest = Math.min(...[a, b].map(countRequests))
  if (fewest * (1 - percentile / 100) < BEYOND_MIN - 1e-6) return open('too_few')
  const beyond = countAbove(a, aUs)
  /** The chance if B had taken `times` as long. */
  const toChance = (times: number) =>
    toExcessChance(beyond, countAbove(b, allowedUs / times), { level, batchesMin: SECONDS_MIN })
  const isSeen = (timesAllowed: number) => toChance((timesAllowed * allowedUs) / bUs) < level
  const p = toChance(1)
  if (!(p < level || isSeen(SEEN_FACTOR))) return open('too_few')
  if (p < level) return { ...figures, result: 'slower', reason: null, p, fails_from: null }
  const from = isBrief ? null : (findLeast(isSeen, 1, SEEN_FACTOR) * allowedUs) / aUs
  return { ...figures, result: 'within', reason: null, p, fails_from: from }
}

function countRequests(runs: BatchesOfRuns<Cumulative>): number {
  return runs.flat().reduce((sum, { counts }) => sum + (counts.at(-1) ?? 0), 0)
}

/** The least number between two for which `holds` is true, to a hundredth; it must hold for the larger. */
function findLeast(holds: (value: number) => boolean, from: number, to: number): number {
  if (to - from < 0.01) return to
  const middle = (from + to) / 2
  return holds(middle) ? findLeast(holds, from, middle) : findLeast(holds, middle, to)
}

function judgeFailures(
  a: readonly JudgedRun[],
  b: readonly JudgedRun[],
  level: number,
): SpeedVerdict['failures'] {
  const [shareA, shareB] = [a, b].map((runs) => sumUp(runs, 'failed') / Math.max(1, sumUp(runs, 'requests')))
  const shares = { a: shareA ?? 0, b: shareB ?? 0 }
  const runs = [...a, ...b]
  const open = (reason: Reason) => ({ ...shares, result: 'not_judged', reason, p: null }) as const
  if (runs.some(({ requests }) => requests === 0)) return open('no_requests')
  if (runs.some(({ seconds }) => seconds === 0)) return open('percentiles_only')
  const isShort = runs.some(({ seconds }) => seconds < FAILURE_SECONDS_MIN)
  // One second does not show how failures depend on each other. Yet if B mostly fails and A does not, that is
  // plain.
  if (isShort && !(shares.b > FAILING_SHARE && shares.a <= FAILING_SHARE)) return open('too_short')
  const toFailures = (side: readonly JudgedRun[]) => side.map(({ failures }) => failures)
  const [ofA, ofB] = [toFailures(a), toFailures(b)]
  const toChance = (later: BatchesOfRuns<Exceeding>) =>
    toExcessChance(ofA, later, { level, batchesMin: FAILURE_SECONDS_MIN })
  const p = toChance(ofB)
  if (p < level) return { ...shares, result: 'more', reason: null, p }
  if (isShort) return open('too_short')
  if (shares.b - shares.a > PLAINLY_MORE) {
    const independent = toExcessChance([ofA.flat()], [ofB.flat()], { level, batchesMin: Infinity })
    if (independent < level && isBreakdown(ofA, ofB, shares.a + PLAINLY_MORE))
      return { ...shares, result: 'more', reason: null, p: independent }
    return open('too_few')
  }
  const seenShare = Math.min(1, shares.a + SEEN_FACTOR * PLAINLY_MORE)
  if (!(toChance(raiseTo(ofB, shares.b, seenShare)) < level)) {
    return open(shares.a > FAILING_SHARE ? 'mostly_failures' : 'too_few')
  }
  return { ...shares, result: 'within', reason: null, p }
}

/** Whether a run of B failed in consecutive seconds for longer than bursts last, and than A ever did. */
function isBreakdown(a: BatchesOfRuns<Exceeding>, b: BatchesOfRuns<Exceeding>, share: number): boolean {
  const isFailing = ({ count, hits }: Exceeding) => hits > share * count
  const ofA = Math.max(0, ...a.map((run) => countLongest(run, isFailing)))
  return b.some((run) => {
    const toEnd = run.length - 1 - run.findLastIndex((second) => !isFailing(second))
    const longest = countLongest(run, isFailing)
    return (
      (toEnd >= BREAKDOWN_SECONDS_MIN && toEnd > BREAKDOWN_FACTOR * ofA) ||
      (longest >= OUTAGE_SECONDS_MIN && longest > BREAKDOWN_FACTOR * ofA)
    )
  })
}

/** The most consecutive seconds that count. */
function countLongest(run: readonly Exceeding[], isCounted: (second: Exceeding) => boolean): number {
  let [longest, seconds] = [0, 0]
  for (const second of run) {
    seconds = isCounted(second) ? seconds + 1 : 0
    longest = Math.max(longest, seconds)
  }
  return longest
}

/** The batches with successes evenly turned into failures, until the share of failures is `raised`. */
function raiseTo(runs: BatchesOfRuns<Exceeding>, share: number, raised: number): BatchesOfRuns<Exceeding> {
  const turned = share < 1 ? (raised - share) / (1 - share) : 0
  return runs.map((run) => run.map(({ count, hits }) => ({ count, hits: hits + turned * (count - hits) })))
}

function sumUp(runs: readonly JudgedRun[], key: 'requests' | 'failed' | 'limitedSeconds'): number {
  return runs.reduce((sum, run) => sum + run[key], 0)
}

const REASONS = {
  no_requests: 'a run has no request that ended',
  too_short: `that takes at least ${SECONDS_MIN} seconds of each run, left out ones not counted. Run longer`,
  too_few: `fewer than ${BEYOND_MIN} requests of a run take longer, or its latencies change too little from second to second to tell even a B that takes twice what is allowed from chance. Send more requests, run longer, or compare several runs of each side`,
  generator_limited:
    'in most seconds of a run, latencies may include delays of this machine. Run again on an idle machine, or at a lower rate',
  mostly_failures: 'most requests of a run did not succeed, so its latencies are those of failures',
  percentiles_only: 'a run has no figures by second, such as a summary of k6',
  missing_callbacks:
    'so many callbacks of a run did not arrive that the percentile is not known, since they have no latency',
} as const satisfies Record<Reason, string>

const OF_FAILURES: Partial<Record<Reason, string>> = {
  mostly_failures: 'most requests of A did not succeed, so no B could plainly fail more',
  too_short: `that takes at least ${FAILURE_SECONDS_MIN} seconds of each run. Run longer`,
  too_few:
    'requests are so few, or failures come so close together in time, that a B that plainly fails more would not be told from chance. Send more requests, run longer, or compare several runs of each side',
}

/** What the check of speed found, a sentence each. */
export function describeVerdict({
  result,
  margin_percent: margin,
  percentiles,
  failures,
  left_out_seconds: { a, b },
}: SpeedVerdict): string[] {
  const lines: string[] = []
  const list = (verdicts: readonly PercentileVerdict[]) => {
    const metrics = [...new Set(verdicts.map(({ metric }) => metric))]
    return joinWords(
      metrics.map((metric) => {
        const names = verdicts
          .filter((one) => one.metric === metric)
          .map(({ percentile }) => formatPercentileName(percentile))
        return `${joinWords(names)} of ${metric}`
      }),
    )
  }
  const slower = percentiles.filter((one) => one.result === 'slower')
  if (slower.length > 0)
    lines.push(`B is slower than A by more than ${margin} %: ${slower.map(sayChange).join(', ')}.`)
  if (failures.result === 'more')
    lines.push(
      `B has more requests that did not succeed: ${formatShare(failures.b)} after ${formatShare(failures.a)}.`,
    )
  const within = percentiles.filter((one) => one.result === 'within')
  if (result === 'passed')
    lines.push(
      `--fail-if-slower passed: B is not slower by significantly more than ${margin} %, judged by ${list(within)}, and failures (${formatShare(failures.b)} after ${formatShare(failures.a)}).`,
    )
  if (within.length > 0)
    lines.push(`It would have failed from these on: ${within.map(sayFailsFrom).join(', ')}.`)
  for (const reason of reasonSchema.options) {
    const open = percentiles.filter((one) => one.reason === reason)
    if (open.length > 0) lines.push(`--fail-if-slower cannot judge ${list(open)}: ${REASONS[reason]}.`)
  }
  if (failures.reason !== null)
    lines.push(
      `--fail-if-slower cannot judge failures (${formatShare(failures.b)} after ${formatShare(failures.a)}): ${OF_FAILURES[failures.reason] ?? REASONS[failures.reason]}.`,
    )
  if (a + b > 0)
    lines.push(
      `Seconds whose latencies may include delays of this machine are left out: ${a} of A, ${b} of B.`,
    )
  return lines
}

function sayChange({ metric, percentile, a_ms: a, b_ms: b }: PercentileVerdict): string {
  if (a === null || b === null) throw new Error('what is slower was measured')
  return `${metric} ${formatPercentileName(percentile)} ${formatFigure((b / a - 1) * 100)} % (${formatMs(b)} after ${formatMs(a)})`
}

function sayFailsFrom({ metric, percentile, fails_from: from }: PercentileVerdict): string {
  return `${metric} ${formatPercentileName(percentile)} ${formatFigure(((from ?? 1) - 1) * 100)} % slower`
}
