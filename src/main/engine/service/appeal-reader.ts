import type { RowAnswer } from '../../../shared/run/item-state.ts'
import { isJsonObject, type JsonObject, toTextOrNull } from '../../../shared/service/json-object.ts'
import { judgeFailure } from './index-reader.ts'
import { createJudgement, cutMessage, type Judgement, type OperationReader } from './judgement.ts'

/** Reads the state of an appeal (docs/interface.md §2.6, §4.7). */
export const APPEAL_READER: OperationReader = {
  readSuccess: ({ status }, body) => judgeFailure(body, status) ?? judgeAppeal(body, status),
  readRefusal: () => null,
}

function judgeAppeal(body: unknown, status: number): Judgement | null {
  const read = readAppeal(body)
  if (read === null) return null
  return createJudgement({
    outcome: 'succeeded',
    status,
    answer: read.answer,
    message: cutMessage(read.text),
  })
}

/** Describes an appeal's state and decision in full; null if an answer does not contain them. */
export function describeAppeal(body: unknown): string | null {
  return readAppeal(body)?.text ?? null
}

function readAppeal(body: unknown): { answer: RowAnswer; text: string } | null {
  const appeal = isJsonObject(body) ? body['appeal'] : null
  if (!isJsonObject(body) || !isJsonObject(appeal)) return null
  const appealStatus = toTextOrNull(appeal['appeal_status'])
  if (appealStatus === null) return null
  const judgment = isJsonObject(appeal['appeal_judgment']) ? appeal['appeal_judgment'] : null
  const overturned = judgment?.['overturned'] ?? null
  const answer = toAnswer(appealStatus, overturned)
  const parts = [
    answer === 'overturned' || answer === 'upheld'
      ? `${appealStatus}: ${answer}`
      : `${appealStatus}${sayUnread(overturned)}`,
    toJudgmentText(judgment),
    toDecisionText(body['original_decision']),
  ]
  return { answer, text: parts.join('; ') }
}

function toAnswer(status: string, overturned: unknown): RowAnswer {
  const words = status.toLowerCase().replace(/[\s_-]+/g, ' ')
  if (words === 'in review') return 'in_review'
  if (words !== 'reviewed') return 'other_status'
  if (overturned === null) return 'reviewed'
  const says = readFlag(overturned)
  // A judgment that says something else is not one that leaves this open.
  if (says === null) return 'other_status'
  return says ? 'overturned' : 'upheld'
}

/** A boolean, also one that the service wrote as text; null for anything else. */
function readFlag(value: unknown): boolean | null {
  if (typeof value === 'boolean') return value
  const word = typeof value === 'string' ? value.trim().toLowerCase() : ''
  return word === 'true' ? true : word === 'false' ? false : null
}

function sayUnread(overturned: unknown): string {
  if (overturned === null || readFlag(overturned) !== null) return ''
  return `, but \`overturned\` is ${JSON.stringify(overturned)}, not true or false`
}

function toJudgmentText(judgment: JsonObject | null): string {
  if (judgment === null) return 'no judgment'
  const action = toTextOrNull(judgment['action_name']) ?? toTextOrNull(judgment['action_id'])
  const reasons = toReasonsText(judgment['action_reasons'])
  return `judgment: ${action ?? 'no action named'}${reasons}`
}

/** An empty object means no decision (docs/interface.md §2.6). */
function toDecisionText(decision: unknown): string {
  if (!isJsonObject(decision) || Object.keys(decision).length === 0) return 'no original decision'
  const action = toTextOrNull(decision['display_name']) ?? toTextOrNull(decision['action_id'])
  return `original decision: ${action ?? 'no action named'}${toReasonsText(decision['action_reasons'])}`
}

/** The structure of a reason is not shown: a text, or an object with a name. */
function toReasonsText(reasons: unknown): string {
  if (!Array.isArray(reasons) || reasons.length === 0) return ''
  return ` (${reasons.map(toReasonText).join(', ')})`
}

function toReasonText(reason: unknown): string {
  if (typeof reason === 'string') return reason
  if (isJsonObject(reason)) {
    for (const name of ['display_name', 'name', 'reason', 'message']) {
      const text = toTextOrNull(reason[name])
      if (text !== null) return text
    }
  }
  return JSON.stringify(reason)
}
