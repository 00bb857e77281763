import { type DatabaseSync, hasColumn } from '../workspace/sqlite.ts'

/** Whether the tries of a journal have trace contexts: the column is made with the first, so that no other run pays for it. */
export function hasTraces(db: DatabaseSync): boolean {
  return hasColumn(db, 'attempt', 'traceparent')
}

/** Makes room for trace contexts if there is none. The caller has a transaction open. */
export function makeRoomForTraces(db: DatabaseSync): void {
  if (!hasTraces(db)) db.exec('ALTER TABLE attempt ADD COLUMN traceparent TEXT')
}

/** The trace id of a trace context, by which tools find the trace. */
export function toTraceId(traceparent: string): string {
  return traceparent.split('-')[1] ?? ''
}
