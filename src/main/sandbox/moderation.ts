import type { Rule } from '../../shared/sandbox/content.ts'
import { createWatchlistMatcher, type WatchlistMatcher } from './analysis/watchlist-matcher.ts'
import type { SandboxStore } from './store/open-store.ts'

export function createModeration(store: SandboxStore) {
  let rules: readonly Rule[] = []
  let matchTerms: WatchlistMatcher = () => []
  // Deferred: a long list is added in many requests, and none may ask in between.
  let isStale = true
  const refresh = (): void => {
    if (!isStale) return
    isStale = false
    rules = store.rules.list()
    matchTerms = createWatchlistMatcher(
      new Map(
        store.watchlists
          .names()
          .map((name) => [name, (store.watchlists.terms(name) ?? []).map(({ term }) => term)]),
      ),
    )
  }
  return {
    get rules() {
      refresh()
      return rules
    },
    get matchTerms() {
      refresh()
      return matchTerms
    },
    /** Reloads from the store at the next use; call it after every change of rules or watchlists. */
    reload: (): void => {
      isStale = true
    },
  }
}

/** Rules and watchlists, prepared for the analysis. */
export interface Moderation extends ReturnType<typeof createModeration> {}
