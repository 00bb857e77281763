import { z } from 'zod'
import type { Mode } from '../service/endpoints.ts'
import type { RequestField } from '../service/request-field.ts'
import { APPEAL_STATUS } from './appeal-status.ts'
import { INDEX_ADD } from './index-add.ts'
import { INDEX_REMOVE } from './index-remove.ts'
import type { OperationTraits } from './operation-entry.ts'
import { SUBJECTS, type Subject } from './subjects.ts'
import { TASK } from './task.ts'
import { WATCHLIST_ADD } from './watchlist-add.ts'
import { WATCHLIST_UPDATE } from './watchlist-update.ts'

/** Every operation, in display order. */
const ALL = [TASK, INDEX_ADD, INDEX_REMOVE, WATCHLIST_ADD, WATCHLIST_UPDATE, APPEAL_STATUS] as const

type Entries = typeof ALL
type Members<All extends readonly object[], Key> = {
  -readonly [At in keyof All]: Key extends keyof All[At] ? All[At][Key] : never
}

function listSchemas<Key extends 'schema' | 'scratch'>(key: Key): Members<Entries, Key> {
  return ALL.map((entry) => entry[key]) as Members<Entries, Key>
}

/** What to do with each row (docs/interface.md §4). */
export const operationSchema = z.discriminatedUnion('kind', listSchemas('schema'))

export type Operation = z.infer<typeof operationSchema>

export type TaskOperation = z.infer<typeof TASK.schema>

/** The endpoint of a single request, without anything that the body contains. */
export const scratchEndpointSchema = z.discriminatedUnion('kind', listSchemas('scratch'))

export type ScratchEndpoint = z.infer<typeof scratchEndpointSchema>

/** The name of an operation (docs/architecture.md §1). */
export type OperationKind = Entries[number]['kind']

/** The operations whose rows are about the same subject. */
type KindAbout<About extends Subject> = Extract<Entries[number], { subject: About }>['kind']

/** An operation for code that need not know which one it is. */
export type AnyOperation = OperationTraits<Operation, ScratchEndpoint>

export const OPERATIONS = Object.fromEntries(ALL.map((entry) => [entry.kind, entry])) as unknown as Record<
  OperationKind,
  AnyOperation
>

/** All names, in display order. */
export const OPERATION_KINDS = ALL.map(({ kind }) => kind)

export function isOperationKind(text: string): text is OperationKind {
  return Object.hasOwn(OPERATIONS, text)
}

/** The operation of a run, which is stored as a text; null if unknown. */
export function findOperation(kind: string): AnyOperation | null {
  return isOperationKind(kind) ? OPERATIONS[kind] : null
}

/** Whether an operation's rows, or a single request, are about this subject. */
export function isAbout<One extends { kind: OperationKind }, About extends Subject>(
  one: One,
  subject: About,
): one is Extract<One, { kind: KindAbout<About> }> {
  return OPERATIONS[one.kind].subject === subject
}

/** The subject of a run's rows, with its words. */
export function subjectOf(kind: string): (typeof SUBJECTS)[Subject] {
  return SUBJECTS[findOperation(kind)?.subject ?? 'content']
}

/** Whether answers can come in different modes (docs/interface.md §1). */
export function hasModes<One extends { kind: OperationKind }>(one: One): one is Extract<One, { mode: Mode }> {
  return OPERATIONS[one.kind].modeOf !== undefined
}

/** Whether items are acknowledged at once and completed by a callback (docs/interface.md §1, §6). */
export function isAsync(operation: Operation): boolean {
  return OPERATIONS[operation.kind].modeOf?.(operation) === 'async'
}

/** Whether the operation's requests carry the API key; appeals carry none (docs/interface.md §5.6). */
export function sendsKey({ kind }: { kind: string }): boolean {
  return findOperation(kind)?.endpoint.sendsKey ?? true
}

/** Whether a request without an answer must not simply be sent again: it may have added its item. */
export function mayAddTwice(kind: string): boolean {
  return findOperation(kind)?.isRepeatable === false
}

/** The index or watchlist that every row goes to; null if there is none. */
export function targetOf(operation: Operation): string | null {
  return OPERATIONS[operation.kind].target?.of(operation) ?? null
}

/** The operation with another index or watchlist; unchanged if it has none. */
export function withTarget(operation: Operation, name: string): Operation {
  return OPERATIONS[operation.kind].target?.with(operation, name) ?? operation
}

/** Whether an operation can clear notes, and so has a setting for empty cells. */
export function hasEmptyNotes<One extends { kind: OperationKind }>(
  one: One,
): one is Extract<One, { emptyNotes: 'keep' | 'clear' }> {
  return OPERATIONS[one.kind].emptyNotesOf !== undefined
}

/** The effect of an empty notes cell; null if the operation cannot clear notes. */
export function emptyNotesOf(operation: Operation): 'keep' | 'clear' | null {
  return OPERATIONS[operation.kind].emptyNotesOf?.(operation) ?? null
}

/** Most rows that one item carries: several for watchlists, one otherwise. */
export function toRowsPerItem(operation: Operation): number {
  return OPERATIONS[operation.kind].batch?.rowsPerItem(operation) ?? 1
}

/**
 * Not a field of the service: a JSON object with the initial body. Its own members win; mapping and defaults
 * fill missing ones.
 */
export const REQUEST_FIELD = {
  name: 'request',
  kind: 'json_object',
  required: 'never',
  mode: 'both',
  note: 'A whole request as JSON; other fields fill what it lacks.',
} as const satisfies RequestField

// A GET has no body, so a row cannot be a whole request.
const FIELDS = new Map<string, readonly RequestField[]>(
  ALL.map(({ kind, fields, endpoint }) => [
    kind,
    endpoint.method === 'GET' ? fields : [...fields, REQUEST_FIELD],
  ]),
)

/** Every field that a column or template may fill, in the interface's order, {@link REQUEST_FIELD} last. */
export function fieldsOf({ kind }: { kind: OperationKind }): readonly RequestField[] {
  return FIELDS.get(kind) ?? []
}

/** A key of a mapping: a field, or one key of a JSON object such as `user_metadata.age`. */
export type MappedField = { kind: 'field'; name: string } | { kind: 'key'; name: string; key: string }

/** Reads a mapping's key, such as `post_id` or `metadata.colour`; returns null if no field has that name. */
export function parseFieldName(text: string, operation: { kind: OperationKind }): MappedField | null {
  const fields = fieldsOf(operation)
  if (fields.some(({ name }) => name === text)) return { kind: 'field', name: text }
  const dot = text.indexOf('.')
  const name = text.slice(0, Math.max(0, dot))
  const isObject = fields.some(
    (field) => field.name === name && field.kind === 'json_object' && field !== REQUEST_FIELD,
  )
  return isObject && dot < text.length - 1 ? { kind: 'key', name, key: text.slice(dot + 1) } : null
}

/** An operation's field names for an error, with `OBJECT.KEY` for every JSON object. */
export function listFieldNames(operation: { kind: OperationKind }): string[] {
  const fields = fieldsOf(operation)
  const keyed = fields.filter((field) => field.kind === 'json_object' && field !== REQUEST_FIELD)
  return [...fields.map(({ name }) => name), ...keyed.map(({ name }) => `${name}.KEY`)]
}
