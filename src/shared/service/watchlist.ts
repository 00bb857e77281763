import { z } from 'zod'
import { NOTES_MAX_CHARACTERS, type RequestField, TERM_MAX_CHARACTERS } from './request-field.ts'

/** Every field of a watchlist's term, in the order of docs/interface.md §2.5. */
export const TERM_FIELDS = [
  {
    name: 'term',
    kind: 'string',
    required: 'always',
    mode: 'both',
    note: 'A word or phrase of at most 1024 characters; the service lower-cases it.',
  },
  {
    name: 'notes',
    kind: 'string',
    required: 'never',
    mode: 'both',
    note: 'What people should know about the term, at most 1024 characters.',
  },
] as const satisfies readonly RequestField[]

/** Whether a text has at most so many characters, an emoji being one: counts code points. */
export function hasAtMost(text: string, maxCharacters: number): boolean {
  return text.length <= maxCharacters || Array.from(text).length <= maxCharacters
}

const termTextSchema = z
  .string()
  .min(1, 'must not be empty')
  .refine(
    (term) => hasAtMost(term, TERM_MAX_CHARACTERS),
    `must have at most ${TERM_MAX_CHARACTERS} characters`,
  )

const notesTextSchema = z
  .string()
  .refine(
    (notes) => hasAtMost(notes, NOTES_MAX_CHARACTERS),
    `must have at most ${NOTES_MAX_CHARACTERS} characters`,
  )

/** A term to add (docs/interface.md §2.5). The service lower-cases it before matching. */
export const addTermSchema = z.object({ term: termTextSchema, notes: notesTextSchema.optional() })

/** A term whose notes are updated; null clears them (docs/interface.md §2.5, §4.6). */
export const updateTermSchema = z.object({ term: termTextSchema, notes: notesTextSchema.nullish() })

/** A term in an answer: an object, or its text alone where the shape is not shown (docs/interface.md §4.5, §4.6). */
const answeredTermSchema = z.union([
  z.string(),
  z.looseObject({ term: z.string(), notes: z.string().nullish() }),
])

/** Answer to an add (docs/interface.md §4.5); every field is always present. */
export const watchlistAddResponseSchema = z.looseObject({
  message: z.string(),
  watchlist: z.string(),
  added_terms: z.array(answeredTermSchema),
  pre_existing_terms: z.array(answeredTermSchema),
  failed_terms: z.array(answeredTermSchema),
})

export type WatchlistAddResponse = z.infer<typeof watchlistAddResponseSchema>

/** Answer to an update (docs/interface.md §4.6); every field is always present. */
export const watchlistUpdateResponseSchema = z.looseObject({
  message: z.string(),
  watchlist: z.string(),
  updated_terms: z.array(answeredTermSchema),
  non_existent_terms: z.array(answeredTermSchema),
  failed_terms: z.array(answeredTermSchema),
})

export type WatchlistUpdateResponse = z.infer<typeof watchlistUpdateResponseSchema>
