import { z } from 'zod'
import { isJsonObject } from '../../service/json-object.ts'
import { connectionSchema } from '../connection.ts'
import { planSchema } from '../plan.ts'
import { PLAN_WORDS } from './plan-words.ts'
import { parseSchemaNode, type SchemaNode } from './schema-node.ts'

/**
 * A plan as a file holds it: paths may be relative to the file, and a connection may be a stored one's name alone,
 * which is resolved where the file is read.
 */
export const planFileSchema = planSchema.extend({
  $schema: z.string().optional(),
  connection: connectionSchema
    .partial({ baseUrl: true })
    .refine(({ baseUrl, name }) => baseUrl !== undefined || name !== undefined, {
      error: 'expected a baseUrl, or the name of a stored connection',
    }),
})

/** See {@link planFileSchema}. */
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
