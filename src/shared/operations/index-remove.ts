import { z } from 'zod'
import { type Mode, toSegment } from '../service/endpoints.ts'
import {
  CALLBACK_URL_FIELD,
  httpUrlSchema,
  OPTIONAL_TEXT,
  type RequestField,
} from '../service/request-field.ts'
import { describeIndex, INDEX_TRAITS, indexScratchShape, indexShape, toFirstIndex } from './custom-index.ts'
import { defineOperation } from './operation-entry.ts'

/** Every field of an item to remove, in the order of docs/interface.md §4.4. */
export const INDEX_REMOVE_FIELDS = [
  {
    ...OPTIONAL_TEXT,
    name: 'custom_index_item_id',
    required: 'always',
    note: 'What the service returned when the item was added; the only way to name it.',
  },
  CALLBACK_URL_FIELD,
] as const satisfies readonly RequestField[]

/** A valid body. */
export const indexRemoveRequestSchema = z.object({
  custom_index_item_id: z.string().min(1, 'must not be empty'),
  callback_url: httpUrlSchema.optional(),
})

export function indexRemovePath({ indexId, mode }: { indexId: string; mode: Mode }): string {
  return `/api/v1/custom_index/${toSegment(indexId)}/remove/${mode}`
}

/** Removes each row's item from a custom index (docs/interface.md §4.4). */
export const INDEX_REMOVE = defineOperation({
  ...INDEX_TRAITS,
  kind: 'index-remove',
  schema: z.object({ kind: z.literal('index-remove'), ...indexShape }),
  scratch: z.strictObject({ kind: z.literal('index-remove'), ...indexScratchShape }),
  first: { kind: 'index-remove', mode: 'sync', indexId: '' },
  fields: INDEX_REMOVE_FIELDS,
  namedBy: ['custom_index_item_id'],
  recognizedBy: { ids: [['custom_index_item_id']] },
  checks: [
    { rule: 'required', field: 'custom_index_item_id' },
    { rule: 'address', field: 'callback_url' },
  ],
  endpoint: { method: 'POST', path: indexRemovePath, sendsKey: true },
  // In answers, acknowledgements and callbacks (docs/interface.md §4.4).
  echoes: [{ field: 'custom_index_item_id', isUnique: true }],
  // A second removal finds nothing left to remove.
  isRepeatable: true,
  errors: [
    {
      status: 400,
      errorCode: 'INVALID_CUSTOM_INDEX_ITEM',
      condition: 'The custom_index_item_id names no existing item.',
    },
  ],
  ledger: { of: 'index', effect: 'removes' },
  words: {
    title: 'Remove from index',
    command: 'index remove',
    meaning: 'Removes items from a custom index by id, such as from the export of the run that added them.',
    describe: describeIndex,
    verb: 'removes',
    single: 'removes an item from an index',
    done: 'Removed from the index',
  },
  single: {
    of: ({ kind, mode, indexId }) => ({ kind, mode, indexId }),
    first: (before) => ({ kind: 'index-remove', ...toFirstIndex(before) }),
    example: () => ({ custom_index_item_id: 'the id that adding it answered' }),
  },
})
