import { randomBinomial } from 'd3-random'
import { toWilsonInterval } from '../load/statistics.ts'
import type { Judged, Metric } from './evaluation.ts'
import type { Random } from './seeded-random.ts'

/** How sure the intervals are. */
const CONFIDENCE = 0.95

/** How often the rows are drawn again for an interval of F1. */
const REPLICATES = 1_000

/**
 * Labelled rows of one stratum, counted by what a rule did on them. Rows that are in no count are right without the
 * rule: true negatives.
 */
export interface Tally {
  /** Rows with a label and an answer. */
  rows: number
  /** Rows that these stand for; null where they stand for themselves. */
  population: number | null
  truePositives: number
  falsePositives: number
  falseNegatives: number
}

/**
 * Judges one rule by its tallies, one for each stratum of a stratified sample. Precision and recall have Wilson's
 * interval, F1 that of a bootstrap. In a stratified sample each row counts for as many as its stratum has rows for
 * each labelled one, and the intervals account for it.
 */
export function judgeRule(strata: readonly Tally[], random: Random): Judged {
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
    f1: estimateF1(used, random),
  }
}

/** Rows of the population that each labelled row of a stratum stands for. */
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
 * How many independent rows would tell a share as exactly as a stratified sample does, from the variance of the ratio
 * of two weighted totals (C. E. Särndal, B. Swensson and J. Wretman, Model Assisted Survey Sampling, 1992, §5.6).
 * Half a row is added to hits and misses of each stratum: one in which none was drawn may still have some.
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
  // A census knows the share: nothing is left to be uncertain about.
  if (variance === 0) return Number.POSITIVE_INFINITY
  const independent = (trials * trials) / squares
  const effective = (share * (1 - share) * trials * trials) / variance
  return value === 0 || value === 1 ? Math.min(effective, independent) : effective
}

/** F1 with the percentile interval of a bootstrap over rows, stratum by stratum. */
function estimateF1(strata: readonly Tally[], random: Random): Metric {
  const value = toF1(
    strata.map((tally) => ({
      weight: toWeight(tally),
      hits: tally.truePositives,
      errors: tally.falsePositives + tally.falseNegatives,
    })),
  )
  if (value === null) return UNDEFINED
  const draw = randomBinomial.source(random)
  const values: number[] = []
  for (let replicate = 0; replicate < REPLICATES; replicate += 1) {
    const drawn = toF1(strata.map((tally) => drawAgain(tally, draw)))
    if (drawn !== null) values.push(drawn)
  }
  values.sort((a, b) => a - b)
  const tail = (1 - CONFIDENCE) / 2
  return { value, low: toQuantile(values, tail), high: toQuantile(values, 1 - tail) }
}

type Binomial = (trials: number, share: number) => () => number

/**
 * Draws as many rows again as there are. Where the rows are a sample of a stratum, one less, and what was drawn counts
 * only as far as the stratum is not known already (J. N. K. Rao and C. F. J. Wu 1988, JASA 83:231–241).
 */
function drawAgain(tally: Tally, draw: Binomial): { weight: number; hits: number; errors: number } {
  const { rows, population, truePositives: hits } = tally
  const errors = tally.falsePositives + tally.falseNegatives
  const weight = toWeight(tally)
  const size = population === null ? rows : Math.max(1, rows - 1)
  const touched = draw(size, (hits + errors) / rows)()
  const hit = touched === 0 ? 0 : draw(touched, hits / (hits + errors))()
  if (population === null) return { weight, hits: hit, errors: touched - hit }
  const part = Math.sqrt(Math.max(0, 1 - rows / population))
  const mix = (kept: number, drawn: number) => (1 - part) * kept + (part * drawn * rows) / size
  return { weight, hits: mix(hits, hit), errors: mix(errors, touched - hit) }
}

function toF1(parts: readonly { weight: number; hits: number; errors: number }[]): number | null {
  let [hits, errors] = [0, 0]
  for (const part of parts) {
    hits += part.weight * part.hits
    errors += part.weight * part.errors
  }
  return hits + errors === 0 ? null : (2 * hits) / (2 * hits + errors)
}

/** A quantile of ascending values, between two of them by their distance, as numpy has it by default. */
export function toQuantile(values: readonly number[], probability: number): number {
  const at = (values.length - 1) * probability
  const [low, high] = [values[Math.floor(at)] ?? 0, values[Math.ceil(at)] ?? 0]
  return low + (high - low) * (at - Math.floor(at))
}

/** Precision, recall and F1 of several rules in one: `macro` is their mean, `micro` counts all decisions together. */
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

/** Averages over rules; null where none of them has a value. */
export interface Averages {
  precision: number | null
  recall: number | null
  f1: number | null
}
