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
  {
    reason: 'callbacks that differ from the one that counts, or name another post, are counted',
    apply: (answer) => {
      const addCounts = (document: unknown) => {
        if (!isObject(document) || !isObject(document['callbacks'])) return document
        const { callbacks } = document
        if (callbacks['early'] === undefined) return document
        return { ...document, callbacks: { ...callbacks, differing: 0, other_post: 0 } }
      }
      const { stdout } = answer
      return { ...answer, stdout: Array.isArray(stdout) ? stdout.map(addCounts) : addCounts(stdout) }
    },
  },
]

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

/** What a golden workspace has to answer today. */
export function toExpected(answer: Answer): Answer {
  return INTENDED_DIFFERENCES.reduce((expected, { apply }) => apply(expected), answer)
}
