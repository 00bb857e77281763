import { isDeepStrictEqual } from 'node:util'
import { isJsonObject } from '../../../shared/service/json-object.ts'
import { parseJson } from '../../../shared/service/parse-json.ts'
import { REFUSAL_NOTE } from '../receiver/inbox.ts'
import { findUnfinished } from '../service/outcome-words.ts'

/** Most members named in a difference, and the longest name, UTF-16 code units. */
const NAMES_MAX = 3
const NAME_MAX_CHARACTERS = 40

/** Why a callback is not readable, in words that follow "a callback came but is not readable:". */
export function describeUnreadable(body: string): string {
  if (body.startsWith(REFUSAL_NOTE)) return body.slice(REFUSAL_NOTE.length)
  if (body.trim() === '') return 'it is empty'
  const parsed = parseJson(body)
  if (parsed === undefined) return 'it is not valid JSON'
  const unfinished = findUnfinished(parsed, null)
  return unfinished === null ? 'it has nothing of a result' : `its task is not finished (${unfinished})`
}

/** Whether two callbacks have the same JSON, apart from spacing and order of members, or the same text. */
export function isSameCallback(one: string, other: string): boolean {
  if (one === other) return true
  const [first, second] = [parseJson(one), parseJson(other)]
  return first !== undefined && second !== undefined && isDeepStrictEqual(first, second)
}

/** In what two callbacks differ, in words that follow "another callback came that": the names of members. */
export function describeDifference(one: string, other: string): string {
  const [first, second] = [parseJson(one), parseJson(other)]
  if (!isJsonObject(first) || !isJsonObject(second)) return 'differs'
  const names = [...new Set([...Object.keys(first), ...Object.keys(second)])].filter(
    (name) => !isDeepStrictEqual(first[name], second[name]),
  )
  const more = names.length - NAMES_MAX
  const listed = names.slice(0, NAMES_MAX).map((name) => name.slice(0, NAME_MAX_CHARACTERS))
  return `differs in ${listed.join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}
