import { oc } from '@orpc/contract'
import { z } from 'zod'
import { BRIDGE_ERRORS } from './errors.ts'

/** The base of every procedure, each of which can fail with any of the stable error codes. */
export const base = oc.errors(BRIDGE_ERRORS)

export const runIdSchema = z.strictObject({ runId: z.string().min(1).max(100) })

/** The output of procedures that return nothing: drops whatever a handler returns. */
export const doneSchema = z.custom<void>().transform(() => ({}))

/**
 * Names one event stream of a connection; the listener chooses the name. A stream's next event is sent only
 * after `events.seen` has named the previous one, so that a slow reader gets the newest and never a queue.
 */
export const streamIdSchema = z.strictObject({ streamId: z.string().min(1).max(100) })

/**
 * The same schema with every object strict: unknown members are refused instead of dropped. Supports the
 * kinds of schema that the bridge's inputs use, and throws for any other.
 */
export function toStrict<S extends z.ZodType>(schema: S): S {
  return convert(schema) as S
}

/** The input of a procedure about a run: its id and these arguments only. */
export function ofRun<const Shape extends z.core.$ZodShape>(shape: Shape) {
  return toStrict(runIdSchema.extend(shape))
}

function convert(schema: z.core.$ZodType): z.ZodType {
  if (schema instanceof z.ZodObject) {
    const shape = Object.fromEntries(
      Object.entries(schema.shape).map(([name, member]) => [name, convert(member as z.core.$ZodType)]),
    )
    return schema.clone({ ...schema.def, shape, catchall: z.never() })
  }
  if (schema instanceof z.ZodDiscriminatedUnion) {
    const options = schema.options.map(convert) as typeof schema.options
    return schema.clone({ ...schema.def, options })
  }
  if (schema instanceof z.ZodUnion) {
    return schema.clone({ ...schema.def, options: schema.options.map(convert) })
  }
  if (schema instanceof z.ZodArray) return schema.clone({ ...schema.def, element: convert(schema.element) })
  if (schema instanceof z.ZodRecord) {
    return schema.clone({ ...schema.def, valueType: convert(schema.valueType) })
  }
  if (
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodExactOptional ||
    schema instanceof z.ZodNullable ||
    schema instanceof z.ZodDefault
  ) {
    return schema.clone({ ...schema.def, innerType: convert(schema.def.innerType) } as never)
  }
  if (schema instanceof z.ZodPipe) return schema.clone({ ...schema.def, in: convert(schema.def.in) })
  if (LEAVES.some((leaf) => schema instanceof leaf)) return schema as z.ZodType
  throw new Error(`the bridge has no strict form of a ${schema._zod.def.type}`)
}

const LEAVES = [
  z.ZodString,
  z.ZodStringFormat,
  z.ZodNumber,
  z.ZodBoolean,
  z.ZodEnum,
  z.ZodLiteral,
  z.ZodTransform,
]
