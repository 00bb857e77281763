import type { Answer } from './answers.ts'

/** A difference between what a golden workspace answered when it was written and what it answers today. */
export interface IntendedDifference {
  /** Why today's answer is the better one. */
  reason: string
  /** Turns an answer of then into that of today; leaves answers as they are that it is not about. */
  apply(answer: Answer): Answer
}

/** Every difference that is meant. Whoever changes an answer adds one here, and a line to docs/migrating.md. */
export const INTENDED_DIFFERENCES: readonly IntendedDifference[] = [
  {
    reason: 'each JSON document says which version of its schema it follows',
    apply: (answer) => {
      const { args, stdout } = answer
      if (!args.includes('--json') || (Array.isArray(stdout) && stdout.length === 0)) return answer
      const addVersion = (document: object) => ({ schema_version: 1, ...document })
      return {
        ...answer,
        stdout: Array.isArray(stdout) ? stdout.map(addVersion) : addVersion(stdout as object),
      }
    },
  },
]

/** What a golden workspace has to answer today. */
export function toExpected(answer: Answer): Answer {
  return INTENDED_DIFFERENCES.reduce((expected, { apply }) => apply(expected), answer)
}
