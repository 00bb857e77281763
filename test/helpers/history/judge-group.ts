import { judgeAnswers, judgeCallbacks } from './judge-answers.ts'
import type { Arrival } from './recording.ts'
import { isCorrected, isFail, isOk, type JudgedRow, type RowGroup } from './row-groups.ts'
import type { AttemptHistory } from './run-history.ts'
import { createFault, sayArrivals, sayRow, sayTries } from './say-fault.ts'
import type { Fault, FaultKind } from './verdict.ts'

/**
 * Statuses after which the same request may be sent again: it was certainly not accepted, or not completely,
 * or not with its key.
 */
const REPEATABLE: ReadonlySet<number> = new Set([401, 403, 408, 413, 429])

/** Statuses of a row that was certainly not accepted, whatever came before. */
const NOT_TAKEN: ReadonlySet<number> = new Set([401, 403, 408, 429])

/** Compares the journals about the rows of one id with what the service saw of them. */
export function judgeGroup(group: RowGroup, resentIndexAdds: boolean): Fault[] {
  const [first] = group.rows
  if (first === undefined) return []
  const faults = [
    ...group.rows.flatMap((row) => judgeConsent(row, resentIndexAdds)),
    ...judgeArrivals(group, first),
    ...judgeStates(group),
    ...judgeAnswers(group),
    ...judgeCallbacks(group),
  ]
  // A try that failed and arrived is found from both sides.
  const isFirst = ({ kind, row }: Fault, index: number) =>
    faults.findIndex((other) => other.kind === kind && other.row === row) === index
  return faults.filter(isFirst)
}

const toFault = (kind: FaultKind, { member, row }: JudgedRow, message: string): Fault =>
  createFault(kind, member, row, `${sayRow(row)}: ${message}`)

/** Within one journal, only a retry may follow a final answer. Across journals, the family is checked. */
function judgeConsent(judged: JudgedRow, resentIndexAdds: boolean): Fault[] {
  const mayRepeatUnknown = judged.operation !== 'index-add' || resentIndexAdds
  return judged.items.flatMap(({ attempts, retriedAfter }) =>
    attempts.flatMap((attempt, index) => {
      const next = attempts[index + 1]
      if (next === undefined || mayFollow(attempt, mayRepeatUnknown)) return []
      if (retriedAfter.has(attempt.number)) return []
      const message = `the journal has ${sayTries(attempts)}, and nobody agreed to repeat what was ${attempt.outcome}.`
      return [toFault('without-consent', judged, message)]
    }),
  )
}

function mayFollow({ outcome, status }: AttemptHistory, mayRepeatUnknown: boolean): boolean {
  if (outcome === 'rejected') return REPEATABLE.has(status ?? 0)
  return outcome === 'failed' || (outcome === 'unknown' && mayRepeatUnknown)
}

/** Each answer in the journal belongs to an arrival; each other arrival is a try without an answer. */
function judgeArrivals({ rows, arrivals }: RowGroup, first: JudgedRow): Fault[] {
  const tries = rows.flatMap((judged) => judged.tries)
  const left = [...arrivals]
  const faults: Fault[] = []
  const told = `the journal has ${sayTries(tries)}, the service got ${sayArrivals(arrivals)}.`
  for (const { outcome, status } of tries) {
    if (outcome === 'failed' || status === null) continue
    if (!take(left, (arrival) => arrival.status === status))
      faults.push(toFault('never-arrived', first, told))
  }
  for (const { outcome, status } of tries)
    if (outcome === 'unknown' && status === null) take(left, () => true)
  const extra = left.length - faults.length
  if (extra <= 0) return faults
  const wasTold = tries.some(({ outcome }) => outcome !== 'failed')
  return [...faults, toFault(wasTold ? 'sent-twice' : 'told-not-taken', first, told)]
}

function take(left: Arrival[], isWanted: (arrival: Arrival) => boolean): boolean {
  const index = left.findIndex(isWanted)
  if (index >= 0) left.splice(index, 1)
  return index >= 0
}

/** The reported state of each row must match what the service did with it. */
function judgeStates({ rows, arrivals: all }: RowGroup): Fault[] {
  const sent = rows.filter(({ tries }) => tries.length > 0)
  const [only] = sent
  if (only === undefined || sent.length > 1) return []
  const { state, item } = only.row
  // The state belongs to the row's current content; a row that is no longer sent has none. If the journal
  // says that a callback may belong to earlier content, either is accepted.
  if (item === null) return []
  const current = only.items.at(-1)?.requests[0]?.body
  const isInDoubt = only.row.answer === 'callback_in_doubt'
  const arrivals = isCorrected(only) && !isInDoubt ? all.filter(({ body }) => body === current) : all
  const wasTaken = arrivals.some(({ took }) => took === true)
  const last = only.tries.at(-1)
  const seen = `the journal says ${state}, the service got ${sayArrivals(arrivals)}.`
  const isSettledAs = (wanted: string) =>
    only.items.some(({ callbacks }) => callbacks.some(({ effect }) => effect === wanted))
  // The service accepted the row and refused it in a callback: the row's own, or one from before a retry.
  const isRefusedByTry = state === 'rejected' && NOT_TAKEN.has(last?.status ?? 0) && !isSettledAs('settled')
  if (wasTaken && (isFail(only) || isRefusedByTry) && !isSettledAs('settled_before'))
    return [toFault('told-not-taken', only, seen)]
  // A refusal that the connection lists as delivered means that an earlier run sent the row.
  const isRefusal = last?.outcome === 'succeeded' && (last.status ?? 0) >= 400
  const wasNotTaken = arrivals.length > 0 && arrivals.every(({ took }) => took === false)
  if (wasNotTaken && state === 'succeeded' && !isRefusal && !isInDoubt) {
    return [toFault('told-taken', only, seen)]
  }
  if (arrivals.length === 0 && isOk(only) && only.tries.every(({ outcome }) => outcome === 'unknown')) {
    return [toFault('never-arrived', only, seen)]
  }
  return []
}
