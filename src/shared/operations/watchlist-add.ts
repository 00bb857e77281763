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

/** A term to add (docs/interface.md §2.5). */
export const addTermSchema = z.object({ term: termTextSchema, notes: notesTextSchema.optional() })

export const WATCHLIST_ADD_PATH = '/api/v1/watchlist/add'

/** Adds each row's term to a watchlist (docs/interface.md §4.5). */
export const WATCHLIST_ADD = defineOperation({
  ...WATCHLIST_TRAITS,
  kind: 'watchlist-add',
  schema: z.object({ kind: z.literal('watchlist-add'), ...watchlistShape }),
  scratch: z.strictObject({ kind: z.literal('watchlist-add') }),
  first: { kind: 'watchlist-add', watchlist: '', termsPerRequest: TERMS_PER_REQUEST_DEFAULT },
  endpoint: { method: 'POST', path: () => WATCHLIST_ADD_PATH, sendsKey: true },
  errors: [
    TERMS_INCOMPLETE,
    {
      status: 403,
      errorCode: 'PARAM_REQUIRED',
      condition:
        'A required parameter is missing or of an invalid type, as the table of watchlist add pairs it.',
      consistent: false,
    },
    {
      status: 400,
      errorCode: 'INVALID_API_KEY',
      condition: 'No application matches the key, as the table of watchlist add pairs it.',
      consistent: false,
    },
  ],
  ledger: { of: 'watchlist', effect: 'adds' },
  words: {
    title: 'Add terms',
    command: 'watchlist add',
    meaning: 'Adds terms, with optional notes, to an existing watchlist.',
    describe: describeWatchlist,
    verb: 'adds',
    single: 'adds terms to a watchlist',
    lasting: (_operation, fills) =>
      fills('notes') ? 'Existing notes of these terms will be overwritten.' : null,
    notice: {
      kind: 'warning',
      title: 'Notes of existing terms are overwritten',
      text: 'If a term exists in the watchlist, the notes from this source replace its notes, and it counts as pre-existing. The old notes cannot be read back.',
    },
  },
  single: {
    of: ({ kind }) => ({ kind }),
    first: () => ({ kind: 'watchlist-add' }),
    example: toExampleTerms,
  },
})
