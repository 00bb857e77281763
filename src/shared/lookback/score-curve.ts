import { releaseMemory } from '../release-memory.ts'
import type { ScoreBar, ScoreCurve, ThresholdPoint } from './evaluation.ts'

/** Scores of one class, with whether each row should have been found; 8 bytes a row. */
export class ScoreTally {
  /** For each stratum, the scores of rows that should be found, and of those that should not. */
  readonly #strata: { positives: Scores; negatives: Scores }[] = []

  add(stratum: number, score: number, isPositive: boolean): void {
    while (this.#strata.length <= stratum)
      this.#strata.push({ positives: new Scores(), negatives: new Scores() })
    const scores = this.#strata[stratum]
    if (isPositive) scores?.positives.add(score)
    else scores?.negatives.add(score)
  }

  /** The curve of all thresholds; `weights`: for how many rows a stratum's row counts. Consumes the tally. */
  toCurve(weights: readonly number[]): ScoreCurve {
    const lanes = this.#strata.flatMap(({ positives, negatives }, stratum) => {
      const weight = weights[stratum] ?? 1
      return [
        { scores: positives.sort(), positives: weight, negatives: 0 },
        { scores: negatives.sort(), positives: 0, negatives: weight },
      ]
    })
    const curve = walk(lanes.map((lane) => ({ ...lane, at: lane.scores.length - 1 })))
    releaseMemory(...lanes.map(({ scores }) => scores))
    return curve
  }
}

/** Numbers that are added one by one. */
class Scores {
  #values = new Float64Array(64)
  #length = 0

  add(score: number): void {
    if (this.#length === this.#values.length) {
      this.#values = new Float64Array(this.#values.buffer.transfer(this.#values.byteLength * 2))
    }
    this.#values[this.#length] = score
    this.#length += 1
  }

  /** All numbers, ascending; valid until another is added. */
  sort(): Float64Array<ArrayBuffer> {
    return this.#values.subarray(0, this.#length).sort()
  }
}

/** Walks all lanes from their highest score down, one distinct score at a time. */
function walk(
  lanes: { scores: Float64Array; positives: number; negatives: number; at: number }[],
): ScoreCurve {
  const thresholds: number[] = []
  const truePositives: number[] = []
  const falsePositives: number[] = []
  let [found, extra] = [0, 0]
  for (;;) {
    let score = Number.NEGATIVE_INFINITY
    let isAtEnd = true
    for (const { scores, at } of lanes) {
      if (at < 0) continue
      isAtEnd = false
      score = Math.max(score, scores[at] ?? score)
    }
    if (isAtEnd) break
    for (const lane of lanes) {
      const first = lane.at
      while (lane.at >= 0 && lane.scores[lane.at] === score) lane.at -= 1
      found += (first - lane.at) * lane.positives
      extra += (first - lane.at) * lane.negatives
    }
    thresholds.push(score)
    truePositives.push(found)
    falsePositives.push(extra)
  }
  return { thresholds, truePositives, falsePositives, positives: found, negatives: extra }
}

/**
 * Average precision: the precision at each threshold, weighted by the recall that it adds, like
 * scikit-learn's `average_precision_score`. Null if no row should be found.
 */
export function toAveragePrecision({ truePositives, falsePositives, positives }: ScoreCurve): number | null {
  if (positives === 0) return null
  let [sum, before] = [0, 0]
  for (const [index, found] of truePositives.entries()) {
    sum += ((found - before) / positives) * (found / (found + (falsePositives[index] ?? 0)))
    before = found
  }
  return sum
}

/**
 * The area under the ROC curve: the probability that a row that should be found has a higher score than one
 * that should not; ties count half. Null if there are no rows of one kind.
 */
export function toRocAuc(curve: ScoreCurve): number | null {
  const { truePositives, falsePositives, positives, negatives } = curve
  if (positives === 0 || negatives === 0) return null
  let [area, foundBefore, extraBefore] = [0, 0, 0]
  for (const [index, found] of truePositives.entries()) {
    const extra = falsePositives[index] ?? 0
    area += ((extra - extraBefore) * (found + foundBefore)) / 2
    foundBefore = found
    extraBefore = extra
  }
  return area / (positives * negatives)
}

/** The matrix for any threshold: rows with at least this score count as found. */
export function toPointAt(curve: ScoreCurve, threshold: number): ThresholdPoint {
  let [from, to] = [0, curve.thresholds.length]
  while (from < to) {
    const middle = (from + to) >> 1
    if ((curve.thresholds[middle] ?? 0) >= threshold) from = middle + 1
    else to = middle
  }
  return toPoint(curve, from - 1, threshold)
}

/** The threshold with the best F1, the highest if several; null if no row should be found. */
export function findBestF1(curve: ScoreCurve): ThresholdPoint | null {
  return curve.positives === 0 ? null : toPoint(curve, findBestIndex(curve))
}

function findBestIndex(curve: ScoreCurve): number {
  let [best, bestF1] = [0, -1]
  for (let index = 0; index < curve.thresholds.length; index += 1) {
    const f1 = toF1(curve, index)
    if (f1 > bestF1) [best, bestF1] = [index, f1]
  }
  return best
}

/** Whether a threshold finds every row with a score, so that it separates nothing. */
export function findsAll({ false_negatives: missed, true_negatives: left }: ThresholdPoint): boolean {
  return missed === 0 && left === 0
}

/** The lowest threshold with at least this precision, which finds the most; null if there is none. */
export function findForPrecision(curve: ScoreCurve, precision: number): ThresholdPoint | null {
  for (let index = curve.thresholds.length - 1; index >= 0; index -= 1) {
    const found = curve.truePositives[index] ?? 0
    if (found > 0 && found / (found + (curve.falsePositives[index] ?? 0)) >= precision)
      return toPoint(curve, index)
  }
  return null
}

/** The whole percents of precision, from 1 to 100. */
const PERCENTS = 100

/**
 * The same curve with about `most` thresholds for a person to choose from, evenly spaced in rows and in
 * scores. It includes those of the best F1 and of each whole percent of precision, so that both are answered
 * as by the whole curve. The result of each threshold is exact.
 */
export function thinCurve(curve: ScoreCurve, most: number): ScoreCurve {
  const { thresholds, truePositives, falsePositives, positives, negatives } = curve
  const { length } = thresholds
  if (length <= most) return curve
  const kept = new Set([0, length - 1, findBestIndex(curve), ...listPrecisionIndexes(curve)])
  const [highest, lowest] = [thresholds[0] ?? 0, thresholds[length - 1] ?? 0]
  const half = Math.max(2, Math.floor(most / 2))
  let at = 0
  for (let step = 0; step < half; step += 1) {
    kept.add(Math.round((step * (length - 1)) / (half - 1)))
    const score = highest - ((highest - lowest) * step) / (half - 1)
    while (at < length - 1 && (thresholds[at] ?? 0) > score) at += 1
    kept.add(at)
  }
  const indexes = [...kept].filter((index) => index >= 0).sort((a, b) => a - b)
  const pick = (values: readonly number[]) => indexes.map((index) => values[index] ?? 0)
  return {
    thresholds: pick(thresholds),
    truePositives: pick(truePositives),
    falsePositives: pick(falsePositives),
    positives,
    negatives,
  }
}

/** The lowest thresholds that reach each whole percent of precision, as indexes. */
function listPrecisionIndexes({ thresholds, truePositives, falsePositives }: ScoreCurve): number[] {
  const indexes: number[] = []
  let percent = 1
  for (let index = thresholds.length - 1; index >= 0 && percent <= PERCENTS; index -= 1) {
    const found = truePositives[index] ?? 0
    const precision = found === 0 ? 0 : found / (found + (falsePositives[index] ?? 0))
    if (precision >= percent / PERCENTS) indexes.push(index)
    while (percent <= PERCENTS && precision >= percent / PERCENTS) percent += 1
  }
  return indexes
}

/** The distribution of scores, ascending: a bar per score if there are at most `most`, else equal widths. */
export function toScoreBars(curve: ScoreCurve, most: number): ScoreBar[] {
  const { thresholds, truePositives, falsePositives } = curve
  const { length } = thresholds
  const [highest, lowest] = [thresholds[0] ?? 0, thresholds[length - 1] ?? 0]
  const isEach = length <= most
  const width = (highest - lowest) / most
  const bars: ScoreBar[] = isEach
    ? thresholds.toReversed().map((score) => ({ from: score, to: score, positives: 0, negatives: 0 }))
    : Array.from({ length: most }, (_, bar) => ({
        from: lowest + bar * width,
        to: bar === most - 1 ? highest : lowest + (bar + 1) * width,
        positives: 0,
        negatives: 0,
      }))
  for (const [index, score] of thresholds.entries()) {
    const place = isEach ? length - 1 - index : Math.min(most - 1, Math.floor((score - lowest) / width))
    const bar = bars[place]
    if (bar === undefined) continue
    bar.positives += (truePositives[index] ?? 0) - (truePositives[index - 1] ?? 0)
    bar.negatives += (falsePositives[index] ?? 0) - (falsePositives[index - 1] ?? 0)
  }
  return bars
}

/** Points of the curve, all or evenly chosen, ascending by threshold. */
export function listPoints(curve: ScoreCurve, most: number): ThresholdPoint[] {
  const { length } = curve.thresholds
  const count = Math.min(length, most)
  const step = count < 2 ? 0 : (length - 1) / (count - 1)
  return Array.from({ length: count }, (_, index) => toPoint(curve, length - 1 - Math.round(index * step)))
}

function toF1({ truePositives, falsePositives, positives }: ScoreCurve, index: number): number {
  const found = truePositives[index] ?? 0
  return (2 * found) / (found + (falsePositives[index] ?? 0) + positives)
}

/** The point at `index` of the curve; -1 is above every score, where nothing is found. */
function toPoint(
  curve: ScoreCurve,
  index: number,
  threshold: number = curve.thresholds[index] ?? 0,
): ThresholdPoint {
  const { truePositives, falsePositives, positives, negatives } = curve
  const [found, extra] = [truePositives[index] ?? 0, falsePositives[index] ?? 0]
  const share = (part: number, all: number) => (all === 0 ? null : part / all)
  return {
    threshold,
    true_positives: found,
    false_positives: extra,
    false_negatives: positives - found,
    true_negatives: negatives - extra,
    precision: share(found, found + extra),
    recall: share(found, positives),
    f1: share(2 * found, found + extra + positives),
  }
}
