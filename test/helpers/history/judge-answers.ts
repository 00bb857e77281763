import type { RowState } from '../../../src/shared/run/item-state.ts'
import { type Arrival, parseObject } from './recording.ts'
import { isOk, type JudgedRow, type RowGroup } from './row-groups.ts'
import type { StoredText } from './run-history.ts'
import { createFault, sayRow } from './say-fault.ts'
import type { Fault } from './verdict.ts'

/** Replaces a removed secret in a journal. */
const REDACTED = '[redacted]'

/** Fields that say what an answer is about (docs/interface.md §2.2, §2.4, §2.6). */
const ECHOES = ['post_id', 'custom_index_item_id', 'appeal_id']

const AWAITING: ReadonlySet<RowState> = new Set(['unknown', 'overdue', 'acknowledged'])

/** Effects of a callback that leaves a row that awaits one without its outcome. */
const WITHOUT_OUTCOME: ReadonlySet<string> = new Set(['settled_before', 'unreadable', 'other_post'])

/** Effects of a callback that arrived for a refused row before a retry resent it. */
const LEFT_BY: ReadonlySet<string> = new Set(['differing', 'doubled'])

/**
 * A callback that the receiver accepted settles its row, unless it does not tell its outcome, or a retry or
 * correction resent it since.
 */
export function judgeCallbacks({ rows, callbacks }: RowGroup): Fault[] {
  const [only] = rows
  if (only === undefined || rows.length > 1 || !AWAITING.has(only.row.state)) return []
  const { member, row, items } = only
  const isRetried = items.some(({ retriedAfter }) => retriedAfter.size > 0)
  const before = items
    .flatMap((item) => item.callbacks)
    .filter(({ effect }) => WITHOUT_OUTCOME.has(effect) || (isRetried && LEFT_BY.has(effect)))
  const accepted = callbacks.filter(
    ({ status, body }) => status === 200 && !before.some((one) => isSame(one.body, body)),
  )
  if (accepted.length === 0) return []
  const message = `${sayRow(row)} is ${row.state}, and its callback was accepted: ${cut(accepted[0]?.body ?? '')}`
  return [createFault('callback-lost', member, row, message)]
}

/** Every answered row has its own answer: one that the service gave to a request with this id. */
export function judgeAnswers({ id, rows, arrivals, callbacks }: RowGroup): Fault[] {
  // That nothing arrived is reported elsewhere.
  if (arrivals.length === 0) return []
  const left = [...arrivals]
  return rows.filter(isOk).flatMap((judged) => {
    const { answer, callback } = findAnswers(judged)
    if (answer === null && callback === null) return [toFault(judged, 'has an end and no answer.')]
    const faults: Fault[] = []
    if (answer !== null && !takeAnswer(left, answer)) {
      faults.push(
        toFault(judged, `has an answer that the service gave to none of its requests: ${cut(answer.text)}`),
      )
    }
    const posted = callbacks.map(({ body }) => body)
    if (callback !== null && posted.length > 0 && !posted.some((body) => isSame(callback, body))) {
      faults.push(
        toFault(judged, `has a callback that the service never posted for it: ${cut(callback.text)}`),
      )
    }
    const named = [answer, callback]
      .map((text) => findOther(judged, id, text))
      .find((other) => other !== null)
    if (named !== undefined)
      faults.push(toFault(judged, `has an answer that names ${JSON.stringify(named)}.`))
    return faults.slice(0, 1)
  })
}

function toFault({ member, row }: JudgedRow, message: string): Fault {
  return createFault('foreign-answer', member, row, `${sayRow(row)} ${message}`)
}

/** A row's newest answer, and the callback that settled it. */
function findAnswers({ items, row }: JudgedRow): { answer: StoredText | null; callback: StoredText | null } {
  const newest = items.at(-1)
  const settled = newest?.callbacks.find(({ effect }) => effect === 'settled')
  return { answer: newest?.answers.get(row.attempts) ?? null, callback: settled?.body ?? null }
}

/** Removes the arrival with this answer; if the text is unknown, any answered arrival. */
function takeAnswer(left: Arrival[], answer: StoredText): boolean {
  const exact = left.findIndex((arrival) => arrival.answer !== null && isSame(answer, arrival.answer))
  const index =
    exact >= 0 ? exact : left.findIndex((arrival) => arrival.answer === null && arrival.status !== null)
  if (index >= 0) left.splice(index, 1)
  return index >= 0
}

function isSame({ text, isCut }: StoredText, whole: string): boolean {
  const given = isCut ? whole.slice(0, text.length) : whole
  if (text === given) return true
  const [first = '', ...rest] = text.split(REDACTED)
  const last = rest.pop()
  if (last === undefined || !given.startsWith(first) || !given.endsWith(last)) return false
  let at = first.length
  for (const part of rest) {
    const found = given.indexOf(part, at)
    if (found < 0) return false
    at = found + part.length
  }
  return at <= given.length - last.length
}

/** The other row that an answer names; null if it names this row or none. */
function findOther({ row }: JudgedRow, id: string, answer: StoredText | null): string | null {
  const body = parseObject(answer?.text ?? null)
  for (const field of ECHOES) {
    const named = body[field]
    if (typeof named !== 'string') continue
    // The answer gives an index item its identifier.
    const expected = field === 'custom_index_item_id' ? (row.customIndexItemId ?? id) : id
    if (named !== expected) return named
  }
  return null
}

function cut(text: string): string {
  return text.length > 200 ? `${text.slice(0, 200)}…` : text
}
