import type { FoundProblem } from '../../../shared/messages/problem-messages.ts'
import {
  OPERATIONS,
  type Operation,
  operationSchema,
  type ScratchEndpoint,
} from '../../../shared/operations/operations.ts'
import { toFound } from '../../../shared/run/problem.ts'
import { isJsonObject } from '../../../shared/service/json-object.ts'
import { SCRATCH_PROBLEMS_MAX, type ScratchProblem } from '../../../shared/service/scratchpad.ts'
import { createRowValidator, type ValidateRow } from '../mapping/validate-row.ts'
import { parseJsonLine } from '../source/jsonl/parse-json-line.ts'

/** The text of a single request as it reads. */
export type ReadText =
  /** `callbackUrls`: every callback_url in it, also where it is named twice. */
  | { kind: 'object'; body: Record<string, unknown>; callbackUrls: string[] }
  | { kind: 'fault'; problem: FoundProblem }

/** Reads the text, which must be one JSON object. */
export function readText(text: string): ReadText {
  const parsed = parseJsonLine(text)
  const body: unknown = parsed.kind === 'object' ? parseOrNull(text) : null
  if (parsed.kind === 'object' && isJsonObject(body)) {
    const named = parsed.members.filter(({ key }) => key === 'callback_url')
    return { kind: 'object', body, callbackUrls: named.map(({ cell }) => cell) }
  }
  const { at, expected } = parsed.kind === 'fault' ? parsed : ({ at: 0, expected: 'object' } as const)
  const lines = text.slice(0, at).split('\n')
  return {
    kind: 'fault',
    problem: {
      row: 1,
      severity: 'error',
      code: 'not_json',
      args: { expected },
      details: { line: lines.length, character: (lines.at(-1) ?? '').length + 1 },
      found: toFound(text.slice(at, at + FOUND_CHARACTERS)),
    },
  }
}

const FOUND_CHARACTERS = 20

function parseOrNull(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/**
 * Finds what the rules for rows say against a text (docs/interface.md §2, §4 and §8), at most
 * {@link SCRATCH_PROBLEMS_MAX} problems.
 */
export function checkText(endpoint: ScratchEndpoint, text: string): ScratchProblem[] {
  return findProblems(endpoint, text).slice(0, SCRATCH_PROBLEMS_MAX)
}

function findProblems(endpoint: ScratchEndpoint, text: string): ScratchProblem[] {
  const read = readText(text)
  if (read.kind === 'fault') return [{ ...read.problem, path: [] }]
  const { body } = read
  const validate = createValidator(toOperation(endpoint, body))
  const { batch, namedBy } = OPERATIONS[endpoint.kind]
  if (batch === undefined) return validate(1, body).map((problem) => toTextProblem(problem, []))
  const problems: ScratchProblem[] = []
  const { [batch.target]: target, [batch.list]: rows } = body
  if (typeof target !== 'string' || target === '') problems.push(toMissing(batch.target, target))
  if (!Array.isArray(rows) || rows.length === 0) return [...problems, toMissing(batch.list, rows)]
  for (const [index, row] of rows.entries()) {
    if (problems.length >= SCRATCH_PROBLEMS_MAX) break
    const path = [batch.list, index]
    if (isJsonObject(row)) problems.push(...validate(1, row).map((one) => toTextProblem(one, path)))
    else problems.push({ ...toMissing(namedBy[0], row), path })
  }
  return problems
}

/** The operation of a plan that would send such a request. */
export function toOperation(endpoint: ScratchEndpoint, body: Record<string, unknown>): Operation {
  const { batch } = OPERATIONS[endpoint.kind]
  const target = batch === undefined ? undefined : body[batch.target]
  const parts = batch && { [batch.target]: typeof target === 'string' && target !== '' ? target : 'none' }
  return operationSchema.parse({ ...endpoint, ...parts })
}

/** A text is checked as a row is whose request is given whole, and whose models may differ from row to row. */
function createValidator(operation: Operation): ValidateRow {
  return createRowValidator({
    operation,
    mapping: { request: { kind: 'column', column: 1 }, models: { kind: 'column', column: 1 } },
  })
}

function toTextProblem(problem: FoundProblem, path: (string | number)[]): ScratchProblem {
  return { ...problem, path: problem.field === undefined ? path : [...path, problem.field] }
}

function toMissing(field: string, value: unknown): ScratchProblem {
  const cause = { code: 'required', args: { lack: 'value' } } as const
  const found = value === undefined ? {} : { found: toFound(JSON.stringify(value)) }
  return { row: 1, severity: 'error', field, ...cause, ...found, path: [field] }
}
