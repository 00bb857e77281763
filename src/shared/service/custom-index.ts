import { z } from 'zod'
import { jsonObjectSchema } from './json-object.ts'
import { CALLBACK_URL_FIELD, httpUrlSchema, type RequestField } from './request-field.ts'

/** Every field of an item to add, in the order of docs/interface.md §4.3. */
export const INDEX_ADD_FIELDS = [
  {
    name: 'url',
    kind: 'string',
    required: 'content',
    mode: 'both',
    note: 'Public address of the image; at least one of url and media.',
  },
  {
    name: 'media',
    kind: 'string',
    required: 'content',
    mode: 'both',
    note: 'Public address of the media; at least one of url and media.',
  },
  {
    name: 'metadata',
    kind: 'json_object',
    required: 'never',
    mode: 'both',
    note: 'A JSON object of your own about the item.',
  },
  {
    name: 'content_variant',
    kind: 'string',
    required: 'never',
    mode: 'both',
    note: 'A category or tag of the item.',
  },
  CALLBACK_URL_FIELD,
] as const satisfies readonly RequestField[]

/** Every field of an item to remove, in the order of docs/interface.md §4.4. */
export const INDEX_REMOVE_FIELDS = [
  {
    name: 'custom_index_item_id',
    kind: 'string',
    required: 'always',
    mode: 'both',
    note: 'What the service returned when the item was added; the only way to name it.',
  },
  CALLBACK_URL_FIELD,
] as const satisfies readonly RequestField[]

/**
 * Adds an item to a custom index (docs/interface.md §4.3): at least one of url and media, both the media's public
 * address. callback_url belongs to async.
 */
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

/** Removes an item from a custom index (docs/interface.md §4.4). callback_url belongs to async. */
export const indexRemoveRequestSchema = z.object({
  custom_index_item_id: z.string().min(1, 'must not be empty'),
  callback_url: httpUrlSchema.optional(),
})
