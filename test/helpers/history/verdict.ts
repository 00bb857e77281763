/** Disagreements between a journal and what the service saw. */
export type FaultKind =
  /** More requests arrived than the journal has tries. */
  | 'sent-twice'
  /** A try without consent, after a final answer. */
  | 'without-consent'
  /** A request was repeated with another body. */
  | 'body-changed'
  /** The journal has an answer to a request that the service never received. */
  | 'never-arrived'
  /** A row is reported as succeeded that the service did not accept. */
  | 'told-taken'
  /** A row is reported as certainly not accepted that the service accepted. */
  | 'told-not-taken'
  /** A row has an answer that the service gave to another row, or never gave. */
  | 'foreign-answer'
  /** The receiver accepted a callback for a row that is reported as unknown or overdue. */
  | 'callback-lost'
  /** A row has two states in the journals. */
  | 'two-states'
  /** A run that has ended has a row without a final state. */
  | 'unsettled'
  /** A request arrived with an id that no row of the run has. */
  | 'not-in-run'
  /** No journal has rows that the run or a retry has read. */
  | 'missing'
  /** Two of its counts differ. */
  | 'counts'

/** One disagreement. */
export interface Fault {
  kind: FaultKind
  /** Of the journal; null for what is in no journal. */
  runId: string | null
  row: number | null
  /** The row's identifier at the service. */
  id: string | null
  /** What the journal says and what the service saw, as a sentence. */
  message: string
}

/** The comparison of two histories. */
export interface HistoryVerdict {
  /** Rows that the service answered. */
  ok: number
  /** Rows that the service may or may not have accepted. */
  info: number
  /** Rows that the service certainly did not accept. */
  fail: number
  faults: readonly Fault[]
}
