import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { toErrorKey, toErrorPattern } from '../../../shared/run/counts.ts'
import { type ItemState, isUnsuccessful } from '../../../shared/run/item-state.ts'

/** What is counted. A value is a state, a rule's id, an outcome, or the JSON of an error or problem cause. */
export type CounterKind =
  | 'state'
  | 'rule'
  /** Names of rules that had several. */
  | 'rule_name'
  | 'error'
  | 'problem'
  /** Warnings by cause that nobody was asked about because no row could be sent; a correcting retry asks. */
  | 'unasked'
  | 'request'
  | 'from_cache'
  | 'result_lost'
  /** Successful rows by whether their answer proves whose it is; mismatches are counted as errors. */
  | 'echo'
  | 'retry_after_answers'
  | 'retry_after_ms'
  | 'throttled_answers'
  | 'throttled_ms'
  | 'limit_per_1000_s'
  | 'waited'
  /** Those of `waited` that the service caused, being unreachable or limiting the rate. */
  | 'held_by_service'
  | 'reuse_ended'
  | 'redacted'
  /** Answers by charset other than UTF-8, and `damaged` ones. */
  | 'answer_text'
  | 'answer'
  | 'callback'
  /** Effects of the plan's fixes at intake: corrected `rows`, `split` rows, `cell FIELD` for each field. */
  | 'corrected'
  /**
   * Sendable rows that were sent before, by outcome, run and key; also `unreadable`, or why the key does not
   * count, and a run that may have sent some.
   */
  | 'sent_before'
  /** Sessions by the fingerprint of their key. */
  | 'key'
  /**
   * Sessions by the fingerprint of header values from variables and files: of those that always determine the
   * tenant or deployment, and of those that act as a key.
   */
  | 'header_values'
  | 'header_keys'

/** Counts of rows, kept in memory; changes are written in the transaction that changes the counted rows. */
export class Counters {
  readonly #totals = new Map<CounterKind, Map<string, number>>()
  readonly #changed = new Map<CounterKind, Map<string, number>>()
  readonly #add: StatementSync
  /** Changes since {@link begin}, undone with their transaction; null outside a transaction. */
  #undo: [CounterKind, string, number][] | null = null
  #isApart = false

  constructor(db: DatabaseSync) {
    this.#add = db.prepare(
      'INSERT INTO facet (kind, value, n) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET n = n + excluded.n',
    )
    for (const { kind, value, n } of db.prepare('SELECT kind, value, n FROM facet').all()) {
      mapOf(this.#totals, kind as CounterKind).set(String(value), Number(n))
    }
  }

  /** Adds `n`, which may be negative. Written by the next {@link write}. */
  add(kind: CounterKind, value: string, n: number): void {
    if (n === 0) return
    this.#undo?.push([kind, value, n])
    bump(mapOf(this.#totals, kind), value, n)
    bump(mapOf(this.#changed, kind), value, n)
  }

  get(kind: CounterKind, value = ''): number {
    return this.#totals.get(kind)?.get(value) ?? 0
  }

  entries(kind: CounterKind): ReadonlyMap<string, number> {
    return this.#totals.get(kind) ?? new Map()
  }

  /**
   * Begins a transaction, whose counts {@link rolledBack} undoes. With `isApart` only these counts are
   * written; earlier ones wait for the transaction of what they count.
   */
  begin(isApart = false): void {
    this.#undo = []
    this.#isApart = isApart
  }

  /** Undoes the counts since {@link begin} after a rollback. */
  rolledBack(): void {
    const undo = this.#undo ?? []
    this.#undo = null
    for (const [kind, value, n] of undo) this.add(kind, value, -n)
  }

  /** Writes changes since the last {@link committed}. The caller has a transaction open. */
  write(): void {
    if (this.#isApart) {
      for (const [kind, value, n] of this.#undo ?? []) this.#add.run(kind, value, n)
      return
    }
    for (const [kind, values] of this.#changed) {
      for (const [value, n] of values) this.#add.run(kind, value, n)
    }
  }

  /** Notes that the changes of {@link write} are committed, so that they are not written again. */
  committed(): void {
    const written = this.#undo ?? []
    this.#undo = null
    if (this.#isApart) for (const [kind, value, n] of written) bump(mapOf(this.#changed, kind), value, -n)
    else for (const values of this.#changed.values()) values.clear()
  }
}

function mapOf(maps: Map<CounterKind, Map<string, number>>, kind: CounterKind): Map<string, number> {
  let map = maps.get(kind)
  if (map === undefined) {
    map = new Map()
    maps.set(kind, map)
  }
  return map
}

function bump(map: Map<string, number>, value: string, n: number): void {
  map.set(value, (map.get(value) ?? 0) + n)
}

/** Most causes of errors counted separately; further ones are counted together. */
const ERROR_GROUPS_MAX = 200
/** Replaces the messages of further causes. */
export const FURTHER_ERRORS = '(further errors, each with a message of its own)'

/** What identifies rows that ended for the same reason. */
export interface ErrorCause {
  state: ItemState
  status: number | null
  errorCode: string | null
  message: string | null
}

/** Counts unsuccessful rows by their cause; ignores others. */
export function countError(counters: Counters, cause: ErrorCause, rows: number): void {
  if (!isUnsuccessful(cause.state)) return
  const group = toGroup(cause)
  const groups = counters.entries('error')
  const isRoom = groups.has(group) || groups.size < ERROR_GROUPS_MAX
  counters.add('error', isRoom ? group : toFurther(cause.state), rows)
}

/** Subtracts rows counted by {@link countError}, since they have succeeded after all. */
export function uncountError(counters: Counters, cause: ErrorCause, rows: number): void {
  if (!isUnsuccessful(cause.state)) return
  // Rows counted before their cause had a group are among the further ones, even if it has a group now.
  const group = toGroup(cause)
  const own = Math.min(rows, Math.max(0, counters.get('error', group)))
  counters.add('error', group, -own)
  counters.add('error', toFurther(cause.state), own - rows)
}

/** The group in which {@link countError} counted rows; null if it did not. */
export function findErrorGroup(
  groups: ReadonlyMap<string, number>,
  cause: ErrorCause,
  rows: number,
): string | null {
  if (!isUnsuccessful(cause.state)) return null
  const group = toGroup(cause)
  return (groups.get(group) ?? 0) >= rows ? group : toFurther(cause.state)
}

function toGroup({ state, status, errorCode, message }: ErrorCause): string {
  const cause = errorCode !== null && status !== null ? toErrorPattern(message ?? '') : (message ?? '')
  return toErrorKey(state, status, errorCode, cause)
}

function toFurther(state: ItemState): string {
  return toErrorKey(state, null, null, FURTHER_ERRORS)
}
