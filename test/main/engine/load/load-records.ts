import type { LoadUpdate } from '../../../../src/main/engine/load/load-threads.ts'
import { FIELD, FLAG, RECORD_NUMBERS } from '../../../../src/main/engine/load/request-record.ts'
import type { Outcome } from '../../../../src/shared/run/item-state.ts'
import { OUTCOMES } from '../../../../src/shared/run/item-state.ts'

/** A measured request as tests describe it; times are in milliseconds, and omitted ones did not happen. */
export interface TestRequest {
  sequence?: number
  /** Since measuring began. */
  endMs: number
  durationMs?: number
  waitingMs?: number
  connectMs?: number
  responseMs?: number
  lagMs?: number
  status?: number | null
  /** Its answer broke off. */
  isCut?: boolean
  outcome?: Outcome
  flags?: (keyof typeof FLAG)[]
  contentBytes?: number
  model?: number
  error?: number
  retryAfterMs?: number
  blockedMs?: number
  sendingMs?: number
  receivingMs?: number
  /** Another try of its row follows. */
  isRepeated?: boolean
  sentBytes?: number
  receivedBytes?: number
  rowTags?: number
  /** How long its answer may have waited unread. */
  unreadMs?: number
}

/** The report of a sending thread on these requests. */
export function toRecords(
  requests: readonly TestRequest[],
  parts: Partial<Extract<LoadUpdate, { kind: 'records' }>> = {},
): Extract<LoadUpdate, { kind: 'records' }> {
  const records = new Float64Array(requests.length * RECORD_NUMBERS).fill(Number.NaN)
  for (const [index, request] of requests.entries()) {
    const record = records.subarray(index * RECORD_NUMBERS, (index + 1) * RECORD_NUMBERS)
    const { outcome = 'succeeded', flags = ['timed'], durationMs = 10, status = 200 } = request
    record[FIELD.sequence] = request.sequence ?? index
    record[FIELD.endUs] = request.endMs * 1000
    record[FIELD.durationUs] = durationMs * 1000
    record[FIELD.waitingUs] = (request.waitingMs ?? Number.NaN) * 1000
    record[FIELD.connectUs] = (request.connectMs ?? Number.NaN) * 1000
    record[FIELD.responseUs] = (request.responseMs ?? Number.NaN) * 1000
    record[FIELD.lagUs] = (request.lagMs ?? Number.NaN) * 1000
    record[FIELD.status] = status ?? Number.NaN
    record[FIELD.outcome] = OUTCOMES.indexOf(outcome)
    record[FIELD.flags] = [...new Set([...flags, ...toWhatHappened(request)])].reduce(
      (sum, flag) => sum + FLAG[flag],
      0,
    )
    record[FIELD.position] = 0
    record[FIELD.contentBytes] = request.contentBytes ?? 50
    record[FIELD.model] = request.model ?? 0
    record[FIELD.error] = request.error ?? Number.NaN
    record[FIELD.retryAfterMs] = request.retryAfterMs ?? Number.NaN
    record[FIELD.blockedUs] = (request.blockedMs ?? 0) * 1000
    record[FIELD.sendingUs] = (request.sendingMs ?? 0) * 1000
    record[FIELD.receivingUs] = (request.receivingMs ?? 0) * 1000
    record[FIELD.iterationUs] = request.isRepeated ? Number.NaN : durationMs * 1000
    record[FIELD.sentBytes] = request.sentBytes ?? 0
    record[FIELD.receivedBytes] = request.receivedBytes ?? 0
    record[FIELD.rowTags] = request.rowTags ?? 0
    record[FIELD.unreadUs] = (request.unreadMs ?? 0) * 1000
  }
  return {
    kind: 'records',
    warmupAnswers: 0,
    index: 0,
    records,
    kept: [],
    errors: [],
    models: [[0, '']],
    inFlight: 0,
    ...parts,
  }
}

/** A request with a status was answered, and one with a duration was sent, unless stated otherwise. */
function toWhatHappened({
  status = 200,
  flags = ['timed'],
  isCut = false,
}: TestRequest): (keyof typeof FLAG)[] {
  return [
    ...(flags.includes('timed') ? ['sent' as const] : []),
    ...(status === null || isCut ? [] : ['answered' as const]),
  ]
}
