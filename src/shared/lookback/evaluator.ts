import {
  CURVE_STEPS,
  type DrawnScore,
  type Evaluation,
  type Judged,
  type JudgedRule,
  type JudgedScore,
  POINTS_MAX,
  SCORE_BARS,
} from './evaluation.ts'
import type { Target } from './labels.ts'
import { averageRules, judgeRule, type Tally, toWeight } from './rule-metrics.ts'
import {
  findBestF1,
  findForPrecision,
  listPoints,
  ScoreTally,
  thinCurve,
  toAveragePrecision,
  toPointAt,
  toRocAuc,
  toScoreBars,
} from './score-curve.ts'

/** What a labelled row means for every rule; many rows have the same kind. */
export interface LabelledKind {
  /** Targets that it should trigger, by number. */
  expected: readonly number[]
  /** Targets that it triggered. */
  triggered: readonly number[]
  /** Its stratum, by number. */
  stratum: number
}

/** Scores of a class to compare with the labels of a target. */
export interface ScoredTarget {
  className: string
  target: number
}

/** What an evaluation needs beyond the matrices. */
export interface EvaluatorOptions {
  targets: readonly Target[]
  scored: readonly ScoredTarget[]
  /** Names of the sliced columns. */
  slices: readonly string[]
  /** Precisions to find a threshold for, shares from 0 to 1. */
  wantedPrecisions: readonly number[]
  /** Thresholds whose matrix is shown. */
  whatIf: readonly { className: string; threshold: number }[]
}

/** Most values of a sliced column that are judged separately, in order of appearance. */
export const SLICE_VALUES_MAX = 100

/** Sums up labelled rows, in constant memory except for their scores, and judges rules and scores. */
export class Evaluator {
  readonly #options: EvaluatorOptions
  readonly #all = new GroupTally()
  readonly #slices: { slotOf: Map<string, number>; groups: GroupTally[]; furtherRows: number }[]
  readonly #scores: { tally: ScoreTally; without: number; rows: number }[]

  constructor(options: EvaluatorOptions) {
    this.#options = options
    this.#slices = options.slices.map(() => ({ slotOf: new Map(), groups: [], furtherRows: 0 }))
    this.#scores = options.scored.map(() => ({ tally: new ScoreTally(), without: 0, rows: 0 }))
  }

  add(kind: LabelledKind, rows: number): void {
    this.#all.add(kind, rows)
  }

  /** The slot of a sliced column's value; {@link SLICE_VALUES_MAX} for values not judged separately. */
  toSlot(slice: number, value: string): number {
    const own = this.#slices[slice]
    const known = own?.slotOf.get(value)
    if (known !== undefined) return known
    if (own === undefined || own.groups.length >= SLICE_VALUES_MAX) return SLICE_VALUES_MAX
    const slot = own.groups.push(new GroupTally()) - 1
    own.slotOf.set(value, slot)
    return slot
  }

  /** Adds rows to a slot of a sliced column; they must have been added to the evaluator before. */
  addToSlot(slice: number, slot: number, kind: LabelledKind, rows: number): void {
    const own = this.#slices[slice]
    const group = own?.groups[slot]
    if (group !== undefined) group.add(kind, rows)
    else if (own !== undefined) own.furtherRows += rows
  }

  /** Adds the score of one row in a judged class, NaN if it has none. */
  addScore(index: number, score: number, stratum: number, isExpected: boolean): void {
    const judged = this.#scores[index]
    if (judged === undefined) return
    if (Number.isNaN(score)) judged.without += 1
    else {
      judged.rows += 1
      judged.tally.add(stratum, score, isExpected)
    }
  }

  /**
   * Judges everything that was added. `populations` gives the number of rows that each stratum stands for,
   * null for rows that stand for themselves.
   */
  judge(populations: readonly (number | null)[]): {
    judged: Pick<Evaluation, 'overall' | 'rules' | 'macro' | 'micro' | 'slices' | 'scores'>
    drawn: DrawnScore[]
  } {
    const { slices } = this.#options
    const all = this.#judgeGroup(this.#all, populations)
    const scores = this.#options.scored.map((scored, index) => this.#judgeScore(scored, index, populations))
    const judged = {
      ...all,
      ...averageRules(all.rules),
      slices: slices.map((column, index) => ({
        column,
        values: this.#listGroups(index)
          .map(({ value, group }) => ({
            value,
            rows: group.rows,
            ...this.#judgeGroup(group, this.#toShares(group, populations)),
          }))
          .sort((a, b) => b.rows - a.rows || (a.value < b.value ? -1 : 1)),
        further_rows: this.#slices[index]?.furtherRows ?? 0,
      })),
      scores: scores.map(({ score }) => score),
    }
    return { judged, drawn: scores.map(({ drawn }) => drawn) }
  }

  /** How many labelled rows each stratum has. */
  countLabelled(): readonly number[] {
    return this.#all.listRows()
  }

  #listGroups(slice: number): { value: string; group: GroupTally }[] {
    const { slotOf = [], groups = [] } = this.#slices[slice] ?? {}
    return [...slotOf].flatMap(([value, slot]) => {
      const group = groups[slot]
      return group === undefined ? [] : [{ value, group }]
    })
  }

  /** A slice is assumed to have the same share of a stratum as of the stratum's labelled rows. */
  #toShares(group: GroupTally, populations: readonly (number | null)[]): (number | null)[] {
    const labelled = this.#all.listRows()
    const own = group.listRows()
    return populations.map((population, stratum) =>
      population === null ? null : (population * (own[stratum] ?? 0)) / Math.max(1, labelled[stratum] ?? 0),
    )
  }

  #judgeGroup(
    group: GroupTally,
    populations: readonly (number | null)[],
  ): { overall: Judged; rules: JudgedRule[] } {
    const { targets } = this.#options
    return {
      overall: judgeRule(group.listTallies(OVERALL, populations)),
      rules: targets.map(({ rule, ruleIds }, target) => ({
        rule,
        rule_ids: ruleIds,
        ...judgeRule(group.listTallies(target, populations)),
      })),
    }
  }

  #judgeScore(
    { className, target }: ScoredTarget,
    index: number,
    populations: readonly (number | null)[],
  ): { score: JudgedScore; drawn: DrawnScore } {
    const { targets, wantedPrecisions, whatIf } = this.#options
    const { tally, without, rows } = this.#scores[index] ?? { tally: new ScoreTally(), without: 0, rows: 0 }
    const weights = this.#all
      .listTallies(OVERALL, populations)
      .map((stratum) => (stratum.rows === 0 ? 0 : toWeight(stratum)))
    const curve = tally.toCurve(weights)
    const name = { class: className, rule: targets[target]?.rule ?? '' }
    const score = {
      ...name,
      rows,
      without_score: without,
      average_precision: toAveragePrecision(curve),
      roc_auc: toRocAuc(curve),
      best_f1: findBestF1(curve),
      wanted: wantedPrecisions.map((precision) => ({ precision, point: findForPrecision(curve, precision) })),
      what_if: whatIf
        .filter((asked) => asked.className === className)
        .map(({ threshold }) => toPointAt(curve, threshold)),
      points: listPoints(curve, POINTS_MAX),
    }
    return {
      score,
      drawn: { ...name, curve: thinCurve(curve, CURVE_STEPS), bars: toScoreBars(curve, SCORE_BARS) },
    }
  }
}

/** Number of the target that stands for any target. */
const OVERALL = -1

type Counts = Pick<Tally, 'truePositives' | 'falsePositives' | 'falseNegatives'>

/** The tallies of all targets on some rows. Most rows trigger nothing, so true negatives are not counted. */
class GroupTally {
  rows = 0
  readonly #rows: number[] = []
  /** By target, then by stratum. */
  readonly #counts = new Map<number, Counts[]>()

  add({ expected, triggered, stratum }: LabelledKind, rows: number): void {
    this.rows += rows
    this.#rows[stratum] = (this.#rows[stratum] ?? 0) + rows
    if (expected.length === 0 && triggered.length === 0) return
    this.#count(OVERALL, stratum, rows, triggered.length > 0, expected.length > 0)
    for (const target of triggered) this.#count(target, stratum, rows, true, expected.includes(target))
    for (const target of expected) {
      if (!triggered.includes(target)) this.#count(target, stratum, rows, false, true)
    }
  }

  #count(target: number, stratum: number, rows: number, isTriggered: boolean, isExpected: boolean): void {
    const strata = this.#counts.get(target) ?? []
    const counts = strata[stratum] ?? { truePositives: 0, falsePositives: 0, falseNegatives: 0 }
    if (isTriggered && isExpected) counts.truePositives += rows
    else if (isTriggered) counts.falsePositives += rows
    else counts.falseNegatives += rows
    strata[stratum] = counts
    this.#counts.set(target, strata)
  }

  listRows(): readonly number[] {
    return Array.from(this.#rows, (rows) => rows ?? 0)
  }

  listTallies(target: number, populations: readonly (number | null)[]): Tally[] {
    const strata = this.#counts.get(target) ?? []
    return populations.map((population, stratum) => ({
      truePositives: 0,
      falsePositives: 0,
      falseNegatives: 0,
      ...strata[stratum],
      rows: this.#rows[stratum] ?? 0,
      population,
    }))
  }
}
