import type { ResultRow } from '../../../shared/results.ts'
import { isAppealAnswer } from '../../../shared/row-answer.ts'

/** The cells of `EXPORT_COLUMNS` for one row, in their order; '' where there is nothing to say. */
export function toExportCells(result: ResultRow): string[] {
  const { answer } = result
  return [
    String(result.row),
    result.state,
    result.status === null ? '' : String(result.status),
    result.errorCode ?? '',
    result.message ?? '',
    result.taskId ?? '',
    result.postId ?? '',
    result.triggeredRules.map(({ ruleId, ruleName }) => (ruleName === '' ? ruleId : ruleName)).join('; '),
    result.durationMs === null ? '' : String(Math.round(result.durationMs * 1000) / 1000),
    String(result.attempts),
    result.customIndexItemId ?? '',
    answer === null || isAppealAnswer(answer) ? '' : answer,
    answer === null || !isAppealAnswer(answer) ? '' : answer,
  ]
}
