import { z } from 'zod'
import {
  NOTES_MAX_CHARACTERS,
  OPTIONAL_TEXT,
  type RequestField,
  TERM_MAX_CHARACTERS,
} from '../service/request-field.ts'
import type { RowCheck, ShownError } from './operation-entry.ts'

/** Every field of a watchlist's term, in the order of docs/interface.md §2.5. */
export const TERM_FIELDS = [
  {
    ...OPTIONAL_TEXT,
    name: 'term',
    required: 'always',
    note: 'A word or phrase of at most 1024 characters; the service lower-cases it.',
  },
  {
    ...OPTIONAL_TEXT,
    name: 'notes',
    note: 'What people should know about the term, at most 1024 characters.',
  },
] as const satisfies readonly RequestField[]

/** Whether a text has at most this many characters: counts code points, so that an emoji is one. */
export function hasAtMost(text: string, maxCharacters: number): boolean {
  return text.length <= maxCharacters || Array.from(text).length <= maxCharacters
}

/** A term (docs/interface.md §2.5). The service lower-cases it before matching. */
export const termTextSchema = z
  .string()
  .min(1, 'must not be empty')
  .refine(
    (term) => hasAtMost(term, TERM_MAX_CHARACTERS),
    `must have at most ${TERM_MAX_CHARACTERS} characters`,
  )

export const notesTextSchema = z
  .string()
  .refine(
    (notes) => hasAtMost(notes, NOTES_MAX_CHARACTERS),
    `must have at most ${NOTES_MAX_CHARACTERS} characters`,
  )

/** Most terms that a plan may put into one request; the service's limit is unknown (docs/interface.md §8). */
export const TERMS_PER_REQUEST_MAX = 10_000

export const TERMS_PER_REQUEST_DEFAULT = 500

export const watchlistShape = {
  watchlist: z.string().min(1),
  termsPerRequest: z.int().min(1).max(TERMS_PER_REQUEST_MAX).default(TERMS_PER_REQUEST_DEFAULT),
}

interface OfWatchlist {
  watchlist: string
  termsPerRequest: number
}

const checks: readonly RowCheck[] = [
  { rule: 'required', field: 'term' },
  { rule: 'blank', field: 'term' },
  { rule: 'length', field: 'term', max: TERM_MAX_CHARACTERS },
  { rule: 'length', field: 'notes', max: NOTES_MAX_CHARACTERS },
]

/** Common traits of the operations on watchlists. */
export const WATCHLIST_TRAITS = {
  subject: 'term',
  fields: TERM_FIELDS,
  namedBy: ['term'],
  recognizedBy: { ids: [['term']] },
  checks,
  // Answers repeat the watchlist, and each term in one of the lists (docs/interface.md §4.5, §4.6).
  echoes: [],
  isRepeatable: true,
  target: {
    kind: 'watchlist',
    of: ({ watchlist }: OfWatchlist) => watchlist,
    with: <Own extends OfWatchlist>(operation: Own, watchlist: string): Own => ({ ...operation, watchlist }),
    missing: 'Type the name of the watchlist',
  },
  batch: {
    target: 'watchlist',
    list: 'terms',
    rowsPerItem: ({ termsPerRequest }: OfWatchlist) => termsPerRequest,
  },
} as const

/** The settings of an operation on a watchlist, in a few words. */
export function describeWatchlist({ watchlist, termsPerRequest }: OfWatchlist): string {
  return `${watchlist || 'no watchlist yet'}, ${termsPerRequest} terms per request`
}

/** A body that the service accepts for any operation on terms. */
export function toExampleTerms(): object {
  return { watchlist: 'sandbox_terms', terms: [{ term: 'free coins', notes: 'seen in spam' }] }
}

/** The error for an incomplete request. */
export const TERMS_INCOMPLETE: ShownError = {
  status: 400,
  errorCode: 'PARAM_REQUIRED',
  condition: 'A required parameter is missing or of an invalid type.',
}
