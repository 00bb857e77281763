import type { Operation } from '../../../shared/plan/plan.ts'
import { isJsonObject } from '../../../shared/service/json-object.ts'
import type { RequestField } from '../../../shared/service/request-field.ts'
import { addProblem, type RowRule } from './found-problems.ts'
import { fieldsOf } from './operation-fields.ts'

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
