import { z } from 'zod'
import { type Mode, toSegment } from '../service/endpoints.ts'
import { jsonObjectSchema } from '../service/json-object.ts'
import {
  CALLBACK_URL_FIELD,
  httpUrlSchema,
  OPTIONAL_TEXT,
  type RequestField,
} from '../service/request-field.ts'
import { describeIndex, INDEX_TRAITS, indexScratchShape, indexShape, toFirstIndex } from './custom-index.ts'
import { defineOperation } from './operation-entry.ts'

/** Every field of an item to add, in the order of docs/interface.md §4.3. */
export const INDEX_ADD_FIELDS = [
  {
    ...OPTIONAL_TEXT,
    name: 'url',
    required: 'content',
    note: 'Public address of the image; at least one of url and media.',
  },
  {
    ...OPTIONAL_TEXT,
    name: 'media',
    required: 'content',
    note: 'Public address of the media; at least one of url and media.',
  },
  {
    ...OPTIONAL_TEXT,
    name: 'metadata',
    kind: 'json_object',
    note: 'A JSON object of your own about the item.',
  },
  {
    ...OPTIONAL_TEXT,
    name: 'content_variant',
    note: 'A category or tag of the item.',
  },
  CALLBACK_URL_FIELD,
] as const satisfies readonly RequestField[]

/** A valid body: at least one of url and media, each the media's public address. */
export const indexAddRequestSchema = z
  .object({
    url: httpUrlSchema.optional(),
    media: httpUrlSchema.optional(),
    metadata: jsonObjectSchema.optional(),
    content_variant: z.string().optional(),
    callback_url: httpUrlSchema.optional(),
  })
  .refine((item) => item.url !== undefined || item.media !== undefined, {
    path: ['url'],
    message: 'at least one of url and media is required',
  })

export function indexAddPath({ indexId, mode }: { indexId: string; mode: Mode }): string {
  return `/api/v1/custom_index/${toSegment(indexId)}/add/${mode}`
}

/** Adds each row to a custom index (docs/interface.md §4.3). */
export const INDEX_ADD = defineOperation({
  ...INDEX_TRAITS,
  kind: 'index-add',
  schema: z.object({ kind: z.literal('index-add'), ...indexShape }),
  scratch: z.strictObject({ kind: z.literal('index-add'), ...indexScratchShape }),
  first: { kind: 'index-add', mode: 'sync', indexId: '' },
  fields: INDEX_ADD_FIELDS,
  namedBy: ['url', 'media'],
  recognizedBy: { ids: [['url'], ['media']] },
  checks: [
    { rule: 'one of', one: 'url', other: 'media' },
    { rule: 'address', field: 'url' },
    { rule: 'address', field: 'media' },
    { rule: 'object', field: 'metadata' },
    { rule: 'address', field: 'callback_url' },
  ],
  endpoint: { method: 'POST', path: indexAddPath, sendsKey: true },
  // The service assigns the item's id (docs/interface.md §4.3).
  echoes: [],
  // A second add would add a second item.
  isRepeatable: false,
  errors: [
    {
      status: 400,
      errorCode: 'INVALID_CUSTOM_INDEX',
      condition: 'The custom_index_id names no existing index.',
    },
    {
      status: 400,
      errorCode: 'REQUIRE_AT_LEAST_ONE_PARAM',
      condition: 'Neither media nor url was supplied.',
    },
  ],
  ledger: { of: 'index', effect: 'adds' },
  words: {
    title: 'Add to index',
    command: 'index add',
    meaning: 'Adds images to a custom index. The ids it returns are the only way to remove them.',
    describe: describeIndex,
    verb: 'adds',
    single: 'adds an item to an index',
    done: 'Added to the index',
    notice: {
      kind: 'info',
      title: 'The service cannot list what is in an index',
      text: 'The ids it gives are kept with this run. Export them: that file is what removes the items again.',
    },
  },
  single: {
    of: ({ kind, mode, indexId }) => ({ kind, mode, indexId }),
    first: (before) => ({ kind: 'index-add', ...toFirstIndex(before) }),
    example: () => ({ url: 'https://media.example.com/picture.png' }),
  },
})
