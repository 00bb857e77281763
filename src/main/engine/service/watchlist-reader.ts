import type { RowAnswer } from '../../../shared/run/item-state.ts'
import { createTermFinder } from '../../../shared/service/alike-texts.ts'
import { isJsonObject, type JsonObject, toTaskId } from '../../../shared/service/json-object.ts'
import { type EchoFinding, UNVERIFIABLE, VERIFIED } from './echoes.ts'
import { judgeFailure } from './index-reader.ts'
import {
  createJudgement,
  cutMessage,
  type Judgement,
  type OperationReader,
  type Refusal,
  type RowJudgement,
} from './judgement.ts'

/** A list of terms in an answer, and what it means for its terms. */
interface AnswerList {
  name: string
  answer: RowAnswer
}

/** Lists of an answer, the gravest first, which decides if a term is in several (docs/interface.md §4.5). */
export const ADD_LISTS: readonly AnswerList[] = [
  { name: 'failed_terms', answer: 'failed' },
  { name: 'added_terms', answer: 'added' },
  { name: 'pre_existing_terms', answer: 'pre_existing' },
]

/** Like {@link ADD_LISTS} (docs/interface.md §4.6). */
export const UPDATE_LISTS: readonly AnswerList[] = [
  { name: 'failed_terms', answer: 'failed' },
  { name: 'non_existent_terms', answer: 'non_existent' },
  { name: 'updated_terms', answer: 'updated' },
]

/**
 * Lists that show what failed in an answer that reports a failure: the other terms have their own outcome.
 */
const REFUSING_LISTS = ['failed_terms', 'non_existent_terms']

/** Reads answers to terms: one judgement each, from lists of a 200 (docs/interface.md §4.5, §4.6, §7.3). */
export function createTermReader(lists: readonly AnswerList[]): OperationReader {
  return {
    readSuccess: ({ status }, body, rowKeys, earlierTries) => {
      const judgement = judgeLists(body, status, lists, rowKeys)
      if (judgement === null) return judgement
      const rows = judgement.rows?.map((row, index) =>
        (earlierTries[index] ?? 0) > 0 ? toUncertain(row) : row,
      )
      return { ...judgement, rows: rows ?? null }
    },
    readRefusal: (refusal, rowKeys) =>
      rowKeys.length > 1 && isTooLarge(refusal)
        ? createJudgement({ outcome: 'rejected', ...refusal, isTooLarge: true })
        : null,
  }
}

/** A try without an answer about a term may have added it, if it is now pre-existing. */
function toUncertain(row: RowJudgement): RowJudgement {
  if (row.answer !== 'pre_existing') return row
  const lost = 'an earlier try got no answer about the term; that try or somebody before it added it'
  const message = row.message === null ? lost : `${row.message}; ${lost}`
  return { ...row, answer: 'added_or_pre_existing', message }
}

interface Found {
  answer: RowAnswer
  lists: string[]
  /** Why it failed, if the answer says so. */
  reason: string | null
}

function judgeLists(
  body: unknown,
  status: number,
  lists: readonly AnswerList[],
  rowKeys: readonly string[],
): Judgement | null {
  if (!isJsonObject(body)) return null
  const hasLists = lists.some(({ name }) => Array.isArray(body[name]))
  const isShown = REFUSING_LISTS.some((name) => Array.isArray(body[name]) && body[name].length > 0)
  const failure = isShown ? null : judgeFailure(hasLists ? withoutCounts(body) : body, status)
  if (failure !== null) return failure
  if (!hasLists) return null
  const found = new Map<string, Found>()
  for (const { name, answer } of lists) {
    const terms = body[name]
    if (Array.isArray(terms)) for (const term of terms) noteTerm(found, term, name, answer)
  }
  const mentioned = rowKeys.map(createTermFinder(found, rowKeys))
  const rows = mentioned.map((one, index) => {
    const row = judgeTerm(one)
    return one === found.get(rowKeys[index] ?? '') ? row : { ...row, isAlike: true }
  })
  const echo = toTermEcho(found, rowKeys, mentioned)
  return createJudgement({ outcome: 'succeeded', status, rows, echo })
}

/** A number in `success` or `ok` may count the terms of a list. */
function withoutCounts(body: JsonObject): JsonObject {
  const isCount = ([name, value]: [string, unknown]) =>
    /^(?:success|ok)$/.test(name) && typeof value === 'number'
  return Object.fromEntries(Object.entries(body).filter((member) => !isCount(member)))
}

/**
 * Terms prove whose an answer is, since every term of a request is in a list of its answer: one that lists
 * other terms, and lacks at least half of those sent, belongs to another request.
 */
function toTermEcho(
  found: ReadonlyMap<string, Found>,
  rowKeys: readonly string[],
  mentioned: readonly (Found | undefined)[],
): EchoFinding {
  if (found.size === 0) return UNVERIFIABLE
  const own = new Set(mentioned)
  const missing = new Set(rowKeys.filter((_, index) => mentioned[index] === undefined))
  const [expected] = missing
  if (expected !== undefined && missing.size >= own.size - 1) {
    for (const [term, one] of found) {
      if (!own.has(one))
        return { kind: 'mismatched', field: 'term', expected, found: term, isOfOtherRow: false }
    }
  }
  return VERIFIED
}

/** A term in an answer is an object, or only its text (docs/interface.md §4.5 does not show failed_terms). */
function noteTerm(found: Map<string, Found>, item: unknown, list: string, answer: RowAnswer): void {
  const term = toTaskId(isJsonObject(item) ? item['term'] : item)
  if (term === null) return
  const key = term.toLowerCase()
  const known = found.get(key)
  if (known === undefined) found.set(key, { answer, lists: [list], reason: toReason(item) })
  else if (!known.lists.includes(list)) known.lists.push(list)
}

function toReason(item: unknown): string | null {
  if (!isJsonObject(item)) return null
  for (const name of ['message', 'reason', 'error']) {
    const text = item[name]
    if (typeof text === 'string' && text !== '') return text
  }
  return null
}

function judgeTerm(found: Found | undefined): RowJudgement {
  if (found === undefined) {
    return { outcome: 'unknown', answer: null, message: 'no list of the answer mentions this term' }
  }
  const { answer, lists, reason } = found
  const several = lists.length > 1 ? `the answer has it in ${lists.join(' and ')}; the first counts` : null
  if (answer === 'failed') {
    const message = cutMessage(
      `the service could not process this term${reason === null ? '' : `: ${reason}`}`,
    )
    return { outcome: 'rejected', answer, message: several === null ? message : `${message}; ${several}` }
  }
  if (answer === 'non_existent') {
    const message = 'the watchlist has no such term, and an update creates none'
    return { outcome: 'rejected', answer, message: several === null ? message : `${message}; ${several}` }
  }
  return { outcome: 'succeeded', answer, message: several }
}

const TOO_LARGE = /too[ _-]?(many|large|big|long)|limit|maxim|\bmax\b|exceed/i

/** The limit on terms is undocumented (docs/interface.md §8), as is the answer: 413, or words about size. */
function isTooLarge({ status, errorCode, message }: Refusal): boolean {
  if (status === 413) return true
  if (status !== 400 && status !== 422) return false
  return TOO_LARGE.test(message) || (errorCode !== null && TOO_LARGE.test(errorCode.replaceAll('_', ' ')))
}
