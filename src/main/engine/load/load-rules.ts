import { RuleNames } from '../journal/found-writer.ts'
import type { Journal } from '../journal/journal.ts'
import type { Judgement } from '../service/judgement.ts'

/** Most rules counted separately; further ones are not counted. */
const RULES_MAX = 1_000

export interface RuleCount {
  ruleId: string
  ruleName: string
  /** An earlier name, if it has changed. */
  formerName?: string
  requests: number
}

/** Counts requests by the rules they triggered, until the counts are taken. */
export class RuleCounts {
  readonly #known = new Set<string>()
  readonly #counts = new Map<string, RuleCount>()

  /** Adds the rules of one answer or callback, each named once. */
  add(rules: Judgement['rules']): void {
    for (const { ruleId, ruleName } of rules) this.#add({ ruleId, ruleName, requests: 1 })
  }

  /** Adds counts taken elsewhere. */
  addCounts(counts: readonly RuleCount[]): void {
    for (const count of counts) this.#add(count)
  }

  /** The counts since they were taken last. */
  take(): RuleCount[] {
    const taken = [...this.#counts.values()]
    this.#counts.clear()
    return taken
  }

  #add({ ruleId, ruleName, formerName, requests }: RuleCount): void {
    const count = this.#counts.get(ruleId)
    if (count !== undefined) {
      count.requests += requests
      if (ruleName === ruleId) return
      const former = count.ruleName === ruleName ? formerName : count.ruleName
      if (former !== undefined) count.formerName ??= former
      count.ruleName = ruleName
      return
    }
    if (!this.#known.has(ruleId) && this.#known.size >= RULES_MAX) return
    this.#known.add(ruleId)
    this.#counts.set(ruleId, { ruleId, ruleName, ...(formerName !== undefined && { formerName }), requests })
  }
}

/** Writes the rules that a load test's requests triggered. */
export class RuleWriter {
  readonly #journal: Journal
  readonly #names: RuleNames

  constructor(journal: Journal) {
    this.#journal = journal
    this.#names = new RuleNames(journal)
  }

  /** The caller has a transaction open. */
  write(counts: readonly RuleCount[]): void {
    for (const { ruleId, ruleName, formerName, requests } of counts) {
      if (formerName !== undefined) this.#names.write(ruleId, formerName)
      this.#names.write(ruleId, ruleName)
      this.#journal.counters.add('rule', ruleId, requests)
    }
  }
}
