import { isEmpty } from '../../../shared/mapping/check-mapping.ts'
import { findUnlistedFields } from '../../../shared/mapping/match-columns.ts'
import type { Mapping, Operation } from '../../../shared/plan/plan.ts'
import { type Problem, type ProblemCode, type Severity, toFound } from '../../../shared/run/problem.ts'
import { isDotSegment } from '../../../shared/service/endpoints.ts'
import { isJsonObject } from '../../../shared/service/json-object.ts'
import {
  NOTES_MAX_CHARACTERS,
  type RequestField,
  TERM_MAX_CHARACTERS,
} from '../../../shared/service/request-field.ts'
import { hasAtMost } from '../../../shared/service/watchlist.ts'
import { fieldsOf } from './field-writers.ts'

/** Problems of one row found so far; null for none, so that rows without any cost no list. */
export type Found = Problem[] | null

/** One rule for the body of a row: adds what it finds to what was found before. */
export type RowRule = (found: Found, row: number, body: Readonly<Record<string, unknown>>) => Found

/** Adds a problem to those found; `value` is shown as it was found. */
export function addProblem(
  found: Found,
  row: number,
  severity: Severity,
  code: ProblemCode,
  field: string | null,
  message: string,
  value?: unknown,
): Problem[] {
  const problem: Problem = { row, severity, code, message }
  if (field !== null) problem.field = field
  if (value !== undefined) problem.found = toFound(toText(value))
  if (found === null) return [problem]
  found.push(problem)
  return found
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? String(value))
}

const HTTP_URL = /^https?:\/\/[^\s]+(?: +[^\s]+)*$/i

/** Stricter than URL parsers, which drop white space around and line breaks inside: what is sent must be the URL. */
function isHttpUrl(value: unknown): boolean {
  return typeof value === 'string' && HTTP_URL.test(value) && URL.canParse(value)
}

/** A field that is an address of http or https, where it is there. */
export function checkUrl(found: Found, row: number, field: string, value: unknown): Found {
  return value === undefined || isHttpUrl(value)
    ? found
    : addProblem(found, row, 'error', 'not_a_url', field, 'must be an http or https URL', value)
}

/** callback_url is an address, in either mode. */
export const checkCallbackUrl: RowRule = (found, row, body) =>
  checkUrl(found, row, 'callback_url', body['callback_url'])

/** Warns of fields of the other mode that a whole request brings; those that are mapped are warned of once. */
export function createModeRule(operation: Operation, mapping: Mapping): RowRule | null {
  const fields = findUnlistedFields(operation).filter(({ name }) => isEmpty(mapping[name]))
  if (fields.length === 0) return null
  return (found, row, body) => {
    let all = found
    for (const { name, mode } of fields) {
      const value = body[name]
      if (value === undefined) continue
      const message = `is listed for ${mode} only; it is sent as it is`
      all = addProblem(all, row, 'warning', 'not_for_mode', name, message, value)
    }
    return all
  }
}

const WORDS: Record<RequestField['kind'], string> = {
  string: 'must be a string',
  json_object: 'must be a JSON object',
  string_array: 'must be an array of strings',
}

/**
 * What a whole request may have wrong beyond what cells can: values of another type, and fields that the interface
 * does not know, which are sent as they are.
 */
export function createRequestRule(operation: Operation): RowRule {
  const fields = new Map(fieldsOf(operation).map((field) => [field.name, field]))
  return (found, row, body) => {
    let all = found
    for (const [name, value] of Object.entries(body)) {
      const field = fields.get(name)
      if (field === undefined || name === 'request') {
        const message = 'is no field of the interface; it is sent as it is'
        all = addProblem(all, row, 'warning', 'not_for_api', name, message, value)
      } else if (field.kind !== 'json_object' && !hasType(value, field, operation)) {
        all = addProblem(all, row, 'error', 'wrong_type', name, WORDS[field.kind], value)
      }
    }
    return all
  }
}

/** Objects have a rule of their own. Notes may be null in an update (docs/interface.md §2.5). */
function hasType(value: unknown, { name, kind }: RequestField, operation: Operation): boolean {
  if (kind === 'json_object') return isJsonObject(value)
  if (kind === 'string_array') return Array.isArray(value) && value.every((item) => typeof item === 'string')
  if (name === 'notes' && operation.kind === 'watchlist-update' && value === null) return true
  return typeof value === 'string'
}

/** At least one of url and media, both addresses (docs/interface.md §4.3). */
export const checkIndexMedia: RowRule = (found, row, { url, media }) => {
  const all =
    url === undefined && media === undefined
      ? addProblem(found, row, 'error', 'one_of', null, 'must have url or media', 'neither')
      : found
  return checkUrl(checkUrl(all, row, 'url', url), row, 'media', media)
}

/** A field that must be there (docs/interface.md §4.4, §4.7). */
export function createRequiredRule(field: string): RowRule {
  return (found: Found, row, body) => {
    const value = body[field]
    return value === undefined || value === ''
      ? addProblem(found, row, 'error', 'required', field, 'is required, and is empty')
      : found
  }
}

/** What would lead the request to another path is not an id of an appeal (docs/interface.md §4.7). */
export const checkAppealId: RowRule = (found, row, { appeal_id: id }) => {
  if (typeof id !== 'string' || !isDotSegment(id)) return found
  const message = 'must not be "." or "..", which would lead to another path'
  return addProblem(found, row, 'error', 'forbidden_character', 'appeal_id', message, id)
}

/** Term and notes have at most 1024 characters each (docs/interface.md §2.5, §8). */
export const checkLengths: RowRule = (found, row, { term, notes }) =>
  checkLength(
    checkLength(found, row, 'term', term, TERM_MAX_CHARACTERS),
    row,
    'notes',
    notes,
    NOTES_MAX_CHARACTERS,
  )

function checkLength(found: Found, row: number, field: string, text: unknown, max: number): Found {
  if (typeof text !== 'string' || hasAtMost(text, max)) return found
  const message = `must have at most ${max} characters, and has ${Array.from(text).length}`
  return addProblem(found, row, 'error', 'too_long', field, message, text)
}

/** What consists of white space alone matches nothing that a person would look for. */
export const checkBlank: RowRule = (found, row, { term }) =>
  typeof term === 'string' && term !== '' && term.trim() === ''
    ? addProblem(found, row, 'warning', 'empty', 'term', 'holds nothing but white space', term)
    : found
