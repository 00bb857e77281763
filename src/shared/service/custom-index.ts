import { z } from 'zod'
import { httpUrlSchema } from './http-url.ts'
import { jsonObjectSchema } from './json-object.ts'

/**
 * Adds an item to a custom index (interface §4.3): at least one of url and media, both the media's public address.
 * callback_url belongs to async.
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

/** See {@link indexAddRequestSchema}. */
export type IndexAddRequest = z.infer<typeof indexAddRequestSchema>

/** Sync answer to an add, and the body of its async callback (interface §4.3, §6). */
export const indexAddResponseSchema = z.looseObject({
  custom_index_item_id: z.string(),
  task_id: z.string(),
  message: z.string(),
})

/** See {@link indexAddResponseSchema}. */
export type IndexAddResponse = z.infer<typeof indexAddResponseSchema>

/** Async acknowledgement of an add (interface §4.3); the item's id comes with the callback. */
export const indexAddAcknowledgementSchema = z.looseObject({ task_id: z.string(), message: z.string() })

/** See {@link indexAddAcknowledgementSchema}. */
export type IndexAddAcknowledgement = z.infer<typeof indexAddAcknowledgementSchema>

/** Removes an item from a custom index (interface §4.4). callback_url belongs to async. */
export const indexRemoveRequestSchema = z.object({
  custom_index_item_id: z.string().min(1, 'must not be empty'),
  callback_url: httpUrlSchema.optional(),
})

/** See {@link indexRemoveRequestSchema}. */
export type IndexRemoveRequest = z.infer<typeof indexRemoveRequestSchema>

/** Sync answer to a removal, its async acknowledgement, and the body of its callback (interface §4.4, §6). */
export const indexRemoveResponseSchema = z.looseObject({
  task_id: z.string(),
  custom_index_item_id: z.string(),
  message: z.string(),
})

/** See {@link indexRemoveResponseSchema}. */
export type IndexRemoveResponse = z.infer<typeof indexRemoveResponseSchema>

/** An item as the service keeps it (interface §2.4). */
export const indexItemSchema = z.looseObject({
  custom_index_item_id: z.string(),
  metadata: jsonObjectSchema.optional(),
  content_variant: z.string().optional(),
})

/** See {@link indexItemSchema}. */
export type IndexItem = z.infer<typeof indexItemSchema>
