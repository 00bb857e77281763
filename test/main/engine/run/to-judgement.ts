import { VERIFIED } from '../../../../src/main/engine/service/echoes.ts'
import type { Judgement } from '../../../../src/main/engine/service/judgement.ts'
import { NO_NAMES } from '../../../../src/shared/service/answer-findings.ts'

/** The judgement of a successful task, with the given changes. */
export function toJudgement(parts: Partial<Judgement> = {}): Judgement {
  return {
    outcome: 'succeeded',
    repeat: 'never',
    reached: true,
    status: 200,
    errorCode: null,
    message: null,
    taskId: 't',
    customIndexItemId: null,
    answer: null,
    rows: null,
    isAcknowledgement: false,
    isTooLarge: false,
    isDelivered: false,
    rules: [],
    classes: [],
    names: NO_NAMES,
    fromCache: false,
    echo: VERIFIED,
    retryAfterMs: null,
    ...parts,
  }
}
