import { QueryObserver, type QueryObserverOptions } from '@tanstack/react-query'
import { ask, queryClient } from './client.ts'
import { askVerdicts } from './verdicts.ts'

/** Rows of results fetched at once: about a window's worth. More rows would only delay those in sight. */
export const PAGE_ROWS = 50

/** How long prefetched answers are kept for the screen that shows them, milliseconds. */
export const KEPT_AHEAD_MS = 2_000

/**
 * Prefetches the beginning of a run's results when the pointer or the focus is on a link to them: people
 * press more slowly than the engine answers. Unused answers are dropped after {@link KEPT_AHEAD_MS}.
 */
export function readResultsAhead(runId: string): void {
  const questions = [
    ask.runs.readPlan.queryOptions({ input: { runId } }),
    ask.results.columns.queryOptions({ input: { runId } }),
    ask.results.page.queryOptions({ input: { runId, filter: {}, offset: 0, limit: PAGE_ROWS } }),
    ask.results.facets.queryOptions({ input: { runId, filter: {} } }),
    askVerdicts(runId),
    ask.results.listColumns.queryOptions({ input: { runId } }),
  ]
  for (const question of questions as unknown as QueryObserverOptions[]) {
    const observer = new QueryObserver(queryClient, { ...question, staleTime: KEPT_AHEAD_MS })
    setTimeout(
      observer.subscribe(() => {}),
      KEPT_AHEAD_MS,
    )
  }
}
