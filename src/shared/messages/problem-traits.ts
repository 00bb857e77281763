import type { AcceptCode } from '../run/accept-code.ts'
import type { Problem } from '../run/problem.ts'
import { PROBLEM_MESSAGES } from './problem-messages.ts'

/** What a code of problems means for sending. */
interface ProblemTraits {
  title: string
  needs?: AcceptCode
  counts?: 'unsent' | 'all'
  advice?: (args: never) => string | null
}

/**
 * Whether a warning only recommends a field that the source may simply not have: it is said before sending, and no result
 * is doubtful because of it.
 */
export function isHint({ code, args }: Pick<Problem, 'code' | 'args'>): boolean {
  return (
    code === 'recommended' && ['source', 'value', undefined].includes(args?.['lack'] as string | undefined)
  )
}

/** What has to be accepted before rows with such a problem are sent; null if telling is enough. */
export function findNeeds({ severity, code }: Pick<Problem, 'severity' | 'code'>): AcceptCode | null {
  const traits: ProblemTraits = PROBLEM_MESSAGES[code]
  return severity === 'warning' ? (traits.needs ?? null) : null
}

/**
 * Which rows a warning counts: those that are sent, only rows that are not, such as a first line that is read as the header,
 * or all of them.
 */
export function findCounted({ code }: Pick<Problem, 'code'>): 'sent' | 'unsent' | 'all' {
  const traits: ProblemTraits = PROBLEM_MESSAGES[code]
  return traits.counts ?? 'sent'
}

/** What to do in a terminal so that a cause need not be accepted, as part of a sentence; null if there is nothing. */
export function findAdvice({ code, args = {} }: Pick<Problem, 'code' | 'args'>): string | null {
  const traits: ProblemTraits = PROBLEM_MESSAGES[code]
  return traits.advice?.(args as never) ?? null
}
