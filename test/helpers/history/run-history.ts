import type { StoredState } from '../../../src/main/engine/journal/run-record.ts'
import type { Operation } from '../../../src/shared/operations/operations.ts'
import type { Outcome, RowState } from '../../../src/shared/run/item-state.ts'
import type { RowCounts } from '../../../src/shared/run/run.ts'

/** A run with its retries, according to their journals. */
export interface RunHistory {
  /** Id of the first run. */
  runId: string
  operation: Operation['kind']
  /** The run and its retries, oldest first. */
  members: readonly MemberHistory[]
  /** The counts in the summary of the whole. */
  told: { rows: RowCounts; requestsSent: number }
}

/** One journal. */
export interface MemberHistory {
  runId: string
  state: StoredState
  /** Its process died while sending: items that were marked and have no outcome are unknown. */
  isCutOff: boolean
  /** The retries that took over its rows: unsuccessful ones, unknown ones, invalid ones. */
  takenBy: { rest: string | null; unknown: string | null; invalid: string | null }
  /** States of rows that a retry takes without asking, and those that need consent. */
  retried: { rest: readonly RowState[]; unknown: readonly RowState[] }
  rowsRead: number
  rows: readonly RowHistory[]
  /** By the item's number, which is that of its first row. */
  items: ReadonlyMap<number, ItemHistory>
  /** The journal's counters, by kind and value. */
  counters: ReadonlyMap<string, ReadonlyMap<string, number>>
  /** The same counts computed from the tables, by kind and value. */
  tables: ReadonlyMap<string, ReadonlyMap<string, number>>
  /** Sums of the per-second table. */
  seconds: Readonly<Record<Outcome | 'sent', number>>
}

/** One row of a journal. */
export interface RowHistory {
  row: number
  /** The item with the row; null if the row is never sent. */
  item: number | null
  /** The item with which the row was sent, even if a correction has since made it invalid or left it out. */
  sentItem: number | null
  /** As shown to people. */
  state: RowState
  /** As in the journal; null if the journal does not have the row. */
  stored: RowState | null
  /** The journal's word about its answer or callbacks. */
  answer: string | null
  /** Number of tries in this run, according to its result. */
  attempts: number
  /** Its identifier at the service; null if it has none. */
  id: string | null
  /** Its identifiers before corrections. */
  formerIds: readonly string[]
  /** Tries of its item without the row, since a correction had made it invalid or left it out. */
  triesWithout: ReadonlySet<number>
  /** An index item's identifier from its answer. */
  customIndexItemId: string | null
}

/** An item of a journal, with its outcome. */
export interface ItemHistory {
  item: number
  /** Path and query. */
  path: string
  /** Its requests: with all of its rows, and in retries with the unsuccessful ones. */
  requests: readonly {
    rows: readonly number[]
    /** SHA-256 of the body, hex; null if it cannot be recreated: the receiver's settings are elsewhere. */
    body: string | null
  }[]
  attempts: readonly AttemptHistory[]
  /**
   * Numbers of the tries after which a retry put the item back into the queue, with the necessary consent.
   */
  retriedAfter: ReadonlySet<number>
  /** The last answer to rows, by number of tries; empty if it was not read, or settled no row. */
  answers: ReadonlyMap<number, StoredText>
  callbacks: readonly { effect: string; body: StoredText }[]
}

/** One try. */
export interface AttemptHistory {
  number: number
  outcome: Outcome
  status: number | null
}

/** A text in a journal, without secrets, and cut if it is long. */
export interface StoredText {
  text: string
  isCut: boolean
}
