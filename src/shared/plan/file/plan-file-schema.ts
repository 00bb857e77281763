import { z } from 'zod'
import { VALUE_WORDS } from '../../options/plan-options.ts'
import { isJsonObject } from '../../service/json-object.ts'
import { connectionSchema } from '../connection.ts'
import { planSchema } from '../plan.ts'

/**
 * A plan in a file: paths may be relative to the file, and a connection may be just the name of a stored one,
 * which is resolved when the file is read.
 */
export const planFileSchema = planSchema.extend({
  $schema: z.string().optional(),
  $comment: z.string().optional(),
  connection: connectionSchema
    .partial({ baseUrl: true })
    .refine(({ baseUrl, name }) => baseUrl !== undefined || name !== undefined, {
      error: 'expected a baseUrl, or the name of a stored connection',
    }),
})

export type PlanFile = z.infer<typeof planFileSchema>

/** Adds words to every key of a JSON Schema, by the path of keys. */
function addWords(schema: unknown, path: readonly string[]): unknown {
  if (!isJsonObject(schema)) return schema
  const { properties, additionalProperties, oneOf, anyOf, items, ...rest } = schema
  const description = PLAN_WORDS[path.join('.')]
  return {
    ...(description === undefined ? {} : { description }),
    ...rest,
    ...(isJsonObject(properties)
      ? {
          properties: Object.fromEntries(
            Object.entries(properties).map(([key, child]) => [key, addWords(child, [...path, key])]),
          ),
        }
      : {}),
    ...(additionalProperties === undefined
      ? {}
      : { additionalProperties: addWords(additionalProperties, [...path, '*']) }),
    ...(items === undefined ? {} : { items: addWords(items, [...path, '*']) }),
    ...(Array.isArray(oneOf) ? { oneOf: oneOf.map((member) => addKeyWords(member, path)) } : {}),
    ...(Array.isArray(anyOf) ? { anyOf: anyOf.map((member) => addKeyWords(member, path)) } : {}),
  }
}

/** Describes the keys of a union's member; the union's own words stand once, above its members. */
function addKeyWords(member: unknown, path: readonly string[]): unknown {
  const worded = addWords(member, path)
  if (!isJsonObject(worded)) return worded
  const { description, ...rest } = worded
  return rest
}

/** The JSON Schema of plan files, as published in `docs/plan.schema.json`. */
export function toPlanJsonSchema(): Record<string, unknown> {
  const { $schema, ...schema } = z.toJSONSchema(planFileSchema, {
    io: 'input',
    override: ({ jsonSchema }) => {
      // Plan files refuse unknown keys, so editors should mark them during typing.
      if (jsonSchema.properties !== undefined) jsonSchema.additionalProperties = false
      if (jsonSchema.properties?.['apiKeyEnv'] !== undefined) {
        jsonSchema.anyOf = [{ required: ['baseUrl'] }, { required: ['name'] }]
      }
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
    },
  })
  const worded = addWords(schema, [])
  return {
    $schema,
    title: 'Sluice plan',
    description: 'All that a run of Sluice needs but its secrets. Run it with: sluice plan FILE',
    ...(isJsonObject(worded) ? worded : {}),
  }
}

let root: SchemaNode | null = null

/** The JSON Schema as a tree to compare values with. */
export function readPlanSchemaNode(): SchemaNode {
  root ??= parseSchemaNode(toPlanJsonSchema())
  return root
}

/** The parts of JSON Schema that plans use. */
export interface SchemaNode {
  type?: string | undefined
  const?: unknown
  enum?: unknown[] | undefined
  format?: string | undefined
  pattern?: string | undefined
  minLength?: number | undefined
  maxLength?: number | undefined
  minimum?: number | undefined
  maximum?: number | undefined
  exclusiveMinimum?: number | undefined
  properties?: Record<string, SchemaNode> | undefined
  /** False if no other keys are allowed; a node if any key may have that shape. */
  additionalProperties?: boolean | SchemaNode | undefined
  items?: SchemaNode | undefined
  oneOf?: SchemaNode[] | undefined
  anyOf?: SchemaNode[] | undefined
}

const schemaNodeSchema: z.ZodType<SchemaNode> = z.lazy(() =>
  z.object({
    type: z.string().optional(),
    const: z.unknown().optional(),
    enum: z.array(z.unknown()).optional(),
    format: z.string().optional(),
    pattern: z.string().optional(),
    minLength: z.number().optional(),
    maxLength: z.number().optional(),
    minimum: z.number().optional(),
    maximum: z.number().optional(),
    exclusiveMinimum: z.number().optional(),
    properties: z.record(z.string(), schemaNodeSchema).optional(),
    additionalProperties: z.union([z.boolean(), schemaNodeSchema]).optional(),
    items: schemaNodeSchema.optional(),
    oneOf: z.array(schemaNodeSchema).optional(),
    anyOf: z.array(schemaNodeSchema).optional(),
  }),
)

/** Reads a JSON Schema. Throws if it is not one. */
function parseSchemaNode(schema: unknown): SchemaNode {
  return schemaNodeSchema.parse(schema)
}

/** The members of a union that a value may mean: the one of its kind, or every one with keys. */
export function findBranches(node: SchemaNode, value: unknown): readonly SchemaNode[] {
  const own = node.properties === undefined && node.additionalProperties === undefined ? [] : [node]
  const members = [...(node.oneOf ?? []), ...(node.anyOf ?? [])].filter(
    ({ properties }) => properties !== undefined,
  )
  if (!isJsonObject(value)) return [...own, ...members]
  const chosen = members.filter(({ properties }) => properties?.['kind']?.const === value['kind'])
  return [...own, ...(chosen.length === 0 ? members : chosen)]
}

/** The schema of a key in a value; null if the schema does not have the key. */
export function findChild(node: SchemaNode, value: unknown, key: PropertyKey): SchemaNode | null {
  if (typeof key === 'number') return node.items ?? null
  const found = findBranches(node, value).flatMap(({ properties, additionalProperties }) => {
    const property = properties?.[String(key)]
    if (property !== undefined) return [property]
    return typeof additionalProperties === 'object' ? [additionalProperties] : []
  })
  const [first] = found
  if (first === undefined) return null
  // The kinds of a union differ in a constant; together these are the choices.
  const constants = found.map((one) => one.const)
  return found.length > 1 && constants.every((one) => one !== undefined) ? { enum: constants } : first
}

/**
 * The meaning of each key of a plan file, a sentence, by path; `*` stands for any key. Editors show it during
 * typing. Kinds of a union share the words of common keys.
 */
export const PLAN_WORDS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Array.from(VALUE_WORDS, ([path, { words }]) => [path, words])),
  $schema: 'Schema of plan files, for editors; Sluice does not read it.',
  $comment: 'A note for people; Sluice does not read it.',
  version: 'Format version.',
  name: 'Run name (default: the name of the source).',
  connection: 'The service to send to.',
  source: 'The file or folder of rows, and how to read it.',
  mapping: 'What fills each field of the request (default: columns matched by name).',
  'mapping.*': 'What fills this field: a column, or a template.',
  'mapping.*.kind': 'A column of the source, or a text with placeholders.',
  'mapping.*.column': 'Name of a column, or its number from 1.',
  'mapping.*.name':
    'What the column with that number was called. A source whose column has another name is refused.',
  'mapping.*.isOneOfSeveral':
    'true if several columns had that name, so that the number says which of them is meant.',
  'mapping.*.of':
    'How many columns the source had, if the column has no name. A source with another number of columns is warned of.',
  'mapping.*.template':
    'Text with {{row}} (the record number, from 1), {{run}} and {{column name}} as placeholders.',
  filledBy:
    'Fields that were mapped automatically, each with how: by a column of the same name, or by a guess (default: none). A run asks before a guess loses content.',
  accept:
    'Kinds of warnings about the source that do not stop the rows from being sent, whatever their cause: content_cut, ids_changed, hidden_rows, encoding_uncertain, fixes_do_not_fit, sent_twice; and ids_rewritten, the service answers with other ids (default: none). Better name causes under `accepted`.',
  onlyNew:
    'Skips rows that earlier runs of the workspace sent to the same service, recognized by the id that is mapped (default: all rows are sent).',
  'onlyNew.by':
    'Fields of the request, or columns of the source, by which rows are recognized together, instead of the mapped id.',
  'onlyNew.unknown':
    'Skips rows, too, that an earlier run may have sent: they have no usable answer (default: they have to be accepted).',
  accepted:
    'Causes of warnings that were accepted, as a run or --save-plan writes them. Other causes stop the rows from being sent, unless a person is asked.',
  'accepted.columns':
    'Columns of the source that the causes were accepted for; in a source with others, nothing is accepted.',
  'accepted.causes': 'The causes, each a problem, its field and what else tells it from others.',
  'accepted.causes.*.problem': 'Code of the problem, as show --problems --json prints it.',
  'accepted.causes.*.field': 'Field of the request that the problem is about.',
  'accepted.causes.*.args': 'What else tells the cause from others, such as the name of a column.',
  fixes:
    'Corrections laid over the source, which stays as it is: of single cells, and rules for every row that they fit.',
  'fixes.*.kind':
    'cell: another text in one row. value: one value for all rows with a problem. substitute: `_` and `;` in ids. trim: white space at the ends, and invisible characters. drop_fraction: .0 behind whole numbers. split: text_data and url as two rows. join_cells: surplus cells of a row as part of its last. leave_out, leave_out_row: do not send.',
  'fixes.*.record':
    'Record number, from 1 for the first row below the header, as `record` in --json and `sluice_record` in exports.',
  'fixes.*.row': 'The record number in plans of versions up to 0.2; use `record`.',
  'fixes.*.field':
    'Field of the request, such as post_id; for leave_out the field that the problem is about.',
  'fixes.*.value':
    'What to send. In cell the text itself, in value a template with {{row}}, {{run}} and {{column name}}; empty leaves the field out.',
  'fixes.*.from': 'Number of the last column, from 1: this cell and those behind it become one.',
  'fixes.*.with': 'Text between the joined cells: the delimiter of the file.',
  'fixes.*.rowHash':
    'Hash of the cells of that row, as `row_hash` in show --row --json. In a row with other cells the fix does nothing, and a run asks before it sends.',
  'fixes.*.was':
    'Correct the cell only while the source has this text in it; if not, a run asks before it sends.',
  'fixes.*.escapes':
    'Characters that an id is changed for (default: _;~). With _; ids may get the same value, as in version 0.2.0.',
  'fixes.*.problem': 'Code of the problem, as show --problems --json prints it.',
  operation: 'What to do with each row.',
  'operation.kind': 'Submit content, maintain a custom index or a watchlist, or read the status of appeals.',
  'operation.mode': 'sync: wait for each result. async: results arrive as callbacks.',
  'operation.api': 'Version of the task endpoints.',
  'operation.legacy': 'Request the legacy answer of v1, which has class scores.',
  'operation.models': 'Models to run; v1 accepts one.',
  'operation.indexId': 'Custom index id, from the dashboard.',
  'operation.watchlist': 'API field name of the watchlist.',
  'operation.termsPerRequest': 'Maximum terms per request.',
  'operation.emptyNotes': 'What an empty notes cell does: keep the notes, or clear them.',
  callback: 'Where to receive callbacks of an async run, and how long to wait.',
  pace: 'How fast to send.',
  'pace.kind': 'closed: a number of requests in flight. open: a rate of requests per second.',
  'pace.concurrency': 'Maximum requests in flight.',
  'pace.ratePerSecond': 'Requests per second, sent on schedule even if the service slows down.',
  'pace.maxInFlight': 'Maximum requests in flight; at the limit, due requests wait.',
  load: "Load test instead of sending each row once; its pace replaces the plan's pace.",
  retry: 'Retries of requests that are safe to repeat.',
  stop: 'When a run stops since too many of its rows do not succeed. Load tests have thresholds instead.',
}
