import type { Outcome, RowAnswer } from '../../../shared/run/item-state.ts'

/**
 * Whether trying again could add the content a second time. `never`: the answer is final. `safe`: certainly not taken.
 * `ambiguous`: may have been taken; repeat it only if the operation allows that (docs/architecture.md
 * §2.2).
 */
type Repeat = 'never' | 'safe' | 'ambiguous'

/** What an answer says of one row of an item that carries several (watchlist terms). */
export interface RowJudgement {
  /** `rejected` for terms that failed or do not exist. */
  outcome: 'succeeded' | 'rejected'
  answer: RowAnswer
  message: string | null
}

/** What an exchange means for its item. */
export interface Judgement {
  outcome: Outcome
  repeat: Repeat
  /** Whether the service was reached at all; false for DNS, connect and TLS failures. */
  reached: boolean
  status: number | null
  errorCode: string | null
  /** Null where all went well. */
  message: string | null
  taskId: string | null
  /** Identifier of an item of a custom index, where the answer names one (docs/interface.md §2.4). */
  customIndexItemId: string | null
  /** Null for operations that have none, and where `rows` says it for each row. */
  answer: RowAnswer | null
  /** One for each of the item's rows, in their order, where the answer tells them apart; else null. */
  rows: readonly RowJudgement[] | null
  /** `succeeded` was an acknowledgement: a callback completes the item (docs/interface.md §6). */
  isAcknowledgement: boolean
  /** The request was refused as a whole for its size: its rows are sent again in two smaller ones. */
  isTooLarge: boolean
  /** The item was delivered before, and the result of that delivery is lost. */
  isResultLost: boolean
  /** Each rule once. */
  rules: { ruleId: string; ruleName: string }[]
  classes: { className: string; score: number }[]
  fromCache: boolean
  /** What the service asked us to wait, milliseconds; null where it did not. */
  retryAfterMs: number | null
}

/** A final judgement of a service that was reached, changed as told. */
export function createJudgement(parts: Pick<Judgement, 'outcome'> & Partial<Judgement>): Judgement {
  return {
    repeat: 'never',
    reached: true,
    status: null,
    errorCode: null,
    message: null,
    taskId: null,
    customIndexItemId: null,
    answer: null,
    rows: null,
    isAcknowledgement: false,
    isTooLarge: false,
    isResultLost: false,
    rules: [],
    classes: [],
    fromCache: false,
    retryAfterMs: null,
    ...parts,
  }
}
