/** The columns that a CSV export appends to those of the source, in order (design §4). */
export const EXPORT_COLUMNS = [
  'sluice_row',
  'sluice_state',
  'sluice_status',
  'sluice_error_code',
  'sluice_message',
  'sluice_task_id',
  'sluice_post_id',
  'sluice_triggered_rules',
  'sluice_duration_ms',
  'sluice_attempts',
  'sluice_custom_index_item_id',
  'sluice_term_outcome',
  'sluice_appeal_status',
] as const

/** Whether a header is that of one of our own exports: it ends with all of {@link EXPORT_COLUMNS}. */
export function isExportHeader(header: readonly string[]): boolean {
  const own = header.slice(-EXPORT_COLUMNS.length)
  return own.length === EXPORT_COLUMNS.length && EXPORT_COLUMNS.every((name, index) => own[index] === name)
}
