import { toComparable } from '../../../shared/lookback/labels.ts'
import {
  DELIVERY_ANSWERS,
  LEFT_OUT_STATES,
  type LeftOutState,
  listStates,
} from '../../../shared/run/item-state.ts'
import { createSetReader } from '../journal/found-reader.ts'
import type { RunFamily, RunView } from '../journal/run-family.ts'
import { readFacetCounts, readRuleNames } from '../run/results/family-counts.ts'
import { readLastRow } from '../run/results/row-search.ts'
import { type AnsweredStep, readAnsweredSteps } from './answered-rows.ts'

/** A rule of either run; rules with the same id are one, else those with the same name. */
export interface NumberedRule {
  rule: string
  ruleIds: string[]
}

/** The state of a row in a run, reduced to what comparisons need. */
export interface Standing {
  /** The number of the run or retry whose answer it is. */
  member: number
  /** The service answered it with a result of its own. */
  isAnswered: boolean
  /** Its answer came from the service's cache. */
  isCached: boolean
  /** Its outcome is still to come; it may have an error of its last try. */
  isOpen: boolean
  /** Why a person wanted it not to be sent; null for rows to be sent. */
  leftOut: LeftOutState | null
  /**
   * Its outcome: '' if the service decided, or the service's own word for it, else its state with its error.
   * A row under way when its run was killed is `pending`: a resume decides its outcome.
   */
  outcome: string
  /** The numbers of the rules that it triggered, ascending. */
  rules: readonly number[]
}

/** The standing of each row of a run and its retries. Most rows share a few kinds. */
export class Standings {
  readonly kinds: Standing[] = []
  /** The number of each row's kind plus one; 0 for a row that the run does not have. */
  readonly of: Uint32Array<ArrayBuffer>
  readonly #numberOf = new Map<string, number>()

  private constructor(length: number) {
    this.of = new Uint32Array(length)
  }

  /** Reads the standing of each row by its newest answer. */
  static read(family: RunFamily, rules: readonly NumberedRule[]): Standings {
    const last = Math.max(0, ...family.members.map(readLastRow))
    const standings = new Standings(last + 1)
    const numberOf = new Map(
      rules.flatMap(({ ruleIds }, number) => ruleIds.map((id) => [id, number] as const)),
    )
    const readers = family.members.map((view, member) => new MemberReader(standings, member, view, numberOf))
    for (const step of readAnsweredSteps(family)) {
      for (const reader of readers) reader.add(step)
    }
    return standings
  }

  /** The number of a kind plus one. */
  toNumber(kind: Standing): number {
    const key = JSON.stringify(kind)
    const known = this.#numberOf.get(key) ?? this.kinds.push(kind)
    this.#numberOf.set(key, known)
    return known
  }

  /** The standing of a row; undefined if the run lacks it. */
  at(row: number): Standing | undefined {
    return this.kinds[(this.of[row] ?? 0) - 1]
  }
}

/** The rules of all runs, under the names that the last run gives them. */
export function numberRules(families: readonly RunFamily[]): NumberedRule[] {
  const rules: NumberedRule[] = []
  for (const member of families.flatMap(({ members }) => members)) {
    const unknown: [ruleId: string, rule: string][] = []
    for (const [ruleId, rule] of readRuleNames([member])) {
      const known = rules.find(({ ruleIds }) => ruleIds.includes(ruleId))
      if (known === undefined) unknown.push([ruleId, rule])
      else known.rule = rule
    }
    // By then, rules of known ids have their new names: a name that moved to another id does not join both.
    for (const [ruleId, rule] of unknown) {
      const known = rules.find((one) => toComparable(one.rule) === toComparable(rule))
      if (known === undefined) rules.push({ rule, ruleIds: [ruleId] })
      else {
        known.rule = rule
        known.ruleIds.push(ruleId)
      }
    }
  }
  return rules
}

/** States of rows whose outcome is still to come. */
const OPEN_STATES = listStates('open')

const HAS_SUCCEEDED = "coalesce(result.state = 'succeeded' AND result.error_code IS NULL, 0)"
const IS_ANSWERED = `(${HAS_SUCCEEDED} AND result.answer IS NOT 'no_result')`
const IS_OPEN = `CASE WHEN result.state IS NULL THEN row.item IS NOT NULL
    ELSE result.state IN (${OPEN_STATES.map((open) => `'${open}'`).join(', ')}) END`
const HAS_DELIVERY_ANSWER = `result.answer IN (${DELIVERY_ANSWERS.map((answer) => `'${answer}'`).join(', ')})`
const OUTCOME = `CASE WHEN row.item IS NULL THEN coalesce(result.state, 'invalid')
    WHEN result.state IS NULL THEN 'pending'
    WHEN ${HAS_SUCCEEDED} THEN CASE WHEN ${HAS_DELIVERY_ANSWER} THEN '' ELSE coalesce(result.answer, '') END
    ELSE result.state || coalesce(' ' || result.error_code, ' HTTP ' || result.status, '') END`

const LEFT_OUT = `CASE result.state
    ${LEFT_OUT_STATES.map((state, index) => `WHEN '${state}' THEN ${index + 1}`).join(' ')} ELSE 0 END`

/** The first four in one number: each further value of a row takes time to hand over. */
const READ_STANDING = `SELECT row.id,
    ${IS_ANSWERED} + 2 * (${IS_OPEN}) + 4 * (found.cached IS NOT NULL) + 8 * (${LEFT_OUT}),
    ${OUTCOME}, coalesce(found.rules, 0)
  FROM row LEFT JOIN result ON result.row = row.id LEFT JOIN found ON found.row = row.id
  WHERE row.id IN (SELECT value FROM json_each(?))`

/** Most kinds of rows remembered by their values in the journal. */
const KNOWN_MAX = 10_000

/** Adds the standings of the rows of one run. */
class MemberReader {
  readonly #standings: Standings
  readonly #member: number
  readonly #view: RunView
  /** The numbers of rules by id, and by the journal's own number. */
  readonly #numberOf: ReadonlyMap<string, number>
  readonly #ownNumberOf: ReadonlyMap<number, number | undefined>
  readonly #hasCached: boolean
  readonly #hasAnswers: boolean
  readonly #known = new Map<number | string, number>()

  constructor(standings: Standings, member: number, view: RunView, numberOf: ReadonlyMap<string, number>) {
    this.#standings = standings
    this.#member = member
    this.#view = view
    this.#numberOf = numberOf
    const { db } = view
    const rules = db.prepare('SELECT id, rule_id FROM rule').all()
    this.#ownNumberOf = new Map(rules.map(({ id, rule_id }) => [Number(id), numberOf.get(String(rule_id))]))
    this.#hasCached = (readFacetCounts(db).get('from_cache')?.get('') ?? 0) > 0
    this.#hasAnswers = db.prepare('SELECT 1 FROM result WHERE answer IS NOT NULL LIMIT 1').get() !== undefined
  }

  /** Adds this run's rows in a step. Decided rows need few columns. */
  add(step: AnsweredStep): void {
    const { of } = this.#standings
    const owner = this.#member + 1
    const others: number[] = []
    const cached = this.#hasCached ? step.cached : null
    const isOutcomeStated = this.#hasAnswers ? step.outcomeStated : null
    for (let place = 0; place < step.width; place += 1) {
      if (step.owner[place] !== owner) continue
      const row = step.rowAt(place)
      if (step.answered[place] === 0 || isOutcomeStated?.[place] === 1) others.push(row)
      else of[row] = this.#toDecided(step, place, cached?.[place] === 1)
    }
    if (others.length > 0) this.#addOthers(others)
  }

  #toDecided(step: AnsweredStep, place: number, isCached: boolean): number {
    const key = 2 * step.decisionAt(place) + Number(isCached)
    const known = this.#known.get(key)
    if (known !== undefined) return known
    const number = this.#standings.toNumber({
      member: this.#member,
      isAnswered: true,
      isOpen: false,
      leftOut: null,
      isCached,
      outcome: '',
      rules: toRules(step.ruleIdsAt(place).map((id) => this.#numberOf.get(id))),
    })
    this.#keep(key, number)
    return number
  }

  #addOthers(others: readonly number[]): void {
    const { db } = this.#view
    const statement = db.prepare(READ_STANDING)
    statement.setReturnArrays(true)
    const rows = statement.all(JSON.stringify(others)) as unknown as [number, number, string, number][]
    const toNumbers = createSetReader(db, (rule) => this.#ownNumberOf.get(rule))
    for (const [row, bits, outcome, set] of rows) {
      const key = `${bits} ${set} ${outcome}`
      const known =
        this.#known.get(key) ??
        this.#standings.toNumber({
          member: this.#member,
          isAnswered: (bits & 1) !== 0,
          isOpen: (bits & 2) !== 0,
          isCached: this.#hasCached && (bits & 4) !== 0,
          leftOut: LEFT_OUT_STATES[(bits >> 3) - 1] ?? null,
          outcome,
          rules: toRules(set === 0 ? [] : toNumbers(set)),
        })
      this.#keep(key, known)
      this.#standings.of[row] = known
    }
  }

  #keep(key: number | string, number: number): void {
    if (this.#known.size >= KNOWN_MAX) this.#known.clear()
    this.#known.set(key, number)
  }
}

function toRules(numbers: readonly (number | undefined)[]): number[] {
  return [...new Set(numbers)].filter((number) => number !== undefined).sort((x, y) => x - y)
}
