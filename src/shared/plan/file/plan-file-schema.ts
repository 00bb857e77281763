import { z } from 'zod'
import { isJsonObject } from '../../service/json-object.ts'
import { connectionSchema } from '../connection.ts'
import { planSchema } from '../plan.ts'
import { PLAN_WORDS } from './plan-words.ts'

/**
 * A plan as a file holds it: paths may be relative to the file, and a connection may be a stored one's name alone,
 * which is resolved where the file is read.
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

/** Puts words next to every key of a JSON Schema, by its path of keys. */
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

/** The members of a union are described by their keys; the union's own words stand once, above them. */
function addKeyWords(member: unknown, path: readonly string[]): unknown {
  const worded = addWords(member, path)
  if (!isJsonObject(worded)) return worded
  const { description, ...rest } = worded
  return rest
}

/** The JSON Schema of plan files, as it is published in `docs/plan.schema.json`. */
export function toPlanJsonSchema(): Record<string, unknown> {
  const { $schema, ...schema } = z.toJSONSchema(planFileSchema, {
    io: 'input',
    override: ({ jsonSchema }) => {
      // What a plan file does not know it refuses, and an editor says so while it is typed.
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

/** The JSON Schema as a tree that values are compared with. */
export function readPlanSchemaNode(): SchemaNode {
  root ??= parseSchemaNode(toPlanJsonSchema())
  return root
}

/** As much of a JSON Schema as those of plans use. */
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
  /** False where no other keys are known, a node where any key has that shape. */
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

/** Reads a JSON Schema. Throws where it is none. */
function parseSchemaNode(schema: unknown): SchemaNode {
  return schemaNodeSchema.parse(schema)
}

/** What a value may be meant as: the member of a union that has its kind, or every one that has keys at all. */
export function findBranches(node: SchemaNode, value: unknown): readonly SchemaNode[] {
  const own = node.properties === undefined && node.additionalProperties === undefined ? [] : [node]
  const members = [...(node.oneOf ?? []), ...(node.anyOf ?? [])].filter(
    ({ properties }) => properties !== undefined,
  )
  if (!isJsonObject(value)) return [...own, ...members]
  const chosen = members.filter(({ properties }) => properties?.['kind']?.const === value['kind'])
  return [...own, ...(chosen.length === 0 ? members : chosen)]
}

/** What stands at a key of a value, by the schema; null where the schema knows no such key. */
export function findChild(node: SchemaNode, value: unknown, key: PropertyKey): SchemaNode | null {
  if (typeof key === 'number') return node.items ?? null
  const found = findBranches(node, value).flatMap(({ properties, additionalProperties }) => {
    const property = properties?.[String(key)]
    if (property !== undefined) return [property]
    return typeof additionalProperties === 'object' ? [additionalProperties] : []
  })
  const [first] = found
  if (first === undefined) return null
  // The kinds of a union differ in the constant that names them: together they are the choice.
  const constants = found.map((one) => one.const)
  return found.length > 1 && constants.every((one) => one !== undefined) ? { enum: constants } : first
}
