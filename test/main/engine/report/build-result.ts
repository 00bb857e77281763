import type { ResultRow } from '../../../../src/shared/results.ts'

/** A row of results with what a test names; the rest is a plain success. */
export function buildResult(parts: Partial<ResultRow> = {}): ResultRow {
  return {
    row: 1,
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
    ...parts,
  }
}
