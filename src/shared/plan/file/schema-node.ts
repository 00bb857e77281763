import { z } from 'zod'
import { isJsonObject } from '../../service/json-object.ts'

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
export function parseSchemaNode(schema: unknown): SchemaNode {
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
