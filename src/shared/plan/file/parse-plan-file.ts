import type { z } from 'zod'
import { toFound } from '../../run/problem.ts'
import { describeSchema } from './describe-schema.ts'
import { findUnknownKeys } from './find-unknown-keys.ts'
import { formatJsonPath, type PlanFileProblem } from './plan-file-problem.ts'
import { type PlanFile, planFileSchema, readPlanSchemaNode } from './plan-file-schema.ts'
import { findChild, type SchemaNode } from './schema-node.ts'

/** A plan file that can be used, or everything that is wrong with it. */
export type ParsedPlanFile =
  | { kind: 'plan'; plan: PlanFile }
  | { kind: 'problems'; problems: PlanFileProblem[] }

/** Checks what a plan file holds: every key known, every value as the schema has it. */
export function parsePlanFile(value: unknown): ParsedPlanFile {
  const root = readPlanSchemaNode()
  const parsed = planFileSchema.safeParse(value)
  const issues = parsed.success ? [] : parsed.error.issues
  const problems = [...issues.map((issue) => toProblem(root, value, issue)), ...findUnknownKeys(root, value)]
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
  // A rule of our own says itself what it expects; that of addresses is part of what every address is.
  if (issue.code === 'custom' && node?.format !== 'uri') return { path, message: issue.message }
  const expected = node === null ? issue.message : describeSchema(node)
  return { path, message: `expected ${expected}, found ${describeFound(found, node)}` }
}

function isKeyed(value: unknown): value is Record<PropertyKey, unknown> {
  return typeof value === 'object' && value !== null
}

/** What was found, except what may be a secret that was put in the wrong place. */
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
