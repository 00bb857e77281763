import { type ReportOptions, toTable } from '../../../../../src/main/engine/run/export/csv-report.ts'
import { toExportColumns } from '../../../../../src/shared/run/export-columns.ts'
import type { ExportRow } from '../../../../../src/shared/run/results.ts'
import { NO_CONTENT } from '../../../../../src/shared/service/answer-content.ts'

/** A results row with the given members and otherwise a plain success. */
export function buildResult(parts: Partial<ExportRow> = {}): ExportRow {
  return {
    row: 1,
    place: { row: 2, line: null },
    state: 'succeeded',
    status: 200,
    errorCode: null,
    message: null,
    taskId: 't1',
    postId: 'p1',
    customIndexItemId: null,
    answer: null,
    triggeredRules: [],
    durationMs: 12.3456,
    callbackLatencyMs: null,
    attempts: 1,
    cells: ['a', 'b'],
    kinds: null,
    tries: [],
    exchangeInRow: null,
    request: null,
    response: null,
    callbacks: [],
    classScores: [],
    content: NO_CONTENT,
    termNotes: null,
    ...parts,
  }
}

/** A report of a run of tasks without scores, with the given parts. */
export function buildOptions(columns: readonly string[], parts: Partial<ReportOptions> = {}): ReportOptions {
  const table = toTable(columns, toExportColumns('task', {}))
  return { columns, header: columns, table, lossless: false, ...parts }
}
