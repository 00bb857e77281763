import type { Arrival } from './recording.ts'
import type { AttemptHistory, MemberHistory, RowHistory } from './run-history.ts'
import type { Fault, FaultKind, HistoryVerdict } from './verdict.ts'

/** Creates a fault about a row. */
export function createFault(
  kind: FaultKind,
  { runId }: MemberHistory,
  { row, id }: RowHistory,
  message: string,
): Fault {
  return { kind, runId, row, id, message }
}

/** Names a row by its record's number, as the beginning of a sentence. */
export function sayRow({ row, id }: Pick<RowHistory, 'row' | 'id'>): string {
  return id === null ? `Record ${row}` : `Record ${row} (${JSON.stringify(id)})`
}

/** The journals' requests of a row: `2 requests (unknown 503, succeeded 200)`. */
export function sayTries(tries: readonly AttemptHistory[]): string {
  const told = tries.map(({ outcome, status }) => (status === null ? outcome : `${outcome} ${status}`))
  return sayRequests(told)
}

/** A row's requests that the service saw: `2 requests (503, 200 and taken)`. */
export function sayArrivals(arrivals: readonly Arrival[]): string {
  const seen = arrivals.map(
    ({ status, took }) => `${status ?? 'no answer'}${took === true ? ' and taken' : ''}`,
  )
  return sayRequests(seen)
}

function sayRequests(each: readonly string[]): string {
  if (each.length === 0) return 'no request'
  return `${each.length} ${each.length === 1 ? 'request' : 'requests'} (${each.join(', ')})`
}

/** A verdict as lines: how many rows ended in which way, and each fault. */
export function sayVerdict({ ok, info, fail, faults }: HistoryVerdict): string {
  const width = Math.max(0, ...faults.map(({ kind }) => kind.length))
  return [
    `${ok + info + fail} rows: ${ok} ok, ${info} info, ${fail} fail`,
    faults.length === 0 ? 'no faults' : `${faults.length} ${faults.length === 1 ? 'fault' : 'faults'}:`,
    ...faults.map(({ kind, message }) => `  ${kind.padEnd(width)}  ${message}`),
    '',
  ].join('\n')
}
