import { findNearest } from '../../messages/find-nearest.ts'
import { isJsonObject } from '../../service/json-object.ts'
import type { PlanFileProblem } from './plan-file-problem.ts'
import { formatJsonPath } from './plan-file-problem.ts'
import { findBranches, findChild, type SchemaNode } from './schema-node.ts'

const SECRET_KEY = /^(api)?[_-]?(key|token|secret|password|authorization|credentials)$/i

/** Every key of a value that the schema does not know, each with the nearest that it does. */
export function findUnknownKeys(root: SchemaNode, value: unknown): PlanFileProblem[] {
  const everywhere = listPaths(root, [])

  const visit = (node: SchemaNode, found: unknown, path: readonly PropertyKey[]): PlanFileProblem[] => {
    if (Array.isArray(found)) {
      return found.flatMap((item, index) =>
        node.items === undefined ? [] : visit(node.items, item, [...path, index]),
      )
    }
    if (!isJsonObject(found)) return []
    return Object.entries(found).flatMap(([key, inner]) => {
      const child = findChild(node, found, key)
      if (child !== null) return visit(child, inner, [...path, key])
      const known = findBranches(node, found).flatMap(({ properties }) => Object.keys(properties ?? {}))
      // A value that should be a text or a number is told as such, not key by key.
      if (known.length === 0) return []
      const here = formatJsonPath([...path, key])
      return [{ path: here, message: toMessage(key, here, [...new Set(known)], everywhere) }]
    })
  }
  return visit(root, value, [])
}

function toMessage(
  key: string,
  here: string,
  known: readonly string[],
  everywhere: readonly string[],
): string {
  if (SECRET_KEY.test(key)) {
    return 'unknown key; a plan carries no secret: name the variable that holds it in connection.apiKeyEnv'
  }
  if (everywhere.includes(here)) return `belongs to another kind; known here: ${known.join(', ')}`
  const nearest = findNearest(key, known)
  if (nearest !== null) return `unknown key; did you mean ${nearest}?`
  const elsewhere = everywhere.find((path) => path.split('.').at(-1)?.toLowerCase() === key.toLowerCase())
  if (elsewhere !== undefined) return `unknown key here; did you mean ${elsewhere}?`
  return `unknown key; known here: ${known.join(', ')}`
}

/** Every path of keys that the schema names. */
function listPaths(node: SchemaNode, path: readonly string[]): string[] {
  return findBranches(node, null).flatMap(({ properties }) =>
    Object.entries(properties ?? {}).flatMap(([key, child]) => [
      [...path, key].join('.'),
      ...listPaths(child, [...path, key]),
    ]),
  )
}
