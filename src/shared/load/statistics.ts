import type { Histogram } from 'hdr-histogram-js'
import { createHistogram, listRecorded } from './latency-meter.ts'

/** A range with the true value at some confidence; null if a side is unbounded. */
export interface Interval {
  low: number | null
  high: number | null
}

// P. J. Acklam's rational approximation of the normal quantile; its relative error is below 1.2e-9.
const CENTRAL_TOP = [
  -39.69683028665376, 220.9460984245205, -275.9285104469687, 138.357751867269, -30.66479806614716,
  2.506628277459239,
]
const CENTRAL_BOTTOM = [
  -54.47609879822406, 161.5858368580409, -155.6989798598866, 66.80131188771972, -13.28068155288572, 1,
]
const TAIL_TOP = [
  -0.007784894002430293, -0.3223964580411365, -2.400758277161838, -2.549732539343734, 4.374664141464968,
  2.938163982698783,
]
const TAIL_BOTTOM = [0.007784695709041462, 0.3224671290700398, 2.445134137142996, 3.754408661907416, 1]
const TAIL = 0.02425

/** The quantile of the standard normal distribution; `probability` is above 0 and below 1. */
export function toNormalQuantile(probability: number): number {
  if (probability > 0.5) return -toNormalQuantile(1 - probability)
  if (probability < TAIL) {
    const q = Math.sqrt(-2 * Math.log(probability))
    return toPolynomial(TAIL_TOP, q) / toPolynomial(TAIL_BOTTOM, q)
  }
  const q = probability - 0.5
  return (toPolynomial(CENTRAL_TOP, q * q) * q) / toPolynomial(CENTRAL_BOTTOM, q * q)
}

function toPolynomial(coefficients: readonly number[], x: number): number {
  return coefficients.reduce((sum, coefficient) => sum * x + coefficient, 0)
}

/** Student's quantile, by its expansion in 1/degrees (Abramowitz and Stegun 26.7.5); from 5 degrees on. */
export function toStudentQuantile(probability: number, degrees: number): number {
  const z = toNormalQuantile(probability)
  const terms = [
    (z ** 3 + z) / 4,
    (5 * z ** 5 + 16 * z ** 3 + 3 * z) / 96,
    (3 * z ** 7 + 19 * z ** 5 + 17 * z ** 3 - 15 * z) / 384,
    (79 * z ** 9 + 776 * z ** 7 + 1482 * z ** 5 - 1920 * z ** 3 - 945 * z) / 92_160,
  ]
  return terms.reduce((sum, term, index) => sum + term / degrees ** (index + 1), z)
}

// Lanczos' approximation of the logarithm of the gamma function, with g = 5 and six terms.
const LANCZOS = [
  76.18009172947146, -86.50532032941678, 24.01409824083091, -1.231739572450155, 0.1208650973866179e-2,
  -0.5395239384953e-5,
]

function toLogGamma(x: number): number {
  const sum = LANCZOS.reduce((total, term, index) => total + term / (x + 1 + index), 1.000000000190015)
  return (x + 0.5) * Math.log(x + 5.5) - (x + 5.5) + Math.log((2.5066282746310007 * sum) / x)
}

/**
 * The regularized incomplete beta function, by its continued fraction (Abramowitz and Stegun 26.5.8): for
 * whole `a` and `b`, the probability of at least `a` successes in `a + b - 1` trials with probability `x`.
 */
export function toBetaShare(x: number, a: number, b: number): number {
  if (x <= 0) return 0
  if (x >= 1) return 1
  if (x > (a + 1) / (a + b + 2)) return 1 - toBetaShare(1 - x, b, a)
  const front = Math.exp(
    toLogGamma(a + b) - toLogGamma(a) - toLogGamma(b) + a * Math.log(x) + b * Math.log1p(-x),
  )
  let [c, d] = [1, 1 / (1 - ((a + b) * x) / (a + 1))]
  let fraction = d
  for (let m = 1; m < 10_000; m += 1) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m))
    d = 1 / (1 + even * d)
    c = 1 + even / c
    fraction *= d * c
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1))
    d = 1 / (1 + odd * d)
    c = 1 + odd / c
    fraction *= d * c
    if (Math.abs(d * c - 1) < 1e-12) break
  }
  return (front * fraction) / a
}

/** The value that Student's distribution exceeds with this probability (<0.5), for any degrees of freedom. */
export function toStudentTail(probability: number, degrees: number): number {
  if (degrees >= 5) return toStudentQuantile(1 - probability, degrees)
  const exceeds = (t: number) => toBetaShare(degrees / (degrees + t * t), degrees / 2, 0.5) / 2
  let [from, to] = [0, 1]
  while (exceeds(to) > probability) to *= 2
  for (let step = 0; step < 30; step += 1) {
    const middle = (from + to) / 2
    if (exceeds(middle) > probability) from = middle
    else to = middle
  }
  return to
}

/** Above this variance, the binomial quantile comes from its expansion, whose error is below one. */
const EXACT_MAX_VARIANCE = 10_000

/** The smallest count whose cumulative binomial probability reaches `probability`. */
export function toBinomialQuantile(trials: number, share: number, probability: number): number {
  if (share <= 0 || trials === 0) return 0
  if (share >= 1) return trials
  // Summed from the side with small counts: the number of non-events is binomial too.
  if (share > 0.5) return trials - toBinomialQuantile(trials, 1 - share, 1 - probability)
  const mean = trials * share
  const variance = mean * (1 - share)
  if (variance > EXACT_MAX_VARIANCE) {
    const z = toNormalQuantile(probability)
    const skew = (1 - 2 * share) / Math.sqrt(variance)
    const at = mean + Math.sqrt(variance) * (z + (skew * (z * z - 1)) / 6) - 0.5
    return Math.min(trials, Math.max(0, Math.ceil(at)))
  }
  let count = 0
  let cumulative = 0
  let logTerm = trials * Math.log1p(-share)
  while (count < trials) {
    cumulative += Math.exp(logTerm)
    if (cumulative >= probability) return count
    logTerm += Math.log(((trials - count) / (count + 1)) * (share / (1 - share)))
    count += 1
  }
  return trials
}

/** Wilson's score interval of a share (E. B. Wilson 1927, JASA 22:209–212). `trials` may be a fraction. */
export function toWilsonInterval(
  share: number,
  trials: number,
  confidence: number,
): { low: number; high: number } {
  if (trials <= 0) return { low: 0, high: 1 }
  const z = toNormalQuantile((1 + confidence) / 2)
  const scale = 1 + (z * z) / trials
  const middle = (share + (z * z) / (2 * trials)) / scale
  const reach = (z * Math.sqrt((share * (1 - share)) / trials + (z * z) / (4 * trials * trials))) / scale
  return {
    low: share === 0 ? 0 : Math.max(0, middle - reach),
    high: share === 1 ? 1 : Math.min(1, middle + reach),
  }
}

/**
 * The design effect: the variance of a share divided by that of independent requests, estimated between
 * batches of consecutive ones; at least 1. Student's distribution corrects for few batches, so that a
 * normal quantile can be used with it. Null if there are too few batches.
 */
export function toDesignEffect(
  batches: readonly { count: number; hits: number }[],
  confidence: number,
): number | null {
  const used = batches.filter(({ count }) => count > 0)
  const total = used.reduce((sum, { count }) => sum + count, 0)
  const hits = used.reduce((sum, batch) => sum + batch.hits, 0)
  if (used.length < BATCHES_MIN) return null
  const share = hits / total
  const degrees = used.length - 1
  const penalty =
    (toStudentQuantile((1 + confidence) / 2, degrees) / toNormalQuantile((1 + confidence) / 2)) ** 2
  const independent = share * (1 - share) * total
  if (independent === 0) return penalty
  const squares = used.reduce((sum, batch) => sum + (batch.hits - share * batch.count) ** 2, 0)
  return Math.max(1, ((used.length / degrees) * squares) / independent) * penalty
}

/** Fewest batches to estimate a variance from. */
const BATCHES_MIN = 8

/** The interval of a mean of batches, by Student's distribution; null if there are too few batches. */
export function toMeanInterval(
  values: readonly number[],
  confidence: number,
): { mean: number; reach: number } | null {
  if (values.length < BATCHES_MIN) return null
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  const degrees = values.length - 1
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / degrees
  return {
    mean,
    reach: toStudentQuantile((1 + confidence) / 2, degrees) * Math.sqrt(variance / values.length),
  }
}

/** Batches of consecutive seconds in a run; textbooks on simulation recommend 20 to 30. */
export const BATCH_COUNT = 30

/** Recorded values in ascending microseconds, each with the number of samples at or below it. */
export interface Cumulative {
  us: number[]
  counts: number[]
}

/** A latency's whole distribution and, if known, those of consecutive parts of the run. */
export interface LatencyHistory {
  total: Histogram
  /** In chronological order; empty if only the whole is known. */
  batches: readonly Cumulative[]
}

/**
 * A latency's history from its whole distribution and those of its seconds, which are merged into at most
 * {@link BATCH_COUNT} batches of equal length. Without seconds, only the whole is known. Seconds are consumed
 * one by one, so that one histogram in memory suffices for an hour; `count` is the number of seconds.
 */
export function toLatencyHistory(
  total: Histogram,
  seconds: Iterable<Histogram>,
  count: number = countItems(seconds),
): LatencyHistory {
  const length = Math.max(1, Math.ceil(count / BATCH_COUNT))
  const batches: Cumulative[] = []
  const batch = createHistogram()
  let taken = 0
  for (const second of seconds) {
    batch.add(second)
    taken += 1
    if (taken % length > 0) continue
    batches.push(toCumulative(batch))
    batch.reset()
  }
  if (taken % length > 0) batches.push(toCumulative(batch))
  return { total, batches }
}

function countItems(seconds: Iterable<Histogram>): number {
  if (Array.isArray(seconds)) return seconds.length
  throw new Error('of seconds that come one after the other, their number has to be said')
}

function toCumulative(histogram: Histogram): Cumulative {
  const cumulative: Cumulative = { us: [], counts: [] }
  let count = 0
  for (const recorded of listRecorded(histogram)) {
    count += recorded.count
    cumulative.us.push(recorded.us)
    cumulative.counts.push(count)
  }
  return cumulative
}

/**
 * A quantile in microseconds and the range with the true one at this confidence.
 *
 * The range consists of order statistics, whose ranks are binomial whatever the distribution (G. J. Hahn and
 * W. Q. Meeker, Statistical Intervals, 1991, §5.2). Requests that follow each other are slow together, so
 * their number is divided by the design effect of the share below the quantile, estimated from batches of
 * consecutive seconds (R. S. Woodruff 1952, JASA 47:635–646). If no batches are known, requests count as
 * independent.
 */
export function toQuantileInterval(
  { total, batches }: LatencyHistory,
  percentile: number,
  confidence: number,
): { valueUs: number; interval: Interval; isBatched: boolean } {
  const valueUs = total.getValueAtPercentile(percentile)
  const shares = batches.map((batch) => ({
    count: batch.counts.at(-1) ?? 0,
    hits: countUpTo(batch, valueUs),
  }))
  const effect = shares.length < BATCHES_MIN ? null : toDesignEffect(shares, confidence)
  const trials = Math.max(1, Math.floor(total.totalCount / (effect ?? 1)))
  const share = percentile / 100
  const tail = (1 - confidence) / 2
  const lowRank = toBinomialQuantile(trials, share, tail)
  const highRank = toBinomialQuantile(trials, share, 1 - tail) + 1
  return {
    valueUs,
    interval: {
      low: lowRank < 1 ? null : total.getValueAtPercentile((100 * lowRank) / trials),
      high: highRank > trials ? null : total.getValueAtPercentile((100 * highRank) / trials),
    },
    isBatched: effect !== null,
  }
}

/** How many samples are at or below a value. */
export function countUpTo({ us, counts }: Cumulative, limitUs: number): number {
  let [from, to] = [0, us.length]
  while (from < to) {
    const middle = (from + to) >> 1
    if ((us[middle] ?? Infinity) <= limitUs) from = middle + 1
    else to = middle
  }
  return counts[from - 1] ?? 0
}
