import { expect, it } from 'vitest'
import { z } from 'zod'
import { bridgeContract } from '../../../src/shared/bridge/contract.ts'
import { toStrict } from '../../../src/shared/bridge/procedure.ts'

/** The input schema of each procedure by name; procedures without one take no input. */
function listInputs(): [name: string, schema: z.ZodType][] {
  return Object.entries(bridgeContract).flatMap(([group, procedures]) =>
    Object.entries(procedures).flatMap(([name, procedure]): [string, z.ZodType][] => {
      const { inputSchema } = procedure['~orpc']
      return inputSchema instanceof z.ZodType ? [[`${group}.${name}`, inputSchema]] : []
    }),
  )
}

/** The paths of a schema's objects that accept unnamed members. */
function findLoose(schema: z.core.$ZodType, path: string): string[] {
  if (schema instanceof z.ZodObject) {
    const members = Object.entries(schema.shape).flatMap(([name, member]) =>
      findLoose(member as z.core.$ZodType, `${path}.${name}`),
    )
    return schema.def.catchall instanceof z.ZodNever ? members : [path, ...members]
  }
  if (schema instanceof z.ZodUnion) return schema.options.flatMap((option) => findLoose(option, path))
  if (schema instanceof z.ZodArray) return findLoose(schema.element, path)
  if (schema instanceof z.ZodRecord) return findLoose(schema.valueType, path)
  if (schema instanceof z.ZodPipe) return findLoose(schema.def.in, path)
  const { innerType } = schema._zod.def as { innerType?: z.core.$ZodType }
  return innerType === undefined ? [] : findLoose(innerType, path)
}

it('accepts no bridge input with a member that the contract does not name', () => {
  const inputs = listInputs()
  expect(inputs.length).toBeGreaterThan(20)
  expect(inputs.flatMap(([name, schema]) => findLoose(schema, name))).toEqual([])
})

it('refuses a member at any depth, and leaves the named ones unchanged', () => {
  const loose = z.object({ one: z.array(z.object({ two: z.string().default('x') })).optional() })
  const strict = toStrict(loose)
  expect(strict.parse({ one: [{}] })).toEqual({ one: [{ two: 'x' }] })
  expect(strict.safeParse({ one: [{ three: 1 }] }).success).toBe(false)
  expect(loose.safeParse({ one: [{ three: 1 }] }).success).toBe(true)
})

it('has no strict form of a schema whose members it cannot see', () => {
  expect(() => toStrict(z.object({ any: z.lazy(() => z.object({})) }))).toThrow('no strict form of a lazy')
})
