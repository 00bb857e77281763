import type { AcceptCode } from '../run/accept-code.ts'
import type { Problem } from '../run/problem.ts'
import type { ProblemEntry } from './id-problems.ts'
import { PROBLEM_MESSAGES } from './problem-messages.ts'

/**
 * Whether a warning only recommends a field that the source may simply lack: it is shown before sending, and
 * makes no result doubtful.
 */
export function isHint({ code, args }: Pick<Problem, 'code' | 'args'>): boolean {
  return (
    code === 'recommended' && ['source', 'value', undefined].includes(args?.['lack'] as string | undefined)
  )
}

/** What must be accepted before rows with such a problem are sent; null if a message is enough. */
export function findNeeds({ severity, code }: Pick<Problem, 'severity' | 'code'>): AcceptCode | null {
  const traits: ProblemEntry = PROBLEM_MESSAGES[code]
  return severity === 'warning' ? (traits.needs ?? null) : null
}

/** Which rows a warning counts: sent ones, only unsent ones (as a first line read as the header), or all. */
export function findCounted({ code }: Pick<Problem, 'code'>): 'sent' | 'unsent' | 'all' {
  const traits: ProblemEntry = PROBLEM_MESSAGES[code]
  return traits.counts ?? 'sent'
}

/** How to avoid accepting a cause in a terminal, as part of a sentence; null if there is no way. */
export function findAdvice({ code, args = {} }: Pick<Problem, 'code' | 'args'>): string | null {
  const traits: ProblemEntry = PROBLEM_MESSAGES[code]
  return traits.advice?.(args as never) ?? null
}
