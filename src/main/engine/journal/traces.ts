import { type DatabaseSync, hasColumn } from '../workspace/sqlite.ts'

/** Whether a journal's tries have trace contexts: the first adds the column, and other runs do not pay. */
export function hasTraces(db: DatabaseSync): boolean {
  return hasColumn(db, 'attempt', 'traceparent')
}

/** Adds the column for trace contexts if it is missing. The caller has a transaction open. */
export function makeRoomForTraces(db: DatabaseSync): void {
  if (!hasTraces(db)) db.exec('ALTER TABLE attempt ADD COLUMN traceparent TEXT')
}

/** The trace id of a trace context, by which tools find the trace. */
export function toTraceId(traceparent: string): string {
  return traceparent.split('-')[1] ?? ''
}
