import type { ResultRow } from '../../../shared/results.ts'
import type { ReportOptions, ReportWriter } from './csv-report.ts'

/**
 * A report of one JSON object a line, without a byte-order mark: `row`, `cells` by column name (an array where names
 * are not distinct or the row is wider than they are), `state`, `status`, `error_code`, `message`, `task_id`,
 * `post_id`, `triggered_rules`, `duration_ms`, `attempts`, `custom_index_item_id`, `answer` (what became of a term,
 * or where an appeal stands), `callback_latency_ms`. Always lossless.
 */
export function createJsonlWriter({ columns }: Pick<ReportOptions, 'columns'>): ReportWriter {
  const areDistinct = new Set(columns).size === columns.length
  const names = columns.map((name) => `${JSON.stringify(name)}:`)
  const toCells = (cells: readonly string[]): string => {
    if (!areDistinct || cells.length > names.length) return JSON.stringify(cells)
    // Written by hand: an object would put names that are numbers first, and lose `__proto__`.
    return `{${cells.map((cell, index) => `${names[index] ?? ''}${JSON.stringify(cell)}`).join(',')}}`
  }
  return {
    header: () => '',
    row(result) {
      const rest = JSON.stringify(toDocument(result)).slice(1)
      return `{"row":${result.row},"cells":${toCells(result.cells)},${rest}\n`
    },
  }
}

function toDocument(result: ResultRow) {
  return {
    state: result.state,
    status: result.status,
    error_code: result.errorCode,
    message: result.message,
    task_id: result.taskId,
    post_id: result.postId,
    triggered_rules: result.triggeredRules.map(({ ruleId, ruleName }) => ({
      rule_id: ruleId,
      rule_name: ruleName,
    })),
    duration_ms: result.durationMs,
    attempts: result.attempts,
    custom_index_item_id: result.customIndexItemId,
    answer: result.answer,
    callback_latency_ms: result.callbackLatencyMs,
  }
}
