import { z } from 'zod'
import { defineOperation } from './operation-entry.ts'
import {
  describeWatchlist,
  notesTextSchema,
  TERMS_INCOMPLETE,
  TERMS_PER_REQUEST_DEFAULT,
  termTextSchema,
  toExampleTerms,
  WATCHLIST_TRAITS,
  watchlistShape,
} from './watchlist.ts'

/** A term whose notes are updated; null clears them (docs/interface.md §2.5). */
export const updateTermSchema = z.object({ term: termTextSchema, notes: notesTextSchema.nullish() })

export const WATCHLIST_UPDATE_PATH = '/api/v1/watchlist/update'

/** Updates the notes of each row's term (docs/interface.md §4.6). */
export const WATCHLIST_UPDATE = defineOperation({
  ...WATCHLIST_TRAITS,
  kind: 'watchlist-update',
  schema: z.object({
    kind: z.literal('watchlist-update'),
    ...watchlistShape,
    /** What an empty cell of notes means: leave the notes as they are, or clear them (null on the wire). */
    emptyNotes: z.enum(['keep', 'clear']).default('keep'),
  }),
  scratch: z.strictObject({ kind: z.literal('watchlist-update') }),
  first: {
    kind: 'watchlist-update',
    watchlist: '',
    termsPerRequest: TERMS_PER_REQUEST_DEFAULT,
    emptyNotes: 'keep',
  },
  endpoint: { method: 'POST', path: () => WATCHLIST_UPDATE_PATH, sendsKey: true },
  errors: [
    TERMS_INCOMPLETE,
    { status: 403, errorCode: 'INVALID_API_KEY', condition: 'No application matches the key.' },
  ],
  emptyNotesOf: ({ emptyNotes }) => emptyNotes,
  ledger: { of: 'watchlist', effect: 'updates' },
  words: {
    title: 'Update terms',
    command: 'watchlist update',
    meaning: 'Replaces the notes of terms in a watchlist. It never adds a term.',
    describe: describeWatchlist,
    verb: 'updates',
    single: 'updates terms of a watchlist',
    lasting: ({ emptyNotes }) =>
      emptyNotes === 'clear' ? 'Terms with an empty notes cell will lose their notes.' : null,
  },
  single: {
    of: ({ kind }) => ({ kind }),
    first: () => ({ kind: 'watchlist-update' }),
    example: toExampleTerms,
  },
})
