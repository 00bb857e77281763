import {
  isInShare,
  isMissing,
  NEGATIVES,
  parseList,
  parseShare,
  type Share,
  toNumber,
} from './label-values.ts'

/** A rule to be judged: one name, with all of its ids. */
export interface Target {
  rule: string
  ruleIds: string[]
}

/** Stands for at least one rule, no matter which; a rule of this name wins over that meaning. */
export const ANY_RULE = 'any rule'

/**
 * `--positive VALUE=RULE`: rows with this label value should trigger this rule, or {@link ANY_RULE}. A value
 * such as `>=0.5` stands for all numbers that meet it.
 */
export interface Positive {
  value: string
  rule: string
}

/** Label values and rules as compared: without case and outer white space. */
export function toComparable(text: string): string {
  return text.normalize('NFKC').trim().toLowerCase()
}

/** Label values as compared: like rules, and `1.0`, as data frames write it, equals `1`. */
export function toComparableValue(text: string): string {
  return toComparable(text).replace(/^([+-]?\d+)\.0*$/, '$1')
}

/** The rules of a run that a text means by id or name; null if there is none. */
export function findRule(text: string, rules: ReadonlyMap<string, string>): Target | null {
  const wanted = toComparable(text)
  const ids = [...rules].filter(([id, name]) => toComparable(name) === wanted || toComparable(id) === wanted)
  const [first] = ids
  return first === undefined ? null : { rule: first[1], ruleIds: ids.map(([id]) => id) }
}

/** Among label values, stands for numbers that meet no condition. */
const OTHER_NUMBERS = 'other numbers'

/** Most distinct cells whose parts are cached; further cells are split each time. */
const SPLIT_MAX = 10_000

/** Most distinct label values that are counted, or taken as names of rules. */
const VALUES_MAX = 1_000

const NONE: readonly number[] = []
const NO_VALUES: readonly string[] = []

/** Whether a value, as it is shown and without a rule, means that nothing is wrong. */
function saysNothingIsWrong(value: string): boolean {
  return value === OTHER_NUMBERS || NEGATIVES.has(toComparableValue(value))
}

/**
 * What labels mean: which rules a row should trigger, by the values of its label. A value stands for the
 * rules that it is mapped to, else for the rule of its name or id, else for none.
 */
export class Labels {
  readonly targets: Target[] = []
  /** Rows by label value; at most {@link VALUES_MAX} values. */
  readonly values = new Map<string, { value: string; rows: number; targets: readonly number[] }>()
  readonly #rules: ReadonlyMap<string, string>
  readonly #separator: string | null
  readonly #mapped = new Map<string, number[]>()
  /** Conditions on numeric labels, each with what it stands for. */
  readonly #shares: { share: Share; value: string; targets: readonly number[] }[] = []
  readonly #hasMapping: boolean
  /** Mapped values that occur in counted labels, in comparable form. */
  readonly #used = new Set<string>()
  #any: number | null = null
  readonly #split = new Map<string, readonly string[]>()
  /** Caches the meaning of a value in its original form. */
  readonly #known = new Map<string, readonly number[]>()

  /** `rules`: those that the run's rows triggered, names by id. With `positives`, judges only their rules. */
  constructor(
    rules: ReadonlyMap<string, string>,
    { positives, separator }: { positives: readonly Positive[]; separator: string | null },
  ) {
    this.#rules = rules
    this.#separator = separator
    this.#hasMapping = positives.length > 0
    for (const { value, rule } of positives) {
      const comparable = toComparableValue(value)
      const mapped = this.#mapped.get(comparable) ?? []
      this.#mapped.set(comparable, [...new Set([...mapped, this.addTarget(rule)])])
    }
    for (const value of new Set(positives.map((one) => one.value))) {
      const share = parseShare(value)
      const targets = this.#mapped.get(toComparableValue(value)) ?? NONE
      if (share !== null) this.#shares.push({ share, value, targets })
    }
  }

  /** Whether a cell has no label: it is empty or says so, and no mapping gives that a meaning. */
  isNone(cell: string): boolean {
    return isMissing(cell) && !this.#mapped.has(toComparableValue(cell))
  }

  /** The values of a label: the items of a list, or the parts between separators. Empty without a label. */
  split(cell: string): readonly string[] {
    const known = this.#split.get(cell)
    if (known !== undefined) return known
    const values = this.#toValues(cell)
    if (this.#split.size < SPLIT_MAX) this.#split.set(cell, values)
    return values
  }

  /** Notes the rules that a label names, before rows are judged: rules that no label names are not judged. */
  notice(cell: string): void {
    if (this.#hasMapping) return
    for (const value of this.split(cell)) {
      const comparable = toComparableValue(value)
      if (this.#mapped.has(comparable) || this.#mapped.size >= VALUES_MAX) continue
      const found = findRule(value, this.#rules)
      this.#mapped.set(comparable, found === null ? [] : [this.addTarget(found.rule)])
    }
  }

  /** The number of a rule's target, which is created if necessary. */
  addTarget(rule: string): number {
    const target = this.#findRule(rule) ?? { rule: rule.trim(), ruleIds: [] }
    const at = this.targets.findIndex((known) => toComparable(known.rule) === toComparable(target.rule))
    if (at !== -1) return at
    const added = this.targets.push(target) - 1
    if (target.ruleIds.length === 0 && toComparable(target.rule) === ANY_RULE) this.#any = added
    return added
  }

  /** The number of the target that stands for any rule; null if there is none. */
  get anyTarget(): number | null {
    return this.#any
  }

  /** The ids of a rule as in rows; if no row triggered it, its name serves as its id. */
  toRuleIds(rule: string): readonly string[] {
    return this.#findRule(rule)?.ruleIds ?? [toComparable(rule)]
  }

  /** A function that finds the targets of rules by their {@link toRuleIds}, but not targets added later. */
  createTargetFinder(): (ruleIds: readonly string[]) => readonly number[] {
    const targetOf = new Map<string, number>()
    for (const [target, { rule }] of this.targets.entries()) {
      for (const ruleId of this.toRuleIds(rule)) targetOf.set(ruleId, target)
    }
    return (ruleIds) => {
      if (ruleIds.length === 0) return NONE
      const own = ruleIds.flatMap((ruleId) => targetOf.get(ruleId) ?? [])
      return [...new Set(this.#any === null ? own : [...own, this.#any])]
    }
  }

  /** Whether the counted labels tell which rules a row should trigger; verdicts alone always do. */
  isMeaningful(): boolean {
    if (this.targets.length === 0) return false
    if (this.values.size === 0 || this.#used.size > 0) return true
    // If no mapped value occurs, rows that all say that nothing is wrong still reveal false alarms.
    if (this.#hasMapping) return this.listUnread().length === 0
    return [...this.values.values()].some(({ targets }) => targets.length > 0)
  }

  /** The targets that a row with these label values should trigger. */
  toExpected(values: readonly string[]): readonly number[] {
    const [only] = values
    if (values.length === 1 && only !== undefined) return this.#find(only)
    return [...new Set(values.flatMap((value) => this.#find(value)))]
  }

  /** Counts the values of a label on some rows; numbers count for the conditions that they meet. */
  count(values: readonly string[], rows: number): void {
    for (const value of values) {
      this.#noteUsed(value)
      const shown = this.#toShown(value)
      const counted = this.values.get(shown)
      if (counted !== undefined) counted.rows += rows
      else if (this.values.size < VALUES_MAX) {
        this.values.set(shown, { value: shown, rows, targets: this.#findMapped(value) })
      }
    }
  }

  /** Whether a label without a rule says that nothing is wrong, so that none of its values is unread. */
  saysNothingIsWrong(values: readonly string[]): boolean {
    return values.every((value) => saysNothingIsWrong(this.#toShown(value)))
  }

  /** Counted values that stand for no rule and do not say that nothing is wrong either, most rows first. */
  listUnread(): { value: string; rows: number }[] {
    return [...this.values.values()]
      .filter(({ value, targets }) => targets.length === 0 && !saysNothingIsWrong(value))
      .map(({ value, rows }) => ({ value, rows }))
      .sort((a, b) => b.rows - a.rows || (a.value < b.value ? -1 : 1))
  }

  /** Rules with the same name are one rule, whichever of their ids is given. */
  #findRule(text: string): Target | null {
    const found = findRule(text, this.#rules)
    return found === null ? null : findRule(found.rule, this.#rules)
  }

  #toValues(cell: string): readonly string[] {
    if (this.isNone(cell)) return NO_VALUES
    const isOne = this.#mapped.has(toComparableValue(cell))
    const list = isOne ? null : parseList(cell)
    const parts = list ?? (this.#separator === null || isOne ? [cell] : cell.split(this.#separator))
    return [...new Set(parts.map((part) => part.trim()).filter((part) => part !== ''))]
  }

  #toShown(value: string): string {
    if (this.#shares.length === 0 || this.#mapped.has(toComparableValue(value)) || toNumber(value) === null)
      return value
    const holding = this.#listShares(value).map((one) => one.value)
    return holding.length === 0 ? OTHER_NUMBERS : holding.join(', ')
  }

  #noteUsed(value: string): void {
    if (!this.#hasMapping) return
    const comparable = toComparableValue(value)
    if (this.#mapped.has(comparable)) this.#used.add(comparable)
    else for (const { value: share } of this.#listShares(value)) this.#used.add(toComparableValue(share))
  }

  #listShares(value: string) {
    const number = this.#shares.length === 0 ? null : toNumber(value)
    return number === null ? [] : this.#shares.filter(({ share }) => isInShare(number, share))
  }

  #findMapped(value: string): readonly number[] {
    const mapped = this.#mapped.get(toComparableValue(value))
    if (mapped !== undefined) return mapped
    const byShare = this.#listShares(value)
    return byShare.length === 0 ? NONE : [...new Set(byShare.flatMap(({ targets }) => targets))]
  }

  #find(value: string): readonly number[] {
    return this.#known.get(value) ?? this.#learn(value)
  }

  #learn(value: string): readonly number[] {
    const mapped = this.#findMapped(value)
    // A row that should trigger a certain rule also counts as one that should trigger at least one.
    const targets = this.#any === null || mapped.length === 0 ? mapped : [...new Set([...mapped, this.#any])]
    if (this.#known.size < SPLIT_MAX) this.#known.set(value, targets)
    return targets
  }

  /** Mapped label values that do not occur in counted labels. */
  listUnused(positives: readonly Positive[]): string[] {
    return [...new Set(positives.map(({ value }) => value))].filter(
      (value) => !this.#used.has(toComparableValue(value)),
    )
  }
}
