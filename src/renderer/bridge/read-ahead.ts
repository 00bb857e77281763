import { QueryObserver, type QueryObserverOptions } from '@tanstack/react-query'
import { ask, queryClient } from './client.ts'

/** Rows of results fetched at once: about as many as a window shows. What is not shown holds up what is. */
export const PAGE_ROWS = 50

/** How long what was read ahead is kept for the screen that shows it, milliseconds. */
export const KEPT_AHEAD_MS = 2_000

/**
 * Asks for what the results of a run show first once the pointer or the focus is on what leads to them: a person takes
 * longer to press than the engine to answer. What nobody then looks at is forgotten after {@link KEPT_AHEAD_MS}.
 */
export function readResultsAhead(runId: string): void {
  const questions = [
    ask.runs.readPlan.queryOptions({ input: { runId } }),
    ask.results.columns.queryOptions({ input: { runId } }),
    ask.results.page.queryOptions({ input: { runId, filter: {}, offset: 0, limit: PAGE_ROWS } }),
    ask.results.facets.queryOptions({ input: { runId, filter: {} } }),
    ask.verdicts.list.queryOptions({ input: { runId } }),
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
