import type { Outcome } from '../../../shared/item-state.ts'

/**
 * Whether trying again could add the content a second time. `never`: the answer is final. `safe`: certainly not
 * taken. `ambiguous`: may have been taken; repeating it is right only where the operation can bear that (design §2).
 */
export type Repeat = 'never' | 'safe' | 'ambiguous'

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
  /** Each rule once. */
  rules: { ruleId: string; ruleName: string }[]
  classes: { className: string; score: number }[]
  fromCache: boolean
  /** What the service asked us to wait, milliseconds; null where it did not. */
  retryAfterMs: number | null
}
