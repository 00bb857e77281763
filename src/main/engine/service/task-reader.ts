import type { TaskOperation } from '../../../shared/plan/plan.ts'
import { judgeAcknowledgement, OWN_CALLBACK } from './acknowledgements.ts'
import { createJudgement } from './create-judgement.ts'
import type { AnswerReader } from './judge-exchange.ts'
import type { Judgement } from './judgement.ts'
import { judgeTaskResult, judgeV2TaskResult } from './task-answers.ts'

/** Reads the answers to tasks (docs/interface.md §2.2, §2.3, §4.1, §4.2); `deliveredCodes` say "delivered before". */
export function createTaskReader(operation: TaskOperation, deliveredCodes: readonly string[]): AnswerReader {
  const isAsync = operation.mode === 'async'
  const judgeResult = operation.api === 'v2' ? judgeV2TaskResult : judgeTaskResult
  return {
    isRepeatable: true,
    readSuccess: ({ status }, body, rowKeys) => {
      if (!isAsync) return judgeResult(body, status)
      const result = judgeResult(body, status)
      return result?.outcome === 'rejected' ? result : judgeAcknowledgement(body, status, rowKeys)
    },
    readRefusal: ({ status, errorCode }, rowKeys) => {
      if (errorCode === null || !deliveredCodes.includes(errorCode)) return null
      return toDelivered(status, errorCode, isAsync && !rowKeys.includes(OWN_CALLBACK))
    },
  }
}

/** A delivery whose answer was lost still completes with a callback; a sync one has no second answer. */
function toDelivered(status: number, errorCode: string, isAcknowledgement: boolean): Judgement {
  const what = isAcknowledgement
    ? 'the callback of that delivery is awaited'
    : 'the result of that delivery is lost'
  const message = `was delivered before, by an earlier try or run; ${what}`
  const isResultLost = !isAcknowledgement
  return createJudgement({
    outcome: 'succeeded',
    status,
    errorCode,
    message,
    isAcknowledgement,
    isResultLost,
  })
}
