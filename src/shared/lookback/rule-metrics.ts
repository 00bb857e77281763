import { toWilsonInterval } from '../load/statistics.ts'
import type { Judged, Metric } from './evaluation.ts'

const CONFIDENCE = 0.95

/** Labelled rows of one stratum, counted by what a rule did on them. Uncounted rows are true negatives. */
export interface Tally {
  /** Rows with a label and an answer. */
  rows: number
  /** Rows that these stand for; null if they stand for themselves. */
  population: number | null
  truePositives: number
  falsePositives: number
  falseNegatives: number
}

/**
 * Judges one rule by its tallies, one for each stratum of a stratified sample. All intervals are Wilson's. In
 * a stratified sample, each labelled row counts for its stratum's rows per labelled row, which the intervals
 * account for.
 */
export function judgeRule(strata: readonly Tally[]): Judged {
  const used = strata.filter(({ rows }) => rows > 0)
  const isWeighted = used.some(({ population }) => population !== null)
  const precision = estimateShare(used, ({ truePositives, falsePositives }) => [
    truePositives,
    falsePositives,
  ])
  const recall = estimateShare(used, ({ truePositives, falseNegatives }) => [truePositives, falseNegatives])
  return {
    matrix: toMatrix(used, () => 1),
    estimated: isWeighted ? toMatrix(used, toWeight) : null,
    precision,
    recall,
    f1: estimateF1(used),
  }
}

/** Rows of the population that a stratum's labelled row stands for. */
export function toWeight({ rows, population }: Pick<Tally, 'rows' | 'population'>): number {
  return population === null ? 1 : population / rows
}

function toMatrix(strata: readonly Tally[], weightOf: (tally: Tally) => number): Judged['matrix'] {
  const sum = (count: (tally: Tally) => number) =>
    strata.reduce((total, tally) => total + weightOf(tally) * count(tally), 0)
  return {
    true_positives: sum(({ truePositives }) => truePositives),
    false_positives: sum(({ falsePositives }) => falsePositives),
    false_negatives: sum(({ falseNegatives }) => falseNegatives),
    true_negatives: sum(countTrueNegatives),
  }
}

function countTrueNegatives({ rows, truePositives, falsePositives, falseNegatives }: Tally): number {
  return rows - truePositives - falsePositives - falseNegatives
}

const UNDEFINED: Metric = { value: null, low: null, high: null }

/** The share of hits among hits and misses, with its interval. */
function estimateShare(
  strata: readonly Tally[],
  count: (tally: Tally) => readonly [hits: number, misses: number],
): Metric {
  let [hits, trials, labelled, squares] = [0, 0, 0, 0]
  for (const tally of strata) {
    const [hit, missed] = count(tally)
    const weight = toWeight(tally)
    hits += weight * hit
    trials += weight * (hit + missed)
    labelled += hit + missed
    squares += weight * weight * (hit + missed)
  }
  if (trials === 0) return UNDEFINED
  const value = hits / trials
  const isWeighted = strata.some(({ population }) => population !== null)
  const worth = isWeighted ? countEffectiveRows(strata, count, { value, trials, squares }) : labelled
  return { value, ...toWilsonInterval(value, worth, CONFIDENCE) }
}

/**
 * How many independent rows would estimate a share as precisely as a stratified sample, from the variance of
 * the ratio of two weighted totals (C. E. Särndal, B. Swensson and J. Wretman, Model Assisted Survey
 * Sampling, 1992, §5.6). Half a row is added to the hits and misses of each stratum: a stratum without any in
 * the sample may still have some.
 */
function countEffectiveRows(
  strata: readonly Tally[],
  count: (tally: Tally) => readonly [hits: number, misses: number],
  { value, trials, squares }: { value: number; trials: number; squares: number },
): number {
  const share = Math.min(1 - 0.5 / (trials + 1), Math.max(0.5 / (trials + 1), value))
  let variance = 0
  for (const tally of strata) {
    const { rows, population } = tally
    if (population === null || population <= rows) continue
    const [hit, missed] = count(tally)
    const [hits, misses] = [hit + 0.5, missed + 0.5]
    const size = rows + 1
    const sum = hits * (1 - share) - misses * share
    const sumOfSquares = hits * (1 - share) ** 2 + misses * share ** 2
    const spread = (sumOfSquares - (sum * sum) / size) / Math.max(1, size - 1)
    variance += population * (population - rows) * (spread / rows)
  }
  // A census has no uncertainty.
  if (variance === 0) return Number.POSITIVE_INFINITY
  const independent = (trials * trials) / squares
  const effective = (share * (1 - share) * trials * trials) / variance
  return value === 0 || value === 1 ? Math.min(effective, independent) : effective
}

/**
 * F1 with its interval: F1 is 2J / (1 + J), with J the share of found rows among those found, missed or
 * wrong. So the ends of Wilson's interval of J give those of F1 (K. F. Y. Lam, V. Gopal and J. Qian 2023,
 * arXiv:2309.14621, "Wilson indirect"). It stays honest for a few rows, where percentiles of a bootstrap
 * shrink to a point.
 */
function estimateF1(strata: readonly Tally[]): Metric {
  const share = estimateShare(strata, ({ truePositives, falsePositives, falseNegatives }) => [
    truePositives,
    falsePositives + falseNegatives,
  ])
  const toF1 = (found: number | null) => (found === null ? null : (2 * found) / (1 + found))
  // Not computed from the rounded share: 9 of 10 must be 0.9, as written in an assertion.
  const { true_positives: hits, false_positives: extra, false_negatives: missed } = toMatrix(strata, toWeight)
  const value = share.value === null ? null : (2 * hits) / (2 * hits + extra + missed)
  return { value, low: toF1(share.low), high: toF1(share.high) }
}

/** Precision, recall and F1 averaged over rules: `macro` is their mean, `micro` counts all decisions. */
export function averageRules(rules: readonly Judged[]): { macro: Averages; micro: Averages } {
  const mean = (read: (rule: Judged) => number | null) => {
    const values = rules.map(read).filter((value) => value !== null)
    return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length
  }
  const sum = (name: keyof Judged['matrix']) =>
    rules.reduce((total, { matrix, estimated }) => total + (estimated ?? matrix)[name], 0)
  const [hits, extra, missed] = [sum('true_positives'), sum('false_positives'), sum('false_negatives')]
  const share = (part: number, all: number) => (all === 0 ? null : part / all)
  return {
    macro: {
      precision: mean(({ precision }) => precision.value),
      recall: mean(({ recall }) => recall.value),
      f1: mean(({ f1 }) => f1.value),
    },
    micro: {
      precision: share(hits, hits + extra),
      recall: share(hits, hits + missed),
      f1: share(2 * hits, 2 * hits + extra + missed),
    },
  }
}

/** Averages over rules; null if none of them has a value. */
export interface Averages {
  precision: number | null
  recall: number | null
  f1: number | null
}
