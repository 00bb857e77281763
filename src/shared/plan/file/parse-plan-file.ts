import type { z } from 'zod'
import { findNearest } from '../../messages/find-nearest.ts'
import { toFound } from '../../run/problem.ts'
import { isJsonObject } from '../../service/json-object.ts'
import {
  findBranches,
  findChild,
  type PlanFile,
  planFileSchema,
  readPlanSchemaNode,
  type SchemaNode,
} from './plan-file-schema.ts'

export interface PlanFileProblem {
  /** Path of the part, such as `operation.models[0]`; empty for the whole file. */
  path: string
  /** What was expected and what was found. Never contains a possible secret. */
  message: string
}

/** A valid plan file, or everything that is wrong with it. */
export type ParsedPlanFile =
  | { kind: 'plan'; plan: PlanFile }
  | { kind: 'problems'; problems: PlanFileProblem[] }

const SECRET_KEY = /^(api)?[_-]?(key|token|secret|password|authorization|credentials)$/i

const ADDRESS = 'an http or https address without user name, password, query and fragment'

/** Checks a plan file's content: every key must be known, every value must fit the schema. */
export function parsePlanFile(value: unknown): ParsedPlanFile {
  const root = readPlanSchemaNode()
  const parsed = planFileSchema.safeParse(value)
  const issues = parsed.success ? [] : parsed.error.issues
  const found = [...issues.map((issue) => toProblem(root, value, issue)), ...findUnknownKeys(root, value)]
  // A number that is too large breaks the rules for its maximum and for whole numbers, with the same words.
  const problems = [...new Map(found.map((problem) => [formatPlanFileProblem(problem), problem])).values()]
  return parsed.success && problems.length === 0
    ? { kind: 'plan', plan: parsed.data }
    : { kind: 'problems', problems }
}

function toProblem(root: SchemaNode, value: unknown, issue: z.core.$ZodIssue): PlanFileProblem {
  const path = formatJsonPath(issue.path)
  let node: SchemaNode | null = root
  let found: unknown = value
  for (const key of issue.path) {
    node = node === null ? null : findChild(node, found, key)
    found = isKeyed(found) ? found[key] : undefined
  }
  // A custom rule has its own words, except the one for addresses, which is part of every address.
  if (issue.code === 'custom' && node?.format !== 'uri') return { path, message: issue.message }
  if (issue.code === 'too_big' && Array.isArray(found))
    return { path, message: `expected at most ${issue.maximum} entries, found ${found.length}` }
  const expected = node === null ? issue.message : describeSchema(node)
  return { path, message: `expected ${expected}, found ${describeFound(found, node)}` }
}

/** Whether a path of a plan file holds only numbers or booleans, never a text. */
export function wantsNoText(path: readonly PropertyKey[]): boolean {
  let nodes: SchemaNode[] = [readPlanSchemaNode()]
  for (const key of path) {
    // Before variables are filled in, it is unknown which member of a union is meant.
    nodes = nodes.flatMap((node) => findChild(node, null, key) ?? [])
  }
  const types = nodes.flatMap(({ type, anyOf = [] }) => [type, ...anyOf.map((one) => one.type)])
  return !types.includes('string') && types.some((type) => /^(integer|number|boolean)$/.test(type ?? ''))
}

function isKeyed(value: unknown): value is Record<PropertyKey, unknown> {
  return typeof value === 'object' && value !== null
}

/** What was found, except possible secrets in the wrong place. */
function describeFound(found: unknown, node: SchemaNode | null): string {
  if (found === undefined) return 'nothing'
  if (Array.isArray(found)) return 'a list'
  if (typeof found === 'object' && found !== null) return 'an object'
  if (typeof found !== 'string') return String(found)
  if (node?.pattern !== undefined) return 'something else, which is not repeated since it may be a secret'
  if (node?.format === 'uri' && URL.canParse(found) && (new URL(found).password || new URL(found).search)) {
    return 'an address that may hold a secret, which is not repeated'
  }
  return JSON.stringify(toFound(found))
}

/** Every key that the schema does not know, each with the nearest known key. */
function findUnknownKeys(root: SchemaNode, value: unknown): PlanFileProblem[] {
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
      // A value that should be a text or a number is one problem, not one per key.
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

/** What a schema expects, for a sentence: `a whole number from 1 to 100`. */
function describeSchema(node: SchemaNode): string {
  if (node.const !== undefined) return JSON.stringify(node.const)
  if (node.enum !== undefined) return `one of ${node.enum.map((value) => JSON.stringify(value)).join(', ')}`
  if (node.oneOf !== undefined) {
    const kinds = node.oneOf.map((one) => JSON.stringify(one.properties?.['kind']?.const))
    return `an object whose kind is one of ${kinds.join(', ')}`
  }
  if (node.type === undefined) return (node.anyOf ?? []).map(describeSchema).join(' or ')
  switch (node.type) {
    case 'string':
      return describeText(node)
    case 'integer':
    case 'number':
      return describeNumber(node)
    case 'boolean':
      return 'true or false'
    case 'array':
      return 'a list'
    default:
      return 'an object'
  }
}

function describeText({ format, pattern, minLength = 0, maxLength }: SchemaNode): string {
  if (format === 'uri') return ADDRESS
  if (pattern !== undefined) return 'the name of an environment variable: letters, digits and underscores'
  if (minLength === 1 && maxLength === 1) return 'one character'
  return minLength > 0 ? 'text that is not empty' : 'text'
}

function describeNumber({ type, minimum, maximum, exclusiveMinimum }: SchemaNode): string {
  const noun = type === 'integer' ? 'a whole number' : 'a number'
  const above = exclusiveMinimum === undefined ? '' : ` above ${exclusiveMinimum}`
  if (minimum !== undefined && maximum !== undefined) return `${noun} from ${minimum} to ${maximum}`
  return `${noun}${above}${minimum === undefined ? '' : ` of at least ${minimum}`}${maximum === undefined ? '' : `, at most ${maximum}`}`
}

/** A path as a person writes it in JavaScript: `mapping["user metadata"].column`, `operation.models[0]`. */
export function formatJsonPath(path: readonly PropertyKey[]): string {
  return path
    .map((part, index) => {
      if (typeof part === 'number') return `[${part}]`
      const text = String(part)
      if (!/^[\p{L}_$][\p{L}\p{N}_$-]*$/u.test(text)) return `[${JSON.stringify(text)}]`
      return index === 0 ? text : `.${text}`
    })
    .join('')
}

/** The problem as a full sentence. */
export function formatPlanFileProblem({ path, message }: PlanFileProblem): string {
  return path === '' ? message : `${path}: ${message}`
}
