import { TASK_FIELDS, type TaskFieldName } from '../../../shared/service/tasks.ts'

/** A key of a mapping: a wire field, or one key of a metadata object. */
export type MappedField =
  | { kind: 'field'; name: TaskFieldName }
  | { kind: 'key'; name: 'user_metadata' | 'content_metadata'; key: string }

const METADATA_KEY = /^(user_metadata|content_metadata)\.(.+)$/s

/** Reads a mapping's key, such as `post_id` or `user_metadata.age`, or returns null where no field has that name. */
export function parseFieldName(text: string): MappedField | null {
  const field = TASK_FIELDS.find(({ name }) => name === text)
  if (field !== undefined) return { kind: 'field', name: field.name }
  const [, object, key] = METADATA_KEY.exec(text) ?? []
  if (key === undefined) return null
  return { kind: 'key', name: object === 'user_metadata' ? 'user_metadata' : 'content_metadata', key }
}
