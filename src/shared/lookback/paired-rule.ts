import { randomBinomial } from 'd3-random'
import type { ChangeOfMetrics } from './comparison.ts'
import type { Metric } from './evaluation.ts'
import { judgeRule, toWeight } from './rule-metrics.ts'
import { createRandom } from './seeded-random.ts'

/** Confidence of the intervals. */
const CONFIDENCE = 0.95

/** Bootstrap replicates for an interval. */
const REPLICATES = 1_000

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

/**
 * Labelled rows of one stratum, by {@link toPairedCell}; `population` is null if they stand for themselves.
 */
export interface PairedTally {
  population: number | null
  cells: readonly number[]
}

/** Cells of a {@link PairedTally}. */
export const PAIRED_CELLS = 8

/** The cell of a row; 0 for a row that neither should trigger the rule nor did. */
export function toPairedCell({ isExpected, inA, inB }: PairedDecision): number {
  return (isExpected ? 4 : 0) + (inA ? 2 : 0) + (inB ? 1 : 0)
}

/**
 * Compares how right a rule was in two runs on the same rows. The interval of each change comes from the
 * percentiles of a bootstrap that redraws rows with both decisions together, stratum by stratum.
 */
export function judgePairedRule(strata: readonly PairedTally[], seed: number): ChangeOfMetrics {
  const used = strata.filter(({ cells }) => sum(cells) > 0)
  const parts = used.map(({ population, cells }) => ({
    weight: toWeight({ rows: sum(cells), population }),
    cells,
  }))
  const rightOnly = { a: 0, b: 0 }
  for (const { cells } of used) {
    // Expected: right if triggered. Not expected: right if not triggered.
    rightOnly.a += (cells[6] ?? 0) + (cells[1] ?? 0)
    rightOnly.b += (cells[5] ?? 0) + (cells[2] ?? 0)
  }
  const values: Record<'precision' | 'recall' | 'f1', number[]> = { precision: [], recall: [], f1: [] }
  const draw = randomBinomial.source(createRandom(seed))
  for (let replicate = 0; replicate < REPLICATES; replicate += 1) {
    const change = toChange(used.map((tally) => drawAgain(tally, draw)))
    for (const name of METRICS) if (change[name] !== null) values[name].push(change[name])
  }
  const change = toChange(parts)
  const toMetric = (name: (typeof METRICS)[number]): Metric => {
    const drawn = values[name].sort((a, b) => a - b)
    if (change[name] === null || drawn.length === 0) return { value: change[name], low: null, high: null }
    const tail = (1 - CONFIDENCE) / 2
    return { value: change[name], low: toQuantile(drawn, tail), high: toQuantile(drawn, 1 - tail) }
  }
  return {
    a: judgeRule(toTallies(used, 2)),
    b: judgeRule(toTallies(used, 1)),
    change: { precision: toMetric('precision'), recall: toMetric('recall'), f1: toMetric('f1') },
    right_only_in_a: rightOnly.a,
    right_only_in_b: rightOnly.b,
    p: toMcNemarP(rightOnly.b, rightOnly.a),
  }
}

const METRICS = ['precision', 'recall', 'f1'] as const

/** The tallies of one run: `bit` is 2 for A and 1 for B. */
function toTallies(strata: readonly PairedTally[], bit: 1 | 2) {
  return strata.map(({ population, cells }) => ({
    rows: sum(cells),
    population,
    truePositives: countCells(cells, (cell) => cell >= 4 && (cell & bit) > 0),
    falsePositives: countCells(cells, (cell) => cell < 4 && (cell & bit) > 0),
    falseNegatives: countCells(cells, (cell) => cell >= 4 && (cell & bit) === 0),
  }))
}

function countCells(cells: readonly number[], isWanted: (cell: number) => boolean): number {
  return cells.reduce((total, rows, cell) => (isWanted(cell) ? total + rows : total), 0)
}

type Binomial = (trials: number, share: number) => () => number

/**
 * Redraws as many rows as there are. If they are a sample of a stratum: one row fewer, with each counting
 * only as far as the stratum is unknown (J. N. K. Rao and C. F. J. Wu 1988, JASA 83:231–241).
 */
function drawAgain({ population, cells }: PairedTally, draw: Binomial): WeightedCells {
  const rows = sum(cells)
  const size = population === null ? rows : Math.max(1, rows - 1)
  const drawn: number[] = []
  let [left, rest] = [size, rows]
  // Draws from a multinomial cell by cell, each from what is left.
  for (let cell = cells.length - 1; cell >= 0; cell -= 1) {
    const own = cells[cell] ?? 0
    const taken = left === 0 || own === 0 ? 0 : own === rest ? left : draw(left, own / rest)()
    drawn[cell] = taken
    left -= taken
    rest -= own
  }
  const weight = toWeight({ rows, population })
  if (population === null) return { weight, cells: drawn }
  const part = Math.sqrt(Math.max(0, 1 - rows / population))
  return {
    weight,
    cells: cells.map((kept, cell) => (1 - part) * kept + (part * (drawn[cell] ?? 0) * rows) / size),
  }
}

interface WeightedCells {
  weight: number
  cells: readonly number[]
}

/** B minus A; null if a run has no rows to compute it from. */
function toChange(parts: readonly WeightedCells[]): Record<(typeof METRICS)[number], number | null> {
  const count = (isWanted: (cell: number) => boolean) =>
    parts.reduce((total, { weight, cells }) => total + weight * countCells(cells, isWanted), 0)
  const expected = count((cell) => cell >= 4)
  const [a, b] = ([2, 1] as const).map((bit) => {
    const triggered = count((cell) => (cell & bit) > 0)
    const found = count((cell) => cell >= 4 && (cell & bit) > 0)
    return {
      precision: triggered === 0 ? null : found / triggered,
      recall: expected === 0 ? null : found / expected,
      f1: triggered + expected === 0 ? null : (2 * found) / (triggered + expected),
    }
  })
  const subtract = (name: (typeof METRICS)[number]) =>
    a?.[name] == null || b?.[name] == null ? null : b[name] - a[name]
  return { precision: subtract('precision'), recall: subtract('recall'), f1: subtract('f1') }
}

/** A quantile of ascending values, interpolated linearly like numpy's default. */
function toQuantile(values: readonly number[], probability: number): number {
  const at = (values.length - 1) * probability
  const [low, high] = [values[Math.floor(at)] ?? 0, values[Math.ceil(at)] ?? 0]
  return low + (high - low) * (at - Math.floor(at))
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
