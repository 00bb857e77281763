import type { Judgement } from './judgement.ts'

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
