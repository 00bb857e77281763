import type { StoredState } from '../../../src/main/engine/journal/run-record.ts'
import type { Operation } from '../../../src/shared/operations/operations.ts'
import type { Outcome, RowState } from '../../../src/shared/run/item-state.ts'
import type { RowCounts } from '../../../src/shared/run/run.ts'

/** A run with its retries, as their journals tell it. */
export interface RunHistory {
  /** Of the first run. */
  runId: string
  operation: Operation['kind']
  /** The run and its retries, oldest first. */
  members: readonly MemberHistory[]
  /** What the summary of the whole tells a person. */
  told: { rows: RowCounts; requestsSent: number }
}

/** One journal. */
export interface MemberHistory {
  runId: string
  state: StoredState
  /** It was sending when its process died: what it had marked and has no outcome for is unknown. */
  isCutOff: boolean
  /** The retries that took rows of it over: what did not succeed, unknown rows, invalid ones. */
  takenBy: { rest: string | null; unknown: string | null; invalid: string | null }
  /** States of rows that a retry takes without asking, and those it takes only with consent. */
  retried: { rest: readonly RowState[]; unknown: readonly RowState[] }
  rowsRead: number
  rows: readonly RowHistory[]
  /** By the number of the item, which is that of its first row. */
  items: ReadonlyMap<number, ItemHistory>
  /** The journal's counters, by kind and value. */
  counters: ReadonlyMap<string, ReadonlyMap<string, number>>
  /** What the tables hold of what is counted, by kind and value. */
  tables: ReadonlyMap<string, ReadonlyMap<string, number>>
  /** Sums of the per-second table. */
  seconds: Readonly<Record<Outcome | 'sent', number>>
}

/** One row of a journal. */
export interface RowHistory {
  row: number
  /** The item that carries it; null if it is never sent. */
  item: number | null
  /** The item that it was sent with, also if a correction has made it invalid or left it out since. */
  sentItem: number | null
  /** As a person is shown it. */
  state: RowState
  /** As the journal has it; null if it has nothing of the row. */
  stored: RowState | null
  /** What the journal says of its answer or callbacks, in a word. */
  answer: string | null
  /** How often it was tried in this run, as its result says. */
  attempts: number
  /** What the service knows it by; null if it has nothing of the kind. */
  id: string | null
  /** What it was known by before corrections. */
  formerIds: readonly string[]
  /** Tries of its item that it had no part in, since a correction had made it invalid or left it out. */
  triesWithout: ReadonlySet<number>
  /** Identifier of an index item that its answer gave it. */
  customIndexItemId: string | null
}

/** An item of a journal, with what came of it. */
export interface ItemHistory {
  item: number
  /** Path and query. */
  path: string
  /** What it was sent as: with all its rows, and by retries with those that had not succeeded. */
  requests: readonly {
    rows: readonly number[]
    /** SHA-256 of the body, hex; null if it cannot be made again, because the receiver's settings are elsewhere. */
    body: string | null
  }[]
  attempts: readonly AttemptHistory[]
  /** Numbers of the tries after which a retry put the item back into the queue, with the consent that it needed. */
  retriedAfter: ReadonlySet<number>
  /** The last answer to rows by how often they were tried; none if it was not read, or if it settled no row. */
  answers: ReadonlyMap<number, StoredText>
  callbacks: readonly { effect: string; body: StoredText }[]
}

/** One try. */
export interface AttemptHistory {
  number: number
  outcome: Outcome
  status: number | null
}

/** A text as a journal keeps it: secrets are taken out, and a long one is cut. */
export interface StoredText {
  text: string
  isCut: boolean
}
