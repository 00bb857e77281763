import { toComparable } from '../../../shared/lookback/labels.ts'
import { listStates } from '../../../shared/run/item-state.ts'
import { createSetReader } from '../journal/found-reader.ts'
import type { RunFamily, RunView } from '../journal/run-family.ts'
import { IS_LEFT_OUT } from '../run/journal/stored-problems.ts'
import { readFacetCounts } from '../run/results/family-counts.ts'
import { type FoundColumns, MARKS } from '../run/results/journal-findings.ts'
import type { RowFindings } from '../run/results/row-findings.ts'
import type { SQLInputValue } from '../workspace/sqlite.ts'

/** Rows read in one statement: so few that no read of a journal stays open for long. */
const STEP_ROWS = 2_000

/** A rule of either run; what has one name or one id is one rule. */
export interface NumberedRule {
  rule: string
  ruleIds: string[]
}

/** How a row of a run stands, as far as runs are compared by it. */
export interface Standing {
  /** The number of the run or retry whose answer it is. */
  member: number
  /** The service answered it with a result of its own. */
  isAnswered: boolean
  /** Its answer came from the service's cache. */
  isCached: boolean
  /** Its outcome is still to come; it may have an error of its last try. */
  isOpen: boolean
  /** A correction left it out. */
  isLeftOut: boolean
  /**
   * What it came to: '' where the service decided, or what the service said, else its state with its error. What was under
   * way when a run was killed is `pending`: a resume decides its outcome.
   */
  outcome: string
  /** The numbers of the rules that it triggered, ascending. */
  rules: readonly number[]
}

/** How each row of a run and its retries stands. Most rows are of a few kinds. */
export class Standings {
  readonly kinds: Standing[] = []
  /** One more than the number of each row's kind; 0 for a row that the run does not have. */
  readonly of: Uint32Array
  readonly #numberOf = new Map<string, number>()

  private constructor(length: number) {
    this.of = new Uint32Array(length)
  }

  /** Reads the newest answer of each row, from complete `found` findings of the run where they say enough. */
  static read(family: RunFamily, rules: readonly NumberedRule[], found: RowFindings | null): Standings {
    const last = Math.max(0, ...family.members.map(readLastRow))
    const standings = new Standings(last + 1)
    const numberOf = new Map(
      rules.flatMap(({ ruleIds }, number) => ruleIds.map((id) => [id, number] as const)),
    )
    for (const [member, view] of family.members.entries()) {
      const columns = found?.ofJournal(view.file)?.columns
      const reader = new MemberReader(standings, member, view, numberOf)
      if (columns?.kinds.isWhole === true) reader.addFound(columns)
      else reader.addAll(last)
    }
    return standings
  }

  /** One more than the number of a kind. */
  toNumber(kind: Standing): number {
    const key = JSON.stringify(kind)
    const known = this.#numberOf.get(key) ?? this.kinds.push(kind)
    this.#numberOf.set(key, known)
    return known
  }

  /** How a row stands; undefined where the run does not have it. */
  at(row: number): Standing | undefined {
    return this.kinds[(this.of[row] ?? 0) - 1]
  }
}

/** The rules of all runs. The names of the last run stand for those of the others. */
export function numberRules(families: readonly RunFamily[]): NumberedRule[] {
  const rules: NumberedRule[] = []
  for (const { db } of families.flatMap(({ members }) => members)) {
    for (const { rule_id: id, rule_name: name } of db.prepare('SELECT rule_id, rule_name FROM rule').all()) {
      const [ruleId, rule] = [String(id), String(name)]
      const known = rules.find(
        (one) => one.ruleIds.includes(ruleId) || toComparable(one.rule) === toComparable(rule),
      )
      if (known === undefined) rules.push({ rule, ruleIds: [ruleId] })
      else {
        known.rule = rule
        if (!known.ruleIds.includes(ruleId)) known.ruleIds.push(ruleId)
      }
    }
  }
  return rules
}

/** States of rows whose outcome is still to come. */
const OPEN_STATES = listStates('open')

const IS_ANSWERED = "coalesce(result.state = 'succeeded' AND result.error_code IS NULL, 0)"
const IS_OPEN = `CASE WHEN result.state IS NULL THEN row.item IS NOT NULL
    ELSE result.state IN (${OPEN_STATES.map((open) => `'${open}'`).join(', ')}) END`
const OUTCOME = `CASE WHEN row.item IS NULL THEN coalesce(result.state, 'invalid')
    WHEN result.state IS NULL THEN 'pending'
    WHEN ${IS_ANSWERED} THEN coalesce(result.answer, '')
    ELSE result.state || coalesce(' ' || result.error_code, ' HTTP ' || result.status, '') END`

/** The first four as bits of one number: each further value of a row takes time to hand over. */
const READ_STANDING = `SELECT row.id,
    ${IS_ANSWERED} + 2 * (${IS_OPEN}) + 4 * (${IS_LEFT_OUT}) + 8 * (found.cached IS NOT NULL),
    ${OUTCOME}, coalesce(found.rules, 0)
  FROM row LEFT JOIN result ON result.row = row.id LEFT JOIN found ON found.row = row.id`

/** Adds how the rows of one run stand, over what runs before it said of them. */
class MemberReader {
  readonly #standings: Standings
  readonly #member: number
  readonly #view: RunView
  /** The numbers of rules by id, and by the journal's own number. */
  readonly #numberOf: ReadonlyMap<string, number>
  readonly #ownNumberOf: ReadonlyMap<number, number | undefined>
  readonly #hasCached: boolean
  readonly #known = new Map<string, number>()

  constructor(standings: Standings, member: number, view: RunView, numberOf: ReadonlyMap<string, number>) {
    this.#standings = standings
    this.#member = member
    this.#view = view
    this.#numberOf = numberOf
    const rules = view.db.prepare('SELECT id, rule_id FROM rule').all()
    this.#ownNumberOf = new Map(rules.map(({ id, rule_id }) => [Number(id), numberOf.get(String(rule_id))]))
    this.#hasCached = (readFacetCounts(view.db).get('from_cache')?.get('') ?? 0) > 0
  }

  /** Rows that were answered are in the findings; how others ended is read. */
  addFound({ marks, kinds, last }: FoundColumns): void {
    const { of } = this.#standings
    const isCached = (row: number) => this.#hasCached && ((marks[row] ?? 0) & MARKS.cached) !== 0
    const known = new Uint32Array(kinds.kinds.length * 2)
    const others: number[] = []
    for (let row = 1; row <= last; row += 1) {
      const mark = marks[row] ?? 0
      if ((mark & MARKS.row) === 0) continue
      const number = (kinds.of[row] ?? 0) - 1
      const kind = kinds.kinds[number]
      if (kind === undefined || (mark & MARKS.answered) === 0) {
        others.push(row)
        continue
      }
      const at = number * 2 + (isCached(row) ? 1 : 0)
      known[at] ||= this.#standings.toNumber({
        ...{
          member: this.#member,
          isAnswered: true,
          isCached: isCached(row),
          isOpen: false,
          isLeftOut: false,
        },
        outcome: kind.answer ?? '',
        rules: toRules(kind.rules.map((id) => this.#numberOf.get(id))),
      })
      of[row] = known[at] ?? 0
    }
    for (let at = 0; at < others.length; at += STEP_ROWS) {
      const step = JSON.stringify(others.slice(at, at + STEP_ROWS))
      this.#add('row.id IN (SELECT value FROM json_each(?))', [step])
    }
  }

  addAll(last: number): void {
    for (let above = 0; above < last; above += STEP_ROWS) {
      this.#add('row.id > ? AND row.id <= ?', [above, above + STEP_ROWS])
    }
  }

  #add(condition: string, params: readonly SQLInputValue[]): void {
    const { of } = this.#standings
    const statement = this.#view.db.prepare(`${READ_STANDING} WHERE ${condition}`)
    statement.setReturnArrays(true)
    const rows = statement.all(...params) as unknown as [number, number, string, number][]
    const toNumbers = createSetReader(this.#view.db, (rule) => this.#ownNumberOf.get(rule))
    for (const [row, bits, outcome, set] of rows) {
      const key = `${bits} ${set} ${outcome}`
      const known =
        this.#known.get(key) ??
        this.#standings.toNumber({
          ...{ member: this.#member, isAnswered: (bits & 1) !== 0, isOpen: (bits & 2) !== 0 },
          ...{ isLeftOut: (bits & 4) !== 0, isCached: this.#hasCached && (bits & 8) !== 0 },
          ...{ outcome, rules: toRules(set === 0 ? [] : toNumbers(set)) },
        })
      this.#known.set(key, known)
      of[row] = known
    }
  }
}

function toRules(numbers: readonly (number | undefined)[]): number[] {
  return [...new Set(numbers)].filter((number) => number !== undefined).sort((x, y) => x - y)
}

function readLastRow({ db }: RunView): number {
  return Number(db.prepare('SELECT max(id) AS id FROM row').get()?.['id'] ?? 0)
}
