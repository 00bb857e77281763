import { type Problem, type ProblemCode, type Severity, toFound } from '../../../shared/run/problem.ts'

/** Problems of one row found so far; null for none, so that rows without any cost no list. */
export type Found = Problem[] | null

/** One rule for the body of a row: adds what it finds to what was found before. */
export type RowRule = (found: Found, row: number, body: Readonly<Record<string, unknown>>) => Found

/** Adds a problem to those found; `value` is shown as it was found. */
export function addProblem(
  found: Found,
  row: number,
  severity: Severity,
  code: ProblemCode,
  field: string | null,
  message: string,
  value?: unknown,
): Problem[] {
  const problem: Problem = { row, severity, code, message }
  if (field !== null) problem.field = field
  if (value !== undefined) problem.found = toFound(toText(value))
  if (found === null) return [problem]
  found.push(problem)
  return found
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? String(value))
}
