import { z } from 'zod'
import { jsonObjectSchema } from './json-object.ts'
import {
  CALLBACK_URL_FIELD,
  FORBIDDEN_ID_CHARACTERS,
  httpUrlSchema,
  OPTIONAL_TEXT,
  type RequestField,
  V1_MAX_MODELS,
} from './request-field.ts'

/** One field of a task submission (docs/interface.md §2.1). */
export interface TaskField extends RequestField {
  /** Listed among the fields of v2 (docs/interface.md §4.2). */
  v2: boolean
  /** Its schema, if that restricts its kind. */
  schema?: z.ZodType
  /** Fields whose value must be different. */
  distinctFrom?: readonly string[]
}

/** user_id and post_id: not empty, neither `_` nor `;` (docs/interface.md §2.1, §8). */
const idSchema = z
  .string()
  .min(1, 'must not be empty')
  .refine((id) => !FORBIDDEN_ID_CHARACTERS.test(id), 'must not contain `_` or `;`')

/** The default schema of each kind of field. */
const SCHEMAS = {
  string: z.string(),
  json_object: jsonObjectSchema,
  string_array: z.array(z.string().min(1, 'must not be empty')),
}

const OF_V1 = { ...OPTIONAL_TEXT, v2: false } as const
const OF_BOTH = { ...OPTIONAL_TEXT, v2: true } as const

/** Every field of a task submission, in the order of docs/interface.md §2.1. */
export const TASK_FIELDS = [
  {
    ...OF_V1,
    name: 'text_data',
    schema: z.string().min(1, 'must not be empty'),
    required: 'content',
    note: 'The text to analyse; exactly one of text_data and url.',
  },
  {
    ...OF_BOTH,
    name: 'url',
    schema: httpUrlSchema,
    required: 'content',
    note: 'Public address of an image or of a video of at most 1 hour; exactly one of text_data and url.',
  },
  {
    ...OF_BOTH,
    name: 'user_id',
    schema: idSchema,
    required: 'always',
    note: 'Id of the publishing user, without `_` and `;`.',
  },
  {
    ...OF_BOTH,
    name: 'post_id',
    schema: idSchema,
    required: 'always',
    note: 'Id of the post, unique for each submission, without `_` and `;`.',
  },
  {
    ...OF_V1,
    name: 'group_id',
    distinctFrom: ['post_id', 'parent_id'],
    note: 'The same on every post of a series that belongs together; differs from post_id and parent_id.',
  },
  {
    ...OF_V1,
    name: 'conversation_id',
    mode: 'sync',
    note: 'Groups the tasks of one conversation; listed for sync only.',
  },
  {
    ...OF_V1,
    name: 'parent_id',
    note: 'post_id of the parent post, such as the post a comment answers.',
  },
  {
    ...OF_BOTH,
    name: 'content_metadata',
    kind: 'json_object',
    note: 'A JSON object about the post, shown when the content is opened.',
  },
  {
    ...OF_V1,
    name: 'content_variant',
    note: 'Name of a content variant that rules can use.',
  },
  {
    ...OF_BOTH,
    name: 'user_metadata',
    kind: 'json_object',
    note: 'A JSON object about the user; recommended on every request.',
  },
  {
    ...OF_BOTH,
    name: 'models',
    kind: 'string_array',
    note: 'Models to run: at most one in v1, several or a custom index in v2.',
  },
  { ...CALLBACK_URL_FIELD, schema: httpUrlSchema, v2: true },
] as const satisfies readonly TaskField[]

type Field = (typeof TASK_FIELDS)[number]

export const DISTINCT_FIELDS = TASK_FIELDS.filter((field) => 'distinctFrom' in field)

type SchemaOf<One extends Field> = One extends { schema: infer Schema }
  ? Schema
  : (typeof SCHEMAS)[One['kind']]

type Shape<Fields extends Field> = {
  [One in Fields as One['name']]: One['required'] extends 'always'
    ? SchemaOf<One>
    : z.ZodOptional<SchemaOf<One>>
}

function toShape<Fields extends Field>(fields: readonly Fields[]): Shape<Fields> {
  return Object.fromEntries(
    fields.map((field: TaskField) => {
      const { name, kind, required, schema = SCHEMAS[kind] } = field
      return [name, required === 'always' ? schema : schema.optional()]
    }),
  ) as Shape<Fields>
}

function isOfV2(field: Field): field is Extract<Field, { v2: true }> {
  return field.v2
}

/**
 * A v1 task, sync or async (docs/interface.md §2.1, §4.1): exactly one of text_data and url, group_id
 * distinct from post_id and parent_id, at most one model. Unknown fields are dropped.
 */
export const taskRequestSchema = z
  .object({
    ...toShape(TASK_FIELDS),
    models: SCHEMAS.string_array.max(V1_MAX_MODELS, 'must name at most one model in v1').optional(),
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
    for (const { name, distinctFrom } of DISTINCT_FIELDS) {
      const value = task[name]
      if (value === undefined || distinctFrom.every((other) => task[other] !== value)) continue
      const message = `must be distinct from ${distinctFrom.join(' and ')}`
      context.addIssue({ code: 'custom', path: [name], message })
    }
  })

/**
 * A v2 task, sync or async (docs/interface.md §4.2): several models, which may be ids of custom indexes. The
 * interface does not show fields beyond those of v1, so others pass unchanged.
 */
export const v2TaskRequestSchema = z.looseObject(toShape(TASK_FIELDS.filter(isOfV2)))
