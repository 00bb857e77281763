import type { ThresholdPoint } from './evaluation.ts'

/** Scores of one class, with whether each row should have been found; 8 bytes a row. */
export class ScoreTally {
  /** For each stratum the scores of rows that should be found, and of those that should not. */
  readonly #strata: { positives: Scores; negatives: Scores }[] = []

  add(stratum: number, score: number, isPositive: boolean): void {
    while (this.#strata.length <= stratum)
      this.#strata.push({ positives: new Scores(), negatives: new Scores() })
    const scores = this.#strata[stratum]
    if (isPositive) scores?.positives.add(score)
    else scores?.negatives.add(score)
  }

  /** The curve of all thresholds; `weights` says how many rows a row of each stratum counts for. */
  toCurve(weights: readonly number[]): ScoreCurve {
    const lanes = this.#strata.flatMap(({ positives, negatives }, stratum) => {
      const weight = weights[stratum] ?? 1
      return [
        { scores: positives.toSorted(), positives: weight, negatives: 0 },
        { scores: negatives.toSorted(), positives: 0, negatives: weight },
      ]
    })
    return walk(lanes.map((lane) => ({ ...lane, at: lane.scores.length - 1 })))
  }
}

/** Numbers that are added one by one. */
class Scores {
  #values = new Float64Array(64)
  #length = 0

  add(score: number): void {
    if (this.#length === this.#values.length) {
      const longer = new Float64Array(this.#length * 2)
      longer.set(this.#values)
      this.#values = longer
    }
    this.#values[this.#length] = score
    this.#length += 1
  }

  toSorted(): Float64Array {
    return this.#values.slice(0, this.#length).sort()
  }
}

/**
 * What each threshold would find, from the highest score down: how many of the rows with at least that score should be
 * found, and how many should not.
 */
export interface ScoreCurve {
  thresholds: readonly number[]
  truePositives: readonly number[]
  falsePositives: readonly number[]
  positives: number
  negatives: number
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
 * Average precision: the precision at each threshold, weighted by how much recall it adds, as scikit-learn's
 * `average_precision_score` has it. Null where no row should be found.
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
 * The area under the ROC curve: how likely a row that should be found has a higher score than one that should not, ties
 * counting half. Null where there are no rows of one kind.
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

/** The matrix that any threshold would give: rows with at least this score are found. */
export function toPointAt(curve: ScoreCurve, threshold: number): ThresholdPoint {
  let [from, to] = [0, curve.thresholds.length]
  while (from < to) {
    const middle = (from + to) >> 1
    if ((curve.thresholds[middle] ?? 0) >= threshold) from = middle + 1
    else to = middle
  }
  return toPoint(curve, from - 1, threshold)
}

/** The threshold with the best F1, the highest of several; null where no row should be found. */
export function findBestF1(curve: ScoreCurve): ThresholdPoint | null {
  if (curve.positives === 0) return null
  let [best, bestF1] = [0, -1]
  for (let index = 0; index < curve.thresholds.length; index += 1) {
    const f1 = toF1(curve, index)
    if (f1 > bestF1) [best, bestF1] = [index, f1]
  }
  return toPoint(curve, best)
}

/** The lowest threshold whose precision is at least this, which finds the most; null where there is none. */
export function findForPrecision(curve: ScoreCurve, precision: number): ThresholdPoint | null {
  for (let index = curve.thresholds.length - 1; index >= 0; index -= 1) {
    const found = curve.truePositives[index] ?? 0
    if (found > 0 && found / (found + (curve.falsePositives[index] ?? 0)) >= precision)
      return toPoint(curve, index)
  }
  return null
}

/** Points of the curve, all or evenly picked, ascending by threshold. */
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

/** The point that `index` of the curve stands for; -1 is above every score, where nothing is found. */
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
