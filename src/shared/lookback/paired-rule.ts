import type { ChangeOfMetrics } from './comparison.ts'
import type { Metric } from './evaluation.ts'
import { judgeRule, toWeight } from './rule-metrics.ts'

/**
 * McNemar's exact test, two-sided: the probability that chance makes changes at least this uneven (Q. McNemar
 * 1947, Psychometrika 12:153–157). The smaller count is binomial with probability one half; 1 if nothing
 * changed.
 */
export function toMcNemarP(newly: number, noLonger: number): number {
  const [changes, fewer] = [newly + noLonger, Math.min(newly, noLonger)]
  if (newly === noLonger) return 1
  // Scaled by the last term, which is the largest: with many changes, the first ones would be 0.
  let [term, sum] = [1, 1]
  for (let count = fewer; count > 0 && term > sum * Number.EPSILON; count -= 1) {
    term *= count / (changes - count + 1)
    sum += term
  }
  return Math.min(1, 2 * sum * Math.exp(toLogHalfBinomial(changes, fewer)))
}

/** The logarithm of the binomial probability of `count` among `trials`, with probability one half each. */
function toLogHalfBinomial(trials: number, count: number): number {
  return toLogFactorial(trials) - toLogFactorial(count) - toLogFactorial(trials - count) - trials * Math.LN2
}

/** Stirling's series from 20 on, exact to the last digits (Abramowitz and Stegun 6.1.41). */
function toLogFactorial(n: number): number {
  if (n < 20) return Math.log(Array.from({ length: n }, (_, index) => index + 1).reduce((a, b) => a * b, 1))
  const series = 1 / (12 * n) - 1 / (360 * n ** 3) + 1 / (1260 * n ** 5) - 1 / (1680 * n ** 7)
  return n * Math.log(n) - n + Math.log(2 * Math.PI * n) / 2 + series
}

/** A labelled row for one rule: whether it should trigger the rule, and whether it did in each run. */
export interface PairedDecision {
  isExpected: boolean
  inA: boolean
  inB: boolean
}

/** Labelled rows of a stratum, by {@link toPairedCell}; `population` is null if they stand for themselves. */
export interface PairedTally {
  population: number | null
  cells: readonly number[]
}

/** Cells of a {@link PairedTally}. */
export const PAIRED_CELLS = 8

/** Bits of a cell: whether the rule was triggered in A, in B, and whether it should be. */
const [A, B, EXPECTED] = [2, 1, 4]

/** The cell of a row; 0 for a row that neither should trigger the rule nor did. */
export function toPairedCell({ isExpected, inA, inB }: PairedDecision): number {
  return (isExpected ? EXPECTED : 0) + (inA ? A : 0) + (inB ? B : 0)
}

/**
 * Compares how right a rule was in two runs on the same rows. The interval of each change is made of those of
 * both runs and of how alike their decisions are (G. Y. Zou and A. Donner 2008, Statistics in Medicine
 * 27:1693–1702; for recall, method 10 of R. G. Newcombe 1998, Statistics in Medicine 17:2635–2650). It stays
 * honest for a few rows, where percentiles of a bootstrap shrink to a point.
 */
export function judgePairedRule(strata: readonly PairedTally[]): ChangeOfMetrics {
  const used = strata.filter(({ cells }) => sum(cells) > 0)
  const rightOnly = { a: 0, b: 0 }
  for (const { cells } of used) {
    // Expected: right if triggered. Not expected: right if not triggered.
    rightOnly.a += (cells[6] ?? 0) + (cells[1] ?? 0)
    rightOnly.b += (cells[5] ?? 0) + (cells[2] ?? 0)
  }
  const [a, b] = [judgeRule(toTallies(used, A)), judgeRule(toTallies(used, B))]
  const toChange = (name: keyof typeof RATIOS) =>
    subtract(b[name], a[name], toCorrelation(used, RATIOS[name]))
  return {
    a,
    b,
    change: { precision: toChange('precision'), recall: toChange('recall'), f1: toChange('f1') },
    right_only_in_a: rightOnly.a,
    right_only_in_b: rightOnly.b,
    p: toMcNemarP(rightOnly.b, rightOnly.a),
  }
}

/** 1 if a cell has a bit, else 0. */
function has(cell: number, bit: number): number {
  return (cell & bit) > 0 ? 1 : 0
}

/** What a row of a cell adds to both totals whose ratio a metric is, in the run with a bit. */
type Ratio = (cell: number, bit: number) => [part: number, whole: number]

const RATIOS = {
  precision: (cell, bit) => [has(cell, EXPECTED) * has(cell, bit), has(cell, bit)],
  recall: (cell, bit) => [has(cell, EXPECTED) * has(cell, bit), has(cell, EXPECTED)],
  f1: (cell, bit) => [2 * has(cell, EXPECTED) * has(cell, bit), has(cell, bit) + has(cell, EXPECTED)],
} satisfies Record<string, Ratio>

/** B minus A, with its interval; null if a run has no rows to compute it from. */
function subtract(b: Metric, a: Metric, correlation: number): Metric {
  if (a.value === null || b.value === null) return { value: null, low: null, high: null }
  const value = b.value - a.value
  const [aLow, aHigh, bLow, bHigh] = [a.low ?? 0, a.high ?? 1, b.low ?? 0, b.high ?? 1]
  const combine = (ofB: number, ofA: number) =>
    Math.sqrt(Math.max(0, ofB ** 2 + ofA ** 2 - 2 * correlation * ofB * ofA))
  return {
    value,
    low: Math.max(-1, value - combine(b.value - bLow, aHigh - a.value)),
    high: Math.min(1, value + combine(bHigh - b.value, a.value - aLow)),
  }
}

/**
 * The correlation of a metric's estimates in A and B, by Taylor linearization. Half a row is added to each
 * cell in which the runs differ: that they differ in no row of a sample does not mean that they never would.
 */
function toCorrelation(strata: readonly PairedTally[], ratio: Ratio): number {
  const isWeighted = strata.some(({ population }) => population !== null)
  const parts = strata.map(({ population, cells }) => {
    const weight = toWeight({ rows: sum(cells), population })
    // The rows of a sample are known; strata without one stand for themselves.
    const unknown = isWeighted ? Math.max(0, 1 - 1 / weight) : 1
    const filled = Array.from({ length: PAIRED_CELLS }, (_, cell) => {
      return (cells[cell] ?? 0) + (has(cell, A) === has(cell, B) ? 0 : 0.5)
    })
    return { weight, spread: weight ** 2 * unknown, cells: filled }
  })
  const toResidual = (bit: number) => {
    const add = (at: 0 | 1) =>
      sum(parts.map(({ weight, cells }) => weight * total(cells, (cell) => ratio(cell, bit)[at])))
    const value = add(0) / add(1)
    return (cell: number) => {
      const [part, whole] = ratio(cell, bit)
      return part - value * whole
    }
  }
  const [ofA, ofB] = [toResidual(A), toResidual(B)]
  const vary = (one: (cell: number) => number, other: (cell: number) => number) =>
    sum(
      parts.map(({ spread, cells }) => {
        const means = (total(cells, one) * total(cells, other)) / sum(cells)
        return spread * (total(cells, (cell) => one(cell) * other(cell)) - means)
      }),
    )
  const variances = vary(ofA, ofA) * vary(ofB, ofB)
  return variances > 0 ? vary(ofA, ofB) / Math.sqrt(variances) : 0
}

/** The tallies of the run with a bit. */
function toTallies(strata: readonly PairedTally[], bit: number) {
  return strata.map(({ population, cells }) => ({
    rows: sum(cells),
    population,
    truePositives: total(cells, (cell) => has(cell, EXPECTED) * has(cell, bit)),
    falsePositives: total(cells, (cell) => (1 - has(cell, EXPECTED)) * has(cell, bit)),
    falseNegatives: total(cells, (cell) => has(cell, EXPECTED) * (1 - has(cell, bit))),
  }))
}

/** The sum over rows of what a row of each cell has. */
function total(cells: readonly number[], read: (cell: number) => number): number {
  return sum(cells.map((rows, cell) => rows * read(cell)))
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((added, number) => added + number, 0)
}
