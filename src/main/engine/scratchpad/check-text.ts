import type { FoundProblem } from '../../../shared/messages/problem-messages.ts'
import type { Operation } from '../../../shared/plan/operation.ts'
import { planSchema } from '../../../shared/plan/plan.ts'
import { toFound } from '../../../shared/run/problem.ts'
import { isJsonObject } from '../../../shared/service/json-object.ts'
import {
  SCRATCH_PROBLEMS_MAX,
  type ScratchEndpoint,
  type ScratchProblem,
} from '../../../shared/service/scratchpad.ts'
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
  if (!isWatchlist(endpoint)) return validate(1, body).map((problem) => toTextProblem(problem, []))
  const problems: ScratchProblem[] = []
  const { watchlist, terms } = body
  if (typeof watchlist !== 'string' || watchlist === '') problems.push(toMissing('watchlist', watchlist))
  if (!Array.isArray(terms) || terms.length === 0) return [...problems, toMissing('terms', terms)]
  for (const [index, term] of terms.entries()) {
    if (problems.length >= SCRATCH_PROBLEMS_MAX) break
    const path = ['terms', index]
    if (isJsonObject(term)) problems.push(...validate(1, term).map((one) => toTextProblem(one, path)))
    else problems.push({ ...toMissing('term', term), path })
  }
  return problems
}

function isWatchlist({ kind }: ScratchEndpoint): boolean {
  return kind === 'watchlist-add' || kind === 'watchlist-update'
}

/** The operation of a plan that would send such a request. */
export function toOperation(endpoint: ScratchEndpoint, body: Record<string, unknown>): Operation {
  const { watchlist } = body
  const parts = isWatchlist(endpoint)
    ? { watchlist: typeof watchlist === 'string' && watchlist !== '' ? watchlist : 'none' }
    : {}
  return planSchema.shape.operation.parse({ ...endpoint, ...parts })
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
