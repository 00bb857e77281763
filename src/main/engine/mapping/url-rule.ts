import { isEmpty } from '../../../shared/mapping/check-mapping.ts'
import { findUnlistedFields } from '../../../shared/mapping/match-columns.ts'
import type { Mapping, Operation } from '../../../shared/plan/plan.ts'
import { addProblem, type Found, type RowRule } from './found-problems.ts'

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
