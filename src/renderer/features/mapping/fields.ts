import { isAsync, type Operation } from '../../../shared/operation.ts'
import { fieldsOf, parseFieldName, REQUEST_FIELD } from '../../../shared/operation-fields.ts'
import type { Mapping } from '../../../shared/plan.ts'
import type { RequestField } from '../../../shared/service/request-field.ts'

/** The fields that a column or a value may fill, in the order of the interface. `callback_url` is the receiver's business. */
export function fieldsFor(operation: Operation): RequestField[] {
  const mode = isAsync(operation) ? 'async' : 'sync'
  return fieldsOf(operation).filter(
    (field) => field.name !== 'callback_url' && (field.mode === 'both' || field.mode === mode),
  )
}

/** The fields of which one must hold the content; empty where the operation has none. */
export function contentFieldsOf(operation: Operation): RequestField[] {
  return fieldsFor(operation).filter((field) => field.required === 'content')
}

/** The objects of which a column may fill one key, such as `user_metadata`. */
export function objectFieldsOf(operation: Operation): RequestField[] {
  return fieldsFor(operation).filter(
    (field) => field.kind === 'json_object' && field.name !== REQUEST_FIELD.name,
  )
}

/** The part of a mapping that an operation, or another mode of it, can still use. */
export function keepKnownFields(mapping: Mapping, operation: Operation): Mapping {
  const names = new Set(fieldsFor(operation).map((field) => field.name))
  return Object.fromEntries(
    Object.entries(mapping).filter(([name]) => {
      const parsed = parseFieldName(name, operation)
      return parsed !== null && names.has(parsed.name)
    }),
  )
}
