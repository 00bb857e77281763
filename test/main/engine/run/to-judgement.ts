import type { Judgement } from '../../../../src/main/engine/service/judgement.ts'

/** The judgement of a task that succeeded, changed as told. */
export function toJudgement(parts: Partial<Judgement> = {}): Judgement {
  return {
    outcome: 'succeeded',
    repeat: 'never',
    reached: true,
    status: 200,
    errorCode: null,
    message: null,
    taskId: 't',
    postId: null,
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
