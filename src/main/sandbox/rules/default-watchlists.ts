import type { StoredTerm } from '../store/watchlist-store.ts'

/** Name of the watchlist that a new sandbox has. */
export const DEFAULT_WATCHLIST = 'sandbox_terms'

/** The watchlists of a new sandbox. */
export const DEFAULT_WATCHLISTS: Record<string, StoredTerm[]> = {
  [DEFAULT_WATCHLIST]: [
    { term: 'sandbox:watchlist', notes: 'A test phrase.' },
    { term: 'premium rate', notes: 'Calls and messages that cost extra.' },
    { term: 'account number', notes: null },
    { term: 'gift card', notes: null },
    { term: 'bank details', notes: null },
  ],
}
