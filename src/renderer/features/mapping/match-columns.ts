import { isFolderColumns } from '../../../shared/folder-columns.ts'
import { matchColumns } from '../../../shared/match-columns.ts'
import type { FieldSource, Mapping, Operation } from '../../../shared/plan.ts'
import { fieldsFor, keepKnownFields } from './fields.ts'

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
  content_variant: ['variant', 'contentvariant', 'category', 'tag'],
  models: ['model', 'models'],
  custom_index_item_id: ['itemid', 'indexitemid', 'id'],
  term: ['terms', 'word', 'words', 'phrase', 'keyword', 'expression'],
  notes: ['note', 'comment', 'comments', 'remark', 'remarks', 'description', 'reason'],
  appeal_id: ['appeal', 'appeals', 'id'],
}

/**
 * Matches columns to fields by name as the engine does, then by words like a field's, each column used once. A task's
 * post_id falls back to `{{run}}-{{row}}`; nothing else is made up.
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
  const matched = keepKnownFields(matchColumns(columns, operation), operation)
  for (const [field, source] of Object.entries(matched)) {
    const index = toColumnIndex(columns, source)
    const isExact = columns[index] === field
    // Either may hold the content: an exact name of one keeps a mere likeness of the other away.
    if (isExact || !isRivalMapped(field, mapping)) take(field, index, isExact ? 'exact' : 'alike')
  }
  const isFolder = isFolderColumns(columns)
  for (const { name: field } of isFolder ? [] : fieldsFor(operation)) {
    if (mapping[field] || isRivalMapped(field, mapping)) continue
    const like = WORDS_LIKE[field] ?? []
    const index = columns.findIndex((name, at) => free.has(at) && like.includes(toPlain(name)))
    if (index >= 0) take(field, index, 'guess')
  }
  if (operation.kind === 'task') mapping['post_id'] ??= { kind: 'template', template: POST_ID_TEMPLATE }
  return { mapping, confidence }
}

/**
 * The mapping as a plan says it to the engine, which fills by name whatever a plan leaves open: what the person took
 * out is told to be left empty.
 */
export function toPlanMapping(mapping: Mapping, columns: readonly string[], operation: Operation): Mapping {
  const said: Mapping = { ...mapping }
  for (const field of Object.keys(matchColumns(columns, operation))) {
    said[field] ??= { kind: 'template', template: '' }
  }
  return said
}

/** text_data and url exclude each other, as do url and media. */
function isRivalMapped(field: string, mapping: Mapping): boolean {
  const rivals: Record<string, readonly string[]> = {
    text_data: ['url'],
    url: ['text_data', 'media'],
    media: ['url'],
  }
  return (rivals[field] ?? []).some((rival) => mapping[rival] !== undefined)
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
