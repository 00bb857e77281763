/** What can be wrong between what a journal tells and what the service saw. */
export type FaultKind =
  /** More requests arrived than the journal has tries for. */
  | 'sent-twice'
  /** A try that nobody agreed to, behind an answer that was final. */
  | 'without-consent'
  /** A request was sent again with another body. */
  | 'body-changed'
  /** The journal tells of an answer to a request that the service never got. */
  | 'never-arrived'
  /** A row succeeded that the service did not take. */
  | 'told-taken'
  /** What the journal says was certainly not taken was. */
  | 'told-not-taken'
  /** A row has an answer that the service gave to another one, or never gave. */
  | 'foreign-answer'
  /** The receiver accepted a callback of a row that is told as unknown or overdue. */
  | 'callback-lost'
  /** A row has two states in the journals. */
  | 'two-states'
  /** A run that has ended has a row without an end. */
  | 'unsettled'
  /** A request arrived, and no row of the run is known by its id. */
  | 'not-in-run'
  /** Rows that the run has read, or a retry of it, are in no journal. */
  | 'missing'
  /** Two of its counts differ. */
  | 'counts'

/** One thing that is wrong. */
export interface Fault {
  kind: FaultKind
  /** Of the journal; null for what is in none. */
  runId: string | null
  row: number | null
  /** What the service knows the row by. */
  id: string | null
  /** What the journal says and what the service saw, in a sentence. */
  message: string
}

/** What two histories say of each other. */
export interface HistoryVerdict {
  /** Rows that the service answered. */
  ok: number
  /** Rows that it may or may not have taken. */
  info: number
  /** Rows that it certainly did not take. */
  fail: number
  faults: readonly Fault[]
}
