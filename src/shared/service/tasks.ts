import { z } from 'zod'
import { jsonObjectSchema } from './json-object.ts'
import {
  CALLBACK_URL_FIELD,
  FORBIDDEN_ID_CHARACTERS,
  httpUrlSchema,
  type RequestField,
  V1_MAX_MODELS,
} from './request-field.ts'

/** One field of a task submission (docs/interface.md §2.1). */
export interface TaskField extends RequestField {
  /** Listed among the fields of v2 (docs/interface.md §4.2). */
  v2: boolean
}

/** Every field of a task submission, in the order of docs/interface.md §2.1. */
export const TASK_FIELDS = [
  {
    name: 'text_data',
    kind: 'string',
    required: 'content',
    mode: 'both',
    v2: false,
    note: 'The text to analyse; exactly one of text_data and url.',
  },
  {
    name: 'url',
    kind: 'string',
    required: 'content',
    mode: 'both',
    v2: true,
    note: 'Public address of an image or of a video of at most 1 hour; exactly one of text_data and url.',
  },
  {
    name: 'user_id',
    kind: 'string',
    required: 'always',
    mode: 'both',
    v2: true,
    note: 'Id of the publishing user, without `_` and `;`.',
  },
  {
    name: 'post_id',
    kind: 'string',
    required: 'always',
    mode: 'both',
    v2: true,
    note: 'Id of the post, unique for each submission, without `_` and `;`.',
  },
  {
    name: 'group_id',
    kind: 'string',
    required: 'never',
    mode: 'both',
    v2: false,
    note: 'The same on every post of a series that belongs together; differs from post_id and parent_id.',
  },
  {
    name: 'conversation_id',
    kind: 'string',
    required: 'never',
    mode: 'sync',
    v2: false,
    note: 'Groups the tasks of one conversation; listed for sync only.',
  },
  {
    name: 'parent_id',
    kind: 'string',
    required: 'never',
    mode: 'both',
    v2: false,
    note: 'post_id of the parent post, such as the post a comment answers.',
  },
  {
    name: 'content_metadata',
    kind: 'json_object',
    required: 'never',
    mode: 'both',
    v2: true,
    note: 'A JSON object about the post, shown when the content is opened.',
  },
  {
    name: 'content_variant',
    kind: 'string',
    required: 'never',
    mode: 'both',
    v2: false,
    note: 'Name of a content variant that rules can use.',
  },
  {
    name: 'user_metadata',
    kind: 'json_object',
    required: 'never',
    mode: 'both',
    v2: true,
    note: 'A JSON object about the user; recommended on every request.',
  },
  {
    name: 'models',
    kind: 'string_array',
    required: 'never',
    mode: 'both',
    v2: true,
    note: 'Models to run: at most one in v1, several or a custom index in v2.',
  },
  { ...CALLBACK_URL_FIELD, v2: true },
] as const satisfies readonly TaskField[]

/** user_id and post_id: not empty, neither `_` nor `;` (docs/interface.md §2.1, §8). */
const idSchema = z
  .string()
  .min(1, 'must not be empty')
  .refine((id) => !FORBIDDEN_ID_CHARACTERS.test(id), 'must not contain `_` or `;`')

const modelsSchema = z.array(z.string().min(1, 'must not be empty'))

/**
 * A v1 task, sync or async (docs/interface.md §2.1, §4.1): exactly one of text_data and url, group_id distinct from
 * post_id and parent_id, at most one model. Fields that the interface does not know are dropped.
 */
export const taskRequestSchema = z
  .object({
    text_data: z.string().min(1, 'must not be empty').optional(),
    url: httpUrlSchema.optional(),
    user_id: idSchema,
    post_id: idSchema,
    group_id: z.string().optional(),
    conversation_id: z.string().optional(),
    parent_id: z.string().optional(),
    content_metadata: jsonObjectSchema.optional(),
    content_variant: z.string().optional(),
    user_metadata: jsonObjectSchema.optional(),
    models: modelsSchema.max(V1_MAX_MODELS, 'must name at most one model in v1').optional(),
    callback_url: httpUrlSchema.optional(),
  })
  .superRefine((task, context) => {
    if (task.text_data !== undefined && task.url !== undefined) {
      context.addIssue({ code: 'custom', path: ['url'], message: 'must not be sent together with text_data' })
    }
    if (task.text_data === undefined && task.url === undefined) {
      context.addIssue({
        code: 'custom',
        path: ['text_data'],
        message: 'text_data or url is required',
      })
    }
    if (task.group_id !== undefined && (task.group_id === task.post_id || task.group_id === task.parent_id)) {
      context.addIssue({
        code: 'custom',
        path: ['group_id'],
        message: 'must be distinct from post_id and parent_id',
      })
    }
  })

/**
 * A v2 task, sync or async (docs/interface.md §4.2): several models, ids of custom indexes among them. Fields beyond
 * those of v1 are not shown, so others pass through as they are.
 */
export const v2TaskRequestSchema = z.looseObject({
  url: httpUrlSchema.optional(),
  user_id: idSchema,
  post_id: idSchema,
  content_metadata: jsonObjectSchema.optional(),
  user_metadata: jsonObjectSchema.optional(),
  models: modelsSchema.optional(),
  callback_url: httpUrlSchema.optional(),
})
