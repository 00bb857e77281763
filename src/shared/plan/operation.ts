import { z } from 'zod'
import { APPEAL_FIELDS } from '../service/appeal.ts'
import { INDEX_ADD_FIELDS, INDEX_REMOVE_FIELDS } from '../service/custom-index.ts'
import { isDotSegment } from '../service/endpoints.ts'
import type { RequestField } from '../service/request-field.ts'
import { TASK_FIELDS } from '../service/tasks.ts'
import { TERM_FIELDS } from '../service/watchlist.ts'

const modeSchema = z.enum(['sync', 'async']).default('sync')

const taskSchema = z.object({
  kind: z.literal('task'),
  mode: modeSchema,
  api: z.enum(['v1', 'v2']).default('v1'),
  /** Ask for the legacy response (`?legacy=1`, docs/interface.md §2.3). */
  legacy: z.boolean().default(false),
  /** Models of every row, unless the mapping fills `models` from a column. */
  models: z.array(z.string()).default([]),
})

/** Submits content (docs/interface.md §4.1, §4.2). */
export type TaskOperation = z.infer<typeof taskSchema>

const indexIdSchema = z
  .string()
  .min(1)
  .refine((id) => !isDotSegment(id), 'must not be "." or "..", which would lead to another path')

/** Most terms that one request may be asked to carry; what the service takes is not known (docs/interface.md §8). */
export const TERMS_PER_REQUEST_MAX = 10_000

/** Terms of one request, unless the plan says otherwise. */
export const TERMS_PER_REQUEST_DEFAULT = 500

const termsPerRequestSchema = z.int().min(1).max(TERMS_PER_REQUEST_MAX).default(TERMS_PER_REQUEST_DEFAULT)

/** What is done with each row (docs/interface.md §4). */
export const operationSchema = z.discriminatedUnion('kind', [
  taskSchema,
  /** Adds each row to a custom index (docs/interface.md §4.3). */
  z.object({ kind: z.literal('index-add'), mode: modeSchema, indexId: indexIdSchema }),
  /** Removes each row's item from a custom index (docs/interface.md §4.4). */
  z.object({ kind: z.literal('index-remove'), mode: modeSchema, indexId: indexIdSchema }),
  /** Adds each row's term to a watchlist (docs/interface.md §4.5). */
  z.object({
    kind: z.literal('watchlist-add'),
    watchlist: z.string().min(1),
    termsPerRequest: termsPerRequestSchema,
  }),
  /** Updates the notes of each row's term (docs/interface.md §4.6). */
  z.object({
    kind: z.literal('watchlist-update'),
    watchlist: z.string().min(1),
    termsPerRequest: termsPerRequestSchema,
    /** What an empty cell of notes means: leave the notes as they are, or clear them (null on the wire). */
    emptyNotes: z.enum(['keep', 'clear']).default('keep'),
  }),
  /** Reads the status of each row's appeal (docs/interface.md §4.7). */
  z.object({ kind: z.literal('appeal-status') }),
])

export type Operation = z.infer<typeof operationSchema>

/** The name of an operation (docs/architecture.md §1). */
export type OperationKind = Operation['kind']

/** All of them. */
export const OPERATION_KINDS = [
  'task',
  'index-add',
  'index-remove',
  'watchlist-add',
  'watchlist-update',
  'appeal-status',
] as const satisfies readonly OperationKind[]

/** Whether the service acknowledges each item at once and completes it with a callback (docs/interface.md §1, §6). */
export function isAsync(operation: Operation): boolean {
  return 'mode' in operation && operation.mode === 'async'
}

/** Whether the operation's requests carry the API key; appeals are read without one (docs/interface.md §5.6). */
export function sendsKey({ kind }: { kind: string }): boolean {
  return kind !== 'appeal-status'
}

/** Most rows that one item carries: several for watchlists, one otherwise. */
export function toRowsPerItem(operation: Operation): number {
  return 'termsPerRequest' in operation ? operation.termsPerRequest : 1
}

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
