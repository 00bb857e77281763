import type { FieldSource, Mapping, Operation } from '../../../shared/plan.ts'
import { fieldsFor } from './fields.ts'

/** How sure a suggested match is: the header is the field's name, another way to write it, or a word like it. */
export type MatchConfidence = 'exact' | 'alike' | 'guess'

/** A mapping that the columns suggest, and how sure each of its fields is. */
export interface SuggestedMapping {
  mapping: Mapping
  confidence: Record<string, MatchConfidence>
}

/** What fills post_id unless a column does: unique in every run. */
export const POST_ID_TEMPLATE = '{{run}}-{{row}}'

const WORDS_LIKE: Record<string, readonly string[]> = {
  text_data: [
    'text',
    'message',
    'body',
    'content',
    'comment',
    'caption',
    'sms',
    'post',
    'description',
    'review',
  ],
  url: ['link', 'imageurl', 'videourl', 'mediaurl', 'image', 'media', 'address', 'uri'],
  user_id: ['user', 'userid', 'author', 'authorid', 'username', 'account', 'accountid', 'sender', 'uid'],
  post_id: ['id', 'postid', 'contentid', 'messageid', 'commentid', 'itemid'],
  group_id: ['group', 'groupid', 'album', 'series'],
  conversation_id: ['conversation', 'conversationid', 'thread', 'threadid', 'chat', 'chatid', 'room'],
  parent_id: ['parent', 'parentid', 'replyto', 'inreplyto'],
  content_variant: ['variant', 'contentvariant', 'category'],
  models: ['model', 'models'],
}

const METADATA = /^(user_metadata|content_metadata)\..+$/

/**
 * Matches columns to fields by name: the name itself, then another way to write it, then a word like it, each column
 * used once. post_id falls back to `{{run}}-{{row}}`; nothing else is made up.
 */
export function suggestMapping(columns: readonly string[], operation: Operation): SuggestedMapping {
  const mapping: Mapping = {}
  const confidence: Record<string, MatchConfidence> = {}
  const free = new Set(columns.keys())
  const take = (field: string, index: number, sure: MatchConfidence) => {
    free.delete(index)
    mapping[field] = toColumnSource(columns, index)
    confidence[field] = sure
  }
  const fields = fieldsFor(operation).map((field) => field.name)
  const find = (test: (name: string) => boolean) =>
    columns.findIndex((name, index) => free.has(index) && test(name))

  for (const index of columns.keys()) {
    const name = columns[index] ?? ''
    if (METADATA.test(name) && mapping[name] === undefined) take(name, index, 'exact')
  }
  for (const field of fields) {
    const index = find((name) => name === field)
    if (index >= 0) take(field, index, 'exact')
  }
  for (const field of fields) {
    if (mapping[field] || isRivalMapped(field, mapping)) continue
    const index = find((name) => toPlain(name) === toPlain(field))
    if (index >= 0) take(field, index, 'alike')
  }
  for (const field of fields) {
    if (mapping[field] || isRivalMapped(field, mapping)) continue
    const like = WORDS_LIKE[field] ?? []
    const index = find((name) => like.includes(toPlain(name)))
    if (index >= 0) take(field, index, 'guess')
  }
  mapping['post_id'] ??= { kind: 'template', template: POST_ID_TEMPLATE }
  return { mapping, confidence }
}

/** text_data and url exclude each other: an exact match of one keeps a mere likeness of the other away. */
function isRivalMapped(field: string, mapping: Mapping): boolean {
  if (field === 'text_data') return mapping['url'] !== undefined
  if (field === 'url') return mapping['text_data'] !== undefined
  return false
}

function toPlain(name: string): string {
  return name.toLowerCase().replace(/[^\p{Letter}\p{Number}]/gu, '')
}

/** A source that names the column, or counts it where the name is empty or not its own. */
export function toColumnSource(columns: readonly string[], index: number): FieldSource {
  const name = columns[index] ?? ''
  const isOwn = name !== '' && columns.indexOf(name) === columns.lastIndexOf(name)
  return { kind: 'column', column: isOwn ? name : index + 1 }
}

/** Index of the column that a source names, -1 where there is none. */
export function toColumnIndex(columns: readonly string[], source: FieldSource | undefined): number {
  if (source?.kind !== 'column') return -1
  if (typeof source.column === 'string') return columns.indexOf(source.column)
  return source.column <= columns.length ? source.column - 1 : -1
}
