import type { StatementSync } from 'node:sqlite'
import type { ItemState, Outcome } from '../../../shared/item-state.ts'
import type { Journal } from './journal.ts'

/** One finished try of an item, and the state it leaves the item in. Times are microseconds. */
export interface AttemptRecord {
  item: number
  /** Rows that the item carries. */
  rows: number
  /** 1 for the first try. */
  number: number
  state: ItemState
  outcome: Outcome
  /** Unix microseconds of the first byte sent, or of the try where none was. */
  sentAtUs: number
  status: number | null
  errorCode: string | null
  message: string | null
  taskId: string | null
  durationUs: number | null
  waitingUs: number | null
  connectUs: number | null
  tlsUs: number | null
  /** The answer's body as it came, already cut to the cap. */
  response: string | null
  /** Each rule once. */
  rules: readonly { ruleId: string; ruleName: string }[]
  classes: readonly { className: string; score: number }[]
}

/** Writes outcomes; the caller groups them into transactions. */
export class OutcomeWriter {
  readonly #journal: Journal
  readonly #result: StatementSync
  readonly #attempt: StatementSync
  readonly #rule: StatementSync
  readonly #itemRule: StatementSync
  readonly #itemClass: StatementSync
  readonly #ruleIds = new Map<string, number>()

  constructor(journal: Journal) {
    this.#journal = journal
    const { db } = journal
    this.#result = db.prepare(
      `INSERT INTO result (item, state, attempts, status, error_code, message, task_id, duration_us, response)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (item) DO UPDATE SET state = excluded.state,
       attempts = excluded.attempts, status = excluded.status, error_code = excluded.error_code,
       message = excluded.message, task_id = excluded.task_id, duration_us = excluded.duration_us,
       response = excluded.response`,
    )
    this.#attempt = db.prepare(
      `INSERT INTO attempt (item, number, sent_at_us, outcome, status, error_code, message, duration_us,
       waiting_us, connect_us, tls_us) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    )
    this.#rule = db.prepare(
      `INSERT INTO rule (rule_id, rule_name) VALUES (?, ?)
       ON CONFLICT (rule_id) DO UPDATE SET rule_name = excluded.rule_name RETURNING id`,
    )
    this.#itemRule = db.prepare('INSERT OR IGNORE INTO item_rule (rule, item) VALUES (?, ?)')
    this.#itemClass = db.prepare('INSERT OR REPLACE INTO item_class (item, class, score) VALUES (?, ?, ?)')
  }

  /** Counts an outcome; once, when it happens, however often its transaction has to be tried. */
  count(record: AttemptRecord): void {
    const { counters } = this.#journal
    // A first try has no result yet; a later one was marked `sending`.
    if (record.number > 1) counters.add('state', 'sending', -record.rows)
    counters.add('state', record.state, record.rows)
    counters.add('request', record.outcome, 1)
    if (record.number > 1) counters.add('request', 'retried', 1)
    for (const { ruleId } of record.rules) counters.add('rule', ruleId, record.rows)
  }

  /** Writes an outcome. The caller has a transaction open. */
  write(record: AttemptRecord): void {
    const { item, status, errorCode, message, durationUs } = record
    this.#result.run(
      item,
      record.state,
      record.number,
      status,
      errorCode,
      message,
      record.taskId,
      durationUs,
      record.response,
    )
    this.#attempt.run(
      item,
      record.number,
      record.sentAtUs,
      record.outcome,
      status,
      errorCode,
      message,
      durationUs,
      record.waitingUs,
      record.connectUs,
      record.tlsUs,
    )
    for (const rule of record.rules) this.#itemRule.run(this.#toRuleRow(rule), item)
    for (const { className, score } of record.classes) this.#itemClass.run(item, className, score)
  }

  /** Forgets what a transaction that was undone had written. */
  forget(): void {
    this.#ruleIds.clear()
  }

  #toRuleRow(rule: { ruleId: string; ruleName: string }): number {
    const known = this.#ruleIds.get(rule.ruleId)
    if (known !== undefined) return known
    const id = Number(this.#rule.get(rule.ruleId, rule.ruleName)?.['id'])
    this.#ruleIds.set(rule.ruleId, id)
    return id
  }
}
