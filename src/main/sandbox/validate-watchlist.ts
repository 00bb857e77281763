import { z } from 'zod'
import { updateTermSchema } from '../../shared/service/watchlist.ts'
import { formatIssues } from './format-issues.ts'
import { SandboxRefusal } from './sandbox-errors.ts'

/** A term as it was sent. */
export interface SubmittedTerm {
  term: string
  /** Null clears, undefined was not sent. */
  notes?: string | null | undefined
}

/** Terms for a watchlist; each may still be over the limits. */
export interface CheckedTerms {
  watchlist: string
  terms: readonly SubmittedTerm[]
}

const watchlistSchema = z.string().min(1, 'must not be empty')

const addSchema = z.object({
  watchlist: watchlistSchema,
  terms: z.array(z.object({ term: z.string(), notes: z.string().optional() })),
})

const updateSchema = z.object({
  watchlist: watchlistSchema,
  terms: z.array(z.object({ term: z.string(), notes: z.string().nullish() })),
})

/** Problems that a refusal names; a request may have thousands. */
const MAX_NAMED_ISSUES = 10

/**
 * Checks terms to add or to update (docs/interface.md §4.5, §4.6, §7.3). Refuses with `PARAM_REQUIRED` where a field is
 * missing or of another type. Terms over the limits are no error of the call and pass.
 */
export function parseTerms(operation: 'add' | 'update', value: unknown): CheckedTerms {
  const parsed = (operation === 'add' ? addSchema : updateSchema).safeParse(value)
  if (parsed.success) return parsed.data
  const { issues } = parsed.error
  const more = issues.length > MAX_NAMED_ISSUES ? `; and ${issues.length - MAX_NAMED_ISSUES} more` : ''
  throw new SandboxRefusal('PARAM_REQUIRED', formatIssues(issues.slice(0, MAX_NAMED_ISSUES), value) + more)
}

/** Whether a term and its notes keep the limits (docs/interface.md §8). */
export function isTermWithinLimits(term: SubmittedTerm): boolean {
  return updateTermSchema.safeParse(term).success
}
