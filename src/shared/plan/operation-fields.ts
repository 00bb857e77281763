import { APPEAL_FIELDS } from '../service/appeal.ts'
import { INDEX_ADD_FIELDS, INDEX_REMOVE_FIELDS } from '../service/custom-index.ts'
import type { RequestField } from '../service/request-field.ts'
import { TASK_FIELDS } from '../service/tasks.ts'
import { TERM_FIELDS } from '../service/watchlist.ts'
import type { Operation } from './operation.ts'

/**
 * Not a field of the service: a JSON object that is the body to start from. What it has itself wins; mapping and
 * defaults fill what it lacks.
 */
export const REQUEST_FIELD = {
  name: 'request',
  kind: 'json_object',
  required: 'never',
  mode: 'both',
  note: 'A whole request as JSON; other fields fill what it lacks.',
} as const satisfies RequestField

const FIELDS: Record<Operation['kind'], readonly RequestField[]> = {
  task: [...TASK_FIELDS, REQUEST_FIELD],
  'index-add': [...INDEX_ADD_FIELDS, REQUEST_FIELD],
  'index-remove': [...INDEX_REMOVE_FIELDS, REQUEST_FIELD],
  'watchlist-add': [...TERM_FIELDS, REQUEST_FIELD],
  'watchlist-update': [...TERM_FIELDS, REQUEST_FIELD],
  'appeal-status': APPEAL_FIELDS,
}

/** Every field that a column or template may fill, in the order of the interface, {@link REQUEST_FIELD} last. */
export function fieldsOf(operation: Pick<Operation, 'kind'>): readonly RequestField[] {
  return FIELDS[operation.kind]
}

/** A key of a mapping: a field, or one key of a JSON object such as `user_metadata.age`. */
export type MappedField = { kind: 'field'; name: string } | { kind: 'key'; name: string; key: string }

/** Reads a mapping's key, such as `post_id` or `metadata.colour`, or returns null where no field has that name. */
export function parseFieldName(text: string, operation: Pick<Operation, 'kind'>): MappedField | null {
  const fields = fieldsOf(operation)
  if (fields.some(({ name }) => name === text)) return { kind: 'field', name: text }
  const dot = text.indexOf('.')
  const name = text.slice(0, Math.max(0, dot))
  const isObject = fields.some(
    (field) => field.name === name && field.kind === 'json_object' && field !== REQUEST_FIELD,
  )
  return isObject && dot < text.length - 1 ? { kind: 'key', name, key: text.slice(dot + 1) } : null
}

/** The names of an operation's fields as an error lists them, with `OBJECT.KEY` for every JSON object. */
export function listFieldNames(operation: Pick<Operation, 'kind'>): string[] {
  const fields = fieldsOf(operation)
  const keyed = fields.filter((field) => field.kind === 'json_object' && field !== REQUEST_FIELD)
  return [...fields.map(({ name }) => name), ...keyed.map(({ name }) => `${name}.KEY`)]
}
