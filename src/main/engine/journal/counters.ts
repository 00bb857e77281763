import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { toErrorKey, toErrorPattern } from '../../../shared/run/counts.ts'
import { type ItemState, isUnsuccessful } from '../../../shared/run/item-state.ts'

/** What is counted. Values are a state, a rule's id, an outcome, or the JSON of an error's or problem's cause. */
export type CounterKind =
  | 'state'
  | 'rule'
  | 'error'
  | 'problem'
  /** Warnings that need a yes, by cause, which nobody was asked about since no row could be sent; a retry that corrects asks. */
  | 'unasked'
  | 'request'
  | 'from_cache'
  | 'result_lost'
  /** Rows that succeeded by whether their answer proves whose it is; of mismatches the errors tell. */
  | 'echo'
  | 'retry_after_answers'
  | 'retry_after_ms'
  | 'throttled_answers'
  | 'throttled_ms'
  | 'limit_per_1000_s'
  | 'waited'
  /** Those of `waited` that the service kept back: it could not be reached, or limited the rate. */
  | 'held_by_service'
  | 'reuse_ended'
  | 'redacted'
  /** Answers by charset if that is not UTF-8, and `damaged` ones. */
  | 'answer_text'
  | 'answer'
  | 'callback'
  /** What the plan's fixes did at intake: `rows` corrected, `split` ones, and `cell FIELD` for each field. */
  | 'corrected'
  /** Rows that could be sent and were sent before, by outcome, run and key; `unreadable`, or why its key does not count, and a run that may have sent some. */
  | 'sent_before'
  /** Sessions by the fingerprint of the key that they sent with. */
  | 'key'
  /** Sessions by the fingerprint of the values that headers had from variables and files, of those that say who is asked, always or as a key does. */
  | 'header_values'
  | 'header_keys'

/** Counts of rows, kept in memory and written, as what changed, in the transaction that changes what they count. */
export class Counters {
  readonly #totals = new Map<CounterKind, Map<string, number>>()
  readonly #changed = new Map<CounterKind, Map<string, number>>()
  readonly #add: StatementSync
  /** Changes made since {@link begin}, to be undone with their transaction; null outside of one. */
  #undo: [CounterKind, string, number][] | null = null
  #isApart = false

  /** Reads the totals that the journal holds. */
  constructor(db: DatabaseSync) {
    this.#add = db.prepare(
      'INSERT INTO facet (kind, value, n) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET n = n + excluded.n',
    )
    for (const { kind, value, n } of db.prepare('SELECT kind, value, n FROM facet').all()) {
      mapOf(this.#totals, kind as CounterKind).set(String(value), Number(n))
    }
  }

  /** Adds `n`, which may be negative. Reaches the file with the next {@link write}. */
  add(kind: CounterKind, value: string, n: number): void {
    if (n === 0) return
    this.#undo?.push([kind, value, n])
    bump(mapOf(this.#totals, kind), value, n)
    bump(mapOf(this.#changed, kind), value, n)
  }

  /** The count so far. */
  get(kind: CounterKind, value = ''): number {
    return this.#totals.get(kind)?.get(value) ?? 0
  }

  entries(kind: CounterKind): ReadonlyMap<string, number> {
    return this.#totals.get(kind) ?? new Map()
  }

  /**
   * A transaction begins: what is counted in it is undone by {@link rolledBack}. With `isApart` it writes only that,
   * and what was counted before waits for the transaction of what it counts.
   */
  begin(isApart = false): void {
    this.#undo = []
    this.#isApart = isApart
  }

  /** The transaction was undone, and with it what was counted since {@link begin}. */
  rolledBack(): void {
    const undo = this.#undo ?? []
    this.#undo = null
    for (const [kind, value, n] of undo) this.add(kind, value, -n)
  }

  /** Writes what changed since the last {@link committed}. The caller has a transaction open. */
  write(): void {
    if (this.#isApart) {
      for (const [kind, value, n] of this.#undo ?? []) this.#add.run(kind, value, n)
      return
    }
    for (const [kind, values] of this.#changed) {
      for (const [value, n] of values) this.#add.run(kind, value, n)
    }
  }

  /** Tells that what {@link write} wrote is committed, so that it is not written again. */
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

/** Causes of errors that are counted apart; further ones are counted together. */
const ERROR_GROUPS_MAX = 200
/** What stands for the messages of further causes. */
export const FURTHER_ERRORS = '(further errors, each with a message of its own)'

/** How a row ended, as far as rows that ended alike are told by it. */
export interface ErrorCause {
  state: ItemState
  status: number | null
  errorCode: string | null
  message: string | null
}

/** Counts rows that ended without success by their cause; others are not counted. */
export function countError(counters: Counters, cause: ErrorCause, rows: number): void {
  if (!isUnsuccessful(cause.state)) return
  const group = toGroup(cause)
  const groups = counters.entries('error')
  const isRoom = groups.has(group) || groups.size < ERROR_GROUPS_MAX
  counters.add('error', isRoom ? group : toFurther(cause.state), rows)
}

/** Takes rows back that {@link countError} counted, since they have succeeded after all. */
export function uncountError(counters: Counters, cause: ErrorCause, rows: number): void {
  if (!isUnsuccessful(cause.state)) return
  // Rows that found no room for a group of their own are among the further ones, and later ones may have found it.
  const group = toGroup(cause)
  const own = Math.min(rows, Math.max(0, counters.get('error', group)))
  counters.add('error', group, -own)
  counters.add('error', toFurther(cause.state), own - rows)
}

/** The group in which {@link countError} counted rows; null if it did not count them. */
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
