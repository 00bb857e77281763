import {
  type Cell,
  type CellChoice,
  type Evaluation,
  LISTED_MAX,
} from '../../../shared/lookback/evaluation.ts'
import type { LabelledRow } from '../../../shared/lookback/evaluator.ts'
import { type Labels, toComparable } from '../../../shared/lookback/labels.ts'
import { SluiceError } from '../../../shared/messages/errors.ts'
import type { AnsweredRow } from './answered-rows.ts'

/** The first rows of the cells that were asked for. */
export class CellLists {
  readonly choices: readonly { cell: Cell; target: number | null }[]
  readonly lists: Evaluation['listed']

  constructor(asked: readonly CellChoice[], labels: Labels) {
    this.choices = asked.map(({ cell, rule }) => ({
      cell,
      target: rule === null ? null : findTarget(rule, labels),
    }))
    this.lists = this.choices.map(({ cell, target }) => ({
      cell,
      rule: target === null ? null : (labels.targets[target]?.rule ?? ''),
      total: 0,
      rows: [],
    }))
  }

  add(
    { row, cells, ruleIds }: AnsweredRow,
    judged: Pick<LabelledRow, 'expected' | 'triggered'>,
    label: string,
    rules: ReadonlyMap<string, string>,
  ): void {
    for (const [index, { cell, target }] of this.choices.entries()) {
      const list = this.lists[index]
      if (list === undefined || toCell(judged, target) !== cell) continue
      list.total += 1
      if (list.rows.length >= LISTED_MAX) continue
      const triggered = ruleIds.map((ruleId) => rules.get(ruleId) ?? ruleId)
      list.rows.push({ row, label, triggered_rules: triggered, cells })
    }
  }
}

function findTarget(rule: string, labels: Labels): number {
  const wanted = toComparable(rule)
  const at = labels.targets.findIndex((target) =>
    [target.rule, ...target.ruleIds].some((name) => toComparable(name) === wanted),
  )
  if (at !== -1) return at
  throw new SluiceError({
    id: 'cell_of_unknown_rule',
    rule,
    rules: labels.targets.map((target) => target.rule),
  })
}

/** The cell of the matrix of a target, or of any of them, that a row is in. */
export function toCell(
  { expected, triggered }: Pick<LabelledRow, 'expected' | 'triggered'>,
  target: number | null,
): Cell {
  const isExpected = target === null ? expected.length > 0 : expected.includes(target)
  const isTriggered = target === null ? triggered.length > 0 : triggered.includes(target)
  if (isTriggered) return isExpected ? 'tp' : 'fp'
  return isExpected ? 'fn' : 'tn'
}
