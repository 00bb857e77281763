import {
  type Cell,
  type CellChoice,
  type Evaluation,
  LISTED_MAX,
} from '../../../shared/lookback/evaluation.ts'
import type { LabelledKind } from '../../../shared/lookback/evaluator.ts'
import { type Labels, toComparable } from '../../../shared/lookback/labels.ts'
import { SluiceError } from '../../../shared/messages/errors.ts'
import type { RowAndRecord } from '../../../shared/plan/source-place.ts'
import { toLonger } from '../run/results/row-search.ts'
import type { AnsweredStep } from './answered-rows.ts'

/** The first rows of the requested cells. */
export class CellLists {
  readonly choices: readonly { cell: Cell; target: number | null }[]
  readonly lists: Evaluation['listed']
  readonly #toNumbers: (record: number) => RowAndRecord

  constructor(asked: readonly CellChoice[], labels: Labels, toNumbers: (record: number) => RowAndRecord) {
    this.#toNumbers = toNumbers
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

  /** Adds the rows of a step; `kindAt` gives the kind of each, null for one that is not evaluated. */
  add(
    step: AnsweredStep,
    kindAt: (place: number) => (CellOf & { text: string }) | null,
    rules: ReadonlyMap<string, string>,
  ): void {
    for (const [index, { cell, target }] of this.choices.entries()) {
      const list = this.lists[index]
      if (list === undefined) continue
      for (let place = 0; place < step.width; place += 1) {
        const kind = kindAt(place)
        if (kind === null || toCell(kind, target) !== cell) continue
        list.total += 1
        if (list.rows.length >= LISTED_MAX) continue
        const { cells } = step.wholeAt(place)
        const triggered = step.ruleIdsAt(place).map((ruleId) => rules.get(ruleId) ?? ruleId)
        const numbers = this.#toNumbers(step.rowAt(place))
        list.rows.push({ ...numbers, label: kind.text, triggered_rules: triggered, cells })
      }
    }
  }
}

/** What determines the cell of a row. */
type CellOf = Pick<LabelledKind, 'expected' | 'triggered'>

/** Initial room for rows; it doubles whenever it is full. */
const FIRST_ROOM = 1_024

/** The cells of the evaluated rows, 8 bytes a row: rows that are alike to every rule share a kind. */
export class EvaluatedCells {
  readonly #labels: Labels
  #rows = new Uint32Array(FIRST_ROOM)
  #kindOf = new Uint32Array(FIRST_ROOM)
  #length = 0
  readonly #kinds: CellOf[] = []
  readonly #numberOf = new Map<string, number>()

  constructor(labels: Labels) {
    this.#labels = labels
  }

  toNumber({ expected, triggered }: CellOf): number {
    const key = `${expected.join()}/${triggered.join()}`
    const number = this.#numberOf.get(key) ?? this.#kinds.push({ expected, triggered }) - 1
    this.#numberOf.set(key, number)
    return number
  }

  /** Adds a row with its {@link toNumber}. Rows come in ascending order. */
  add(row: number, kind: number): void {
    if (this.#length === this.#rows.length) {
      this.#rows = toLonger(this.#rows)
      this.#kindOf = toLonger(this.#kindOf)
    }
    this.#rows[this.#length] = row
    this.#kindOf[this.#length] = kind
    this.#length += 1
  }

  /** Row numbers in a cell of a rule, or of any rule, ascending. Throws `BAD_USAGE` for an unknown rule. */
  list({ cell, rule }: CellChoice): Uint32Array {
    const target = rule === null ? null : findTarget(rule, this.#labels)
    const isListed = this.#kinds.map((kind) => toCell(kind, target) === cell)
    return this.#rows.subarray(0, this.#length).filter((_row, at) => isListed[this.#kindOf[at] ?? 0] === true)
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

/** The cell of a row in the matrix of a target, or of all targets together. */
export function toCell({ expected, triggered }: CellOf, target: number | null): Cell {
  const isExpected = target === null ? expected.length > 0 : expected.includes(target)
  const isTriggered = target === null ? triggered.length > 0 : triggered.includes(target)
  if (isTriggered) return isExpected ? 'tp' : 'fp'
  return isExpected ? 'fn' : 'tn'
}
