import { isUniqueByConstruction } from '../../../shared/mapping/templates.ts'
import type { Mapping, Operation } from '../../../shared/plan/plan.ts'

/** A value that only one row of a source may have, and the field it is in. */
export interface UniqueKey {
  field: string
  value: string
  /** The value as the row has it, where case does not count and `value` is lower-cased. */
  shown?: string
}

/**
 * Gives what must be unique among the rows of a source: a task's post_id, or a term as the service compares it,
 * lower-cased (docs/interface.md §4.5, §8). Null where nothing must be, or where the mapping makes it so on its own.
 */
export function createUniqueKey(
  operation: Operation,
  mapping: Mapping,
): ((body: Readonly<Record<string, unknown>>) => UniqueKey | null) | null {
  if ('watchlist' in operation) return ({ term }) => toTermKey(term)
  if (operation.kind !== 'task') return null
  const postId = mapping['post_id']
  const isUnique = postId?.kind === 'template' && isUniqueByConstruction(postId.template)
  // A whole request may bring a post_id of its own.
  if (isUnique && mapping['request'] === undefined) return null
  return ({ post_id: id }) => toKey('post_id', id)
}

function toTermKey(term: unknown): UniqueKey | null {
  const key = toKey('term', term)
  return key === null ? null : { field: key.field, value: key.value.toLowerCase(), shown: key.value }
}

function toKey(field: string, value: unknown): UniqueKey | null {
  return typeof value === 'string' && value !== '' ? { field, value } : null
}
