import { RULE_NAMES_MAX, toRuleNameKey } from '../../../shared/run/counts.ts'
import type { AnswerNames } from '../../../shared/service/answer-findings.ts'
import {
  BulkInsert,
  type DatabaseSync,
  hasColumn,
  readValues,
  type SQLInputValue,
  type StatementSync,
} from '../workspace/sqlite.ts'
import type { Counters } from './counters.ts'

/**
 * Most classes of a journal with their own column of scores; further ones share one column. Each column takes
 * a byte per row, and SQLite allows at most 2,000.
 */
export const SCORE_COLUMNS_MAX = 200

/** Most different sets of languages, and of models; a service may name a new one in each answer. */
const SETS_MAX = 60_000

/** Longest set of names, and longest name of a class with a column, UTF-16 code units. */
const TERM_MAX_LENGTH = 1_000

/** Replaces all sets beyond these limits. */
export const FURTHER_VALUES = '(further values)'

/** Most numbers of each kind kept in memory. */
const KNOWN_MAX = 10_000

/**
 * Numbered values: sets of rules (by the rules' numbers), sets of names, and classes; all but classes are
 * JSON arrays. `further` has one entry if rows have scores of classes without columns.
 */
export type TermKind = 'rules' | 'language' | 'model' | 'class' | 'further'

/** What an answer says about a row's content. */
export interface Found {
  /** Each rule once. */
  rules: readonly { ruleId: string; ruleName: string }[]
  classes: readonly { className: string; score: number }[]
  names: AnswerNames
}

/** The column of a class's scores, by the class's number. */
export function toScoreColumn(number: number): string {
  return `s${number}`
}

/** Numbers the recurring values of a journal from 1 on, in order of appearance. */
export class Terms {
  readonly #find: StatementSync
  readonly #insert: StatementSync
  readonly #count: StatementSync
  readonly #known = new Map<TermKind, Map<string, number>>()
  /** Numbers of single-name sets, by the name. */
  readonly #single = { language: new Map<string, number>(), model: new Map<string, number>() }

  constructor(db: DatabaseSync) {
    this.#find = db.prepare('SELECT id FROM term WHERE kind = ? AND value = ?')
    this.#count = db.prepare('SELECT coalesce(max(id), 0) AS n FROM term WHERE kind = ?')
    this.#insert = db.prepare('INSERT INTO term (kind, id, value) VALUES (?, ?, ?)')
  }

  ofRules(numbers: readonly number[]): number {
    return this.#number('rules', JSON.stringify(numbers), Number.POSITIVE_INFINITY) ?? 0
  }

  /** The number of a set of names; null for an empty one. */
  ofNames(kind: 'language' | 'model', names: readonly string[]): number | null {
    const [first] = names
    if (first === undefined) return null
    // Most answers have one name, which saves making JSON each time.
    const known = names.length === 1 ? this.#single[kind].get(first) : undefined
    if (known !== undefined) return known
    const number = this.#ofSet(kind, names)
    if (names.length === 1 && first.length <= TERM_MAX_LENGTH) {
      if (this.#single[kind].size >= KNOWN_MAX) this.#single[kind].clear()
      if (number !== null) this.#single[kind].set(first, number)
    }
    return number
  }

  #ofSet(kind: 'language' | 'model', names: readonly string[]): number | null {
    const value = JSON.stringify(names)
    const number = value.length <= TERM_MAX_LENGTH ? this.#number(kind, value, SETS_MAX) : null
    return number ?? this.#number(kind, JSON.stringify([FURTHER_VALUES]), Number.POSITIVE_INFINITY)
  }

  /** The number of a class; null if there is no room for its column, which is noted. */
  ofClass(className: string): number | null {
    const number =
      className.length <= TERM_MAX_LENGTH ? this.#number('class', className, SCORE_COLUMNS_MAX) : null
    if (number === null) this.#number('further', '', 1)
    return number
  }

  /** Forgets numbers that a rolled-back transaction may have assigned. */
  forget(): void {
    this.#known.clear()
    for (const single of Object.values(this.#single)) single.clear()
  }

  #number(kind: TermKind, value: string, most: number): number | null {
    const known = this.#known.get(kind) ?? new Map<string, number>()
    this.#known.set(kind, known)
    const number = known.get(value) ?? this.#find.get(kind, value)?.['id'] ?? this.#add(kind, value, most)
    if (number === null) return null
    if (known.size >= KNOWN_MAX) known.clear()
    if (value.length <= TERM_MAX_LENGTH) known.set(value, Number(number))
    return Number(number)
  }

  #add(kind: TermKind, value: string, most: number): number | null {
    const number = Number(this.#count.get(kind)?.['n']) + 1
    if (number > most) return null
    this.#insert.run(kind, number, value)
    return number
  }
}

const FIXED = ['row', 'rules', 'cached', 'language', 'model', 'further_scores'] as const

/** Stores rules under their newest names, and counts the names of those that had several. */
export class RuleNames {
  readonly #counters: Counters
  readonly #find: StatementSync
  readonly #write: StatementSync

  constructor({ db, counters }: WrittenJournal) {
    this.#counters = counters
    this.#find = db.prepare('SELECT rule_name FROM rule WHERE rule_id = ?')
    this.#write = db.prepare(
      `INSERT INTO rule (rule_id, rule_name) VALUES (?, ?) ON CONFLICT (rule_id)
       DO UPDATE SET rule_name = excluded.rule_name RETURNING id`,
    )
  }

  /**
   * Returns the rule's number. An answer without a name, whose id stands in, keeps an earlier name. The
   * caller has a transaction open.
   */
  write(ruleId: string, ruleName: string): number {
    const before = this.#find.get(ruleId)?.['rule_name'] ?? ruleId
    const name = ruleName === ruleId ? String(before) : ruleName
    if (before !== name && before !== ruleId) {
      this.#count(ruleId, String(before))
      this.#count(ruleId, name)
    }
    return Number(this.#write.get(ruleId, name)?.['id'])
  }

  #count(ruleId: string, name: string): void {
    const key = toRuleNameKey(ruleId, name)
    const isRoom = this.#counters.entries('rule_name').size < RULE_NAMES_MAX
    if (isRoom && this.#counters.get('rule_name', key) === 0) this.#counters.add('rule_name', key, 1)
  }
}

type WrittenJournal = Readonly<{ db: DatabaseSync; counters: Counters }>

/** Writes findings, a record per row. The caller keeps a transaction open, and flushes before it ends. */
export class FoundWriter {
  readonly #db: DatabaseSync
  readonly #counters: Counters
  readonly #terms: Terms
  readonly #names: RuleNames
  readonly #take: StatementSync
  readonly #rules = new Map<string, { id: number; ruleName: string }>()
  /** Position of each class among the scores of a record; null for some classes without a column. */
  readonly #places = new Map<string, number | null>()
  #columns: string[] = []
  #insert: BulkInsert

  constructor(journal: WrittenJournal) {
    const { db, counters } = journal
    this.#db = db
    this.#counters = counters
    this.#terms = new Terms(db)
    this.#names = new RuleNames(journal)
    this.#take = db.prepare('DELETE FROM found WHERE row = ? RETURNING rules, cached')
    this.#insert = this.#prepare()
  }

  /** Writes the findings of a row that has none yet. In some operations most rows have none at all. */
  write(row: number, { rules, classes, names }: Found): void {
    const set = rules.length === 0 ? 0 : this.#numberRules(rules)
    const { fromCache } = names
    const language = this.#terms.ofNames('language', names.languages)
    const model = this.#terms.ofNames('model', names.models)
    if (set === 0 && classes.length === 0 && !fromCache && language === null && model === null) return
    const record: SQLInputValue[] = [row, set, fromCache ? 1 : null, language, model, null]
    for (let at = 0; at < this.#columns.length; at += 1) record.push(null)
    let further: [string, number][] | null = null
    for (const { className, score } of classes) {
      const place = this.#findPlace(className)
      if (place === null) {
        further ??= []
        further.push([className, score])
        continue
      }
      // A newly added column is the last one.
      while (record.length <= FIXED.length + place) record.push(null)
      record[FIXED.length + place] = score
    }
    if (further !== null) record[FIXED.length - 1] = JSON.stringify(further)
    this.#insert.add(...record)
  }

  /** Removes a row's findings and subtracts them from the counters. */
  take(row: number): void {
    this.#insert.flush()
    const { rules = 0, cached } = this.#take.get(row) ?? {}
    if (cached === 1) this.#counters.add('from_cache', '', -1)
    if (rules === 0) return
    const ids = readValues<string>(
      this.#db,
      `SELECT rule_id FROM term, json_each(term.value) AS own JOIN rule ON rule.id = own.value
       WHERE term.kind = 'rules' AND term.id = ?`,
      rules,
    )
    for (const ruleId of ids) this.#counters.add('rule', ruleId, -1)
  }

  flush(): void {
    this.#insert.flush()
  }

  /** Forgets what a rolled-back transaction had written. */
  forget(): void {
    this.#insert.forget()
    this.#terms.forget()
    this.#rules.clear()
    this.#places.clear()
    this.#columns = []
    this.#insert = this.#prepare()
  }

  #numberRules(rules: Found['rules']): number {
    const numbers = rules.map((rule) => this.#toRuleRow(rule)).sort((a, b) => a - b)
    return this.#terms.ofRules([...new Set(numbers)])
  }

  #toRuleRow({ ruleId, ruleName }: { ruleId: string; ruleName: string }): number {
    const known = this.#rules.get(ruleId)
    if (known?.ruleName === ruleName) return known.id
    const id = this.#names.write(ruleId, ruleName)
    this.#rules.set(ruleId, { id, ruleName })
    return id
  }

  /** The position of a class among the scores; null if it can have no column. */
  #findPlace(className: string): number | null {
    const known = this.#places.get(className)
    if (known !== undefined) return known
    const number = this.#terms.ofClass(className)
    if (number === null) {
      if (this.#places.size < KNOWN_MAX && className.length <= TERM_MAX_LENGTH)
        this.#places.set(className, null)
      return null
    }
    const column = toScoreColumn(number)
    this.#insert.flush()
    // Another writer of this journal may have added it.
    if (!hasColumn(this.#db, 'found', column)) addScoreColumn(this.#db, number)
    this.#columns.push(column)
    this.#places.set(className, this.#columns.length - 1)
    this.#insert = this.#prepare()
    return this.#columns.length - 1
  }

  #prepare(): BulkInsert {
    const columns = [...FIXED, ...this.#columns]
    return new BulkInsert(
      this.#db,
      `INSERT OR REPLACE INTO found (${columns.join(', ')})`,
      `(${columns.map(() => '?').join(', ')})`,
    )
  }
}

export function addScoreColumn(db: DatabaseSync, number: number): void {
  db.exec(`ALTER TABLE found ADD COLUMN ${toScoreColumn(number)} REAL`)
}
