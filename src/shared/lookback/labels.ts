/** A rule to be judged: one name, and every id that it has. */
export interface Target {
  rule: string
  ruleIds: string[]
}

/** Stands for at least one rule, whichever; a rule of this name goes before it. */
export const ANY_RULE = 'any rule'

/** `--positive VALUE=RULE`: rows with this label value should trigger this rule, or {@link ANY_RULE}. */
export interface Positive {
  value: string
  rule: string
}

/** How label values and rules are compared: without case and outer white space. */
export function toComparable(text: string): string {
  return text.normalize('NFKC').trim().toLowerCase()
}

/** The rules of a run that a text names, by id or name; null where it names none. */
export function findRule(text: string, rules: ReadonlyMap<string, string>): Target | null {
  const wanted = toComparable(text)
  const ids = [...rules].filter(([id, name]) => toComparable(name) === wanted || toComparable(id) === wanted)
  const [first] = ids
  return first === undefined ? null : { rule: first[1], ruleIds: ids.map(([id]) => id) }
}

/** Most different cells whose parts are kept; beyond, each is split again. */
const SPLIT_MAX = 10_000

/** Most different label values that are counted, or taken for names of rules. */
const VALUES_MAX = 1_000

const NONE: readonly number[] = []

/**
 * What labels mean: which rules a row should trigger, by the value in its label. A value stands for the rules that it is
 * mapped to, else for the rule of its name or id, else for none.
 */
export class Labels {
  readonly targets: Target[] = []
  /** Rows by label value; at most {@link VALUES_MAX} values. */
  readonly values = new Map<string, { value: string; rows: number; targets: readonly number[] }>()
  readonly #rules: ReadonlyMap<string, string>
  readonly #separator: string | null
  readonly #mapped = new Map<string, number[]>()
  readonly #hasMapping: boolean
  #any: number | null = null
  readonly #split = new Map<string, readonly string[]>()
  /** What a value means as it stands, so that it need not be made comparable again. */
  readonly #known = new Map<string, readonly number[]>()

  /** `rules` are those that rows of the run triggered, names by id. With `positives` only their rules are judged. */
  constructor(
    rules: ReadonlyMap<string, string>,
    { positives, separator }: { positives: readonly Positive[]; separator: string | null },
  ) {
    this.#rules = rules
    this.#separator = separator
    this.#hasMapping = positives.length > 0
    for (const { value, rule } of positives) {
      const mapped = this.#mapped.get(toComparable(value)) ?? []
      this.#mapped.set(toComparable(value), [...new Set([...mapped, this.addTarget(rule)])])
    }
  }

  /** The values of a label; null where it is empty, which is no label. */
  split(cell: string): readonly string[] | null {
    const known = this.#split.get(cell)
    if (known !== undefined) return known.length === 0 ? null : known
    const parts = this.#separator === null ? [cell] : cell.split(this.#separator)
    const values = [...new Set(parts.map((part) => part.trim()).filter((part) => part !== ''))]
    if (this.#split.size < SPLIT_MAX) this.#split.set(cell, values)
    return values.length === 0 ? null : values
  }

  /** Takes note of the rules that a label names, before rows are judged: rules that no label names are not judged. */
  notice(cell: string): void {
    if (this.#hasMapping) return
    for (const value of this.split(cell) ?? []) {
      const comparable = toComparable(value)
      if (this.#mapped.has(comparable) || this.#mapped.size >= VALUES_MAX) continue
      const found = findRule(value, this.#rules)
      this.#mapped.set(comparable, found === null ? [] : [this.addTarget(found.rule)])
    }
  }

  /** The number of the target of a rule, which becomes one where it is none yet. */
  addTarget(rule: string): number {
    const target = findRule(rule, this.#rules) ?? { rule: rule.trim(), ruleIds: [] }
    const at = this.targets.findIndex((known) => toComparable(known.rule) === toComparable(target.rule))
    if (at !== -1) return at
    const added = this.targets.push(target) - 1
    if (target.ruleIds.length === 0 && toComparable(target.rule) === ANY_RULE) this.#any = added
    return added
  }

  /** The number of the target that stands for any rule; null where none does. */
  get anyTarget(): number | null {
    return this.#any
  }

  /** The ids of a rule as rows have them; of one that no row triggered, its name stands for its id. */
  toRuleIds(rule: string): readonly string[] {
    return findRule(rule, this.#rules)?.ruleIds ?? [toComparable(rule)]
  }

  /** A function that finds the targets of rules by their {@link toRuleIds}; targets that are added later are not found. */
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

  /** Whether it can be said of the counted labels which rules a row should trigger; verdicts alone always say it. */
  isMeaningful(): boolean {
    if (this.targets.length === 0) return false
    const values = [...this.values.values()]
    return this.#hasMapping || values.length === 0 || values.some(({ targets }) => targets.length > 0)
  }

  /** The targets that a row with these label values should trigger. */
  toExpected(values: readonly string[]): readonly number[] {
    const [only] = values
    if (values.length === 1 && only !== undefined) return this.#find(only)
    return [...new Set(values.flatMap((value) => this.#find(value)))]
  }

  /** Counts the values of a label that some rows have. */
  count(values: readonly string[], rows: number): void {
    for (const value of values) {
      const counted = this.values.get(value)
      if (counted !== undefined) counted.rows += rows
      else if (this.values.size < VALUES_MAX) {
        this.values.set(value, { value, rows, targets: this.#mapped.get(toComparable(value)) ?? NONE })
      }
    }
  }

  #find(value: string): readonly number[] {
    return this.#known.get(value) ?? this.#learn(value)
  }

  #learn(value: string): readonly number[] {
    const mapped = this.#mapped.get(toComparable(value)) ?? NONE
    // A row that should trigger a certain rule should trigger at least one.
    const targets = this.#any === null || mapped.length === 0 ? mapped : [...new Set([...mapped, this.#any])]
    if (this.#known.size < SPLIT_MAX) this.#known.set(value, targets)
    return targets
  }

  /** Label values that were mapped and that no row has. */
  listUnused(positives: readonly Positive[]): string[] {
    const used = new Set([...this.values.keys()].map(toComparable))
    return [...new Set(positives.map(({ value }) => value))].filter((value) => !used.has(toComparable(value)))
  }
}
