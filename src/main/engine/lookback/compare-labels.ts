import type { CompareOptions, DecisionComparison } from '../../../shared/lookback/comparison.ts'
import { sayUnread } from '../../../shared/lookback/evaluation-view.ts'
import { Labels } from '../../../shared/lookback/labels.ts'
import {
  judgePairedRule,
  PAIRED_CELLS,
  type PairedTally,
  toPairedCell,
} from '../../../shared/lookback/paired-rule.ts'
import { SluiceError } from '../../../shared/messages/errors.ts'
import type { RunFamily } from '../journal/run-family.ts'
import { readVerdicts } from '../run/journal/verdict-store.ts'
import { type AnsweredStep, readAnsweredSteps } from './answered-rows.ts'
import {
  createRowJudge,
  LabelledRows,
  listUnusedLabels,
  noticeLabels,
  refuseNoTargets,
  sayNoNegatives,
} from './evaluate-run.ts'
import type { PairedRows } from './paired-rows.ts'
import { countUnread, createLabelReader, createVerdictFinder, isEmptyLabel, NO_LABEL } from './row-labels.ts'
import type { Standing } from './standings.ts'

/** Represents all targets together. */
const OVERALL = -1

function noticeAll(steps: Iterator<number>): void {
  while (steps.next().done !== true);
}

/**
 * Compares the rules of two runs with labels, on the rows that both decided. Labels are those of B; a row
 * without one gets the verdicts on its row of A. Throws as an evaluation does.
 */
export async function compareByLabels(
  a: RunFamily,
  b: RunFamily,
  { rules, kinds, kindOf, partnerOf }: PairedRows,
  options: NonNullable<CompareOptions['labels']>,
): Promise<{ figures: NonNullable<DecisionComparison['labels']>; warnings: string[] }> {
  const names = new Map(rules.flatMap(({ rule, ruleIds }) => ruleIds.map((id) => [id, rule] as const)))
  const reader = await createLabelReader(b, options)
  const findVerdict = options.useVerdicts ? createVerdictFinder(readVerdicts(a)) : () => undefined
  const labels = new Labels(names, options)
  if (options.positives.length === 0) {
    noticeAll(noticeLabels(b, reader, labels))
    const open = (step: AnsweredStep) => (place: number) => findVerdict(step.rowAt(place)) ?? NO_LABEL
    if (options.useVerdicts) noticeAll(noticeLabels(a, { columns: [], open }, labels))
  }
  const judge = createRowJudge(labels)
  const idsOf = ({ rules: numbers }: Standing) =>
    numbers.flatMap((number) => rules[number]?.ruleIds.slice(0, 1) ?? [])
  const tally = new PairedTallies()
  const rows = { rows: 0, without_label: 0, unsure: 0, conflicting_label: 0 }
  let verdictRows = 0
  const ofLabels = new LabelledRows(labels)
  for (const step of readAnsweredSteps(b, reader)) {
    const labelAt = reader.open(step)
    for (let place = 0; place < step.width; place += 1) {
      const row = step.rowAt(place)
      // Read for each row, so that no label counts as one without a row.
      const own = labelAt(place)
      const kind = kinds[(kindOf[row] ?? 0) - 1]
      if (kind?.isDecided !== true) continue
      const [inA, inB] = [idsOf(kind.a), idsOf(kind.b)]
      const ofA = isEmptyLabel(own.label) ? findVerdict(partnerOf[row] ?? 0) : undefined
      const { label } = ofA ?? own
      if (label.kind === 'none') {
        rows.without_label += 1
        countUnread(label)
      } else if (label.kind === 'unsure') rows.unsure += 1
      else if (label.kind === 'conflict') rows.conflicting_label += 1
      else {
        rows.rows += 1
        // An agreeing verdict confirms what that run triggered.
        const { expected } = judge(ofA === undefined ? inB : inA, label)
        if (label.kind === 'text') ofLabels.count(label.text, expected, 1)
        else verdictRows += 1
        const [triggeredA, triggeredB] = [inA, inB].map((ruleIds) => judge(ruleIds, label).triggered)
        tally.add(own.stratum, expected, triggeredA ?? [], triggeredB ?? [])
      }
    }
  }

  if (rows.rows === 0) {
    throw new SluiceError({ id: 'comparison_without_labels' })
  }
  refuseNoTargets(labels, names, options.positives, verdictRows > 0)
  const { populations } = reader.strata
  return {
    figures: {
      ...rows,
      overall: judgePairedRule(tally.list(OVERALL, populations)),
      rules: labels.targets.map(({ rule, ruleIds }, target) => ({
        rule,
        rule_ids: ruleIds,
        ...judgePairedRule(tally.list(target, populations)),
      })),
    },
    warnings: [
      ...sayNoNegatives(ofLabels, rows.without_label, options),
      ...reader.listNotes(),
      ...listUnusedLabels(labels, options.positives),
      ...sayUnread({ labels: { unread: labels.listUnread() } }),
    ],
  }
}

/** Rows by stratum, and by target and cell. Most trigger nothing and should not; these are not counted. */
class PairedTallies {
  readonly #rows: number[] = []
  readonly #cells = new Map<number, number[][]>()

  add(stratum: number, expected: readonly number[], inA: readonly number[], inB: readonly number[]): void {
    this.#rows[stratum] = (this.#rows[stratum] ?? 0) + 1
    if (expected.length + inA.length + inB.length === 0) return
    this.#count(OVERALL, stratum, [expected.length > 0, inA.length > 0, inB.length > 0])
    for (const target of new Set([...expected, ...inA, ...inB])) {
      this.#count(target, stratum, [expected.includes(target), inA.includes(target), inB.includes(target)])
    }
  }

  #count(target: number, stratum: number, [isExpected, inA, inB]: [boolean, boolean, boolean]): void {
    const strata = this.#cells.get(target) ?? []
    const cells = strata[stratum] ?? Array.from({ length: PAIRED_CELLS }, () => 0)
    const cell = toPairedCell({ isExpected, inA, inB })
    cells[cell] = (cells[cell] ?? 0) + 1
    strata[stratum] = cells
    this.#cells.set(target, strata)
  }

  list(target: number, populations: readonly (number | null)[]): PairedTally[] {
    const strata = this.#cells.get(target) ?? []
    return Array.from(this.#rows, (rows = 0, stratum) => {
      const cells = strata[stratum] ?? Array.from({ length: PAIRED_CELLS }, () => 0)
      const counted = cells.reduce((sum, own) => sum + own, 0)
      return { population: populations[stratum] ?? null, cells: cells.with(0, rows - counted) }
    })
  }
}
