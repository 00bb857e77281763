/** The views that a statement can read; their columns are an interface (docs/sql.md). */
export const SQL_VIEWS = {
  rows: [
    ...['run', 'row', 'record', 'file', 'state', 'status', 'error_code', 'message', 'task_id', 'duration_ms'],
    ...['attempts', 'custom_index_item_id', 'answer', 'callback_latency_ms'],
  ],
  answers: ['run', 'row', 'record', 'body'],
  scores: ['run', 'row', 'record', 'class', 'score'],
  rules: ['run', 'row', 'record', 'rule_id', 'rule_name'],
  tries: [
    ...['run', 'row', 'record', 'number', 'sent_in_run', 'sent_at', 'outcome', 'status', 'error_code'],
    ...['message', 'duration_ms', 'trace_id'],
  ],
} as const
