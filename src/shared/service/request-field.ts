import { z } from 'zod'

/** One field of a row's request (docs/interface.md §2.1, §4). */
export interface RequestField {
  name: string
  kind: 'string' | 'json_object' | 'string_array'
  /** `content`: one of the fields with this value is required. */
  required: 'always' | 'content' | 'never'
  /** The modes the field is listed for. */
  mode: 'both' | 'sync' | 'async'
  /** A sentence that a person should know about it. */
  note: string
}

/** An optional text, listed for both modes, like most fields. */
export const OPTIONAL_TEXT = { kind: 'string', required: 'never', mode: 'both' } as const

/** Where an async result is sent: to the app's receiver, or a row's own address (docs/interface.md §6). */
export const CALLBACK_URL_FIELD = {
  ...OPTIONAL_TEXT,
  name: 'callback_url',
  mode: 'async',
  note: 'Where the result is posted when the task completes, instead of to this app; async only.',
} as const satisfies RequestField

/** Characters that user_id and post_id must not contain (docs/interface.md §2.1, §8). */
export const FORBIDDEN_ID_CHARACTERS = /[_;]/

/** Longest term of a watchlist, in characters (docs/interface.md §2.5, §8). */
export const TERM_MAX_CHARACTERS = 1024

/** Longest notes of a watchlist term, in characters (docs/interface.md §2.5, §8). */
export const NOTES_MAX_CHARACTERS = 1024

/** Most models that one v1 task may name; v2 takes several (docs/interface.md §4.1, §8). */
export const V1_MAX_MODELS = 1

/** Longest video behind a task's url, hours (docs/interface.md §2.1, §8). Only the service can check it. */
export const VIDEO_MAX_HOURS = 1

/** An absolute http or https address: content, media, callbacks (docs/interface.md §2.1, §4.3). */
export const httpUrlSchema = z.url({ protocol: /^https?$/, error: 'must be an http or https URL' })
