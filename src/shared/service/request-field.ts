/** One field of what a row becomes (docs/interface.md §2.1, §4). */
export interface RequestField {
  /** The wire name. */
  name: string
  kind: 'string' | 'json_object' | 'string_array'
  /** `content`: one of the fields marked so must be there. */
  required: 'always' | 'content' | 'never'
  /** The modes the field is listed for. */
  mode: 'both' | 'sync' | 'async'
  /** What a person should know about it, a sentence. */
  note: string
}

/** Where an async result goes: the receiver of the app, unless a row names another one (docs/interface.md §6). */
export const CALLBACK_URL_FIELD = {
  name: 'callback_url',
  kind: 'string',
  required: 'never',
  mode: 'async',
  note: 'Where the result is posted when the task completes, instead of to this app; async only.',
} as const satisfies RequestField
