import {
  QueriesObserver,
  type QueryClient,
  type QueryFunction,
  type QueryKey,
  type QueryObserverOptions,
  type QueryObserverResult,
} from '@tanstack/react-query'
import { useCallback, useEffect, useMemo, useRef, useSyncExternalStore } from 'react'
import type { BridgePage, PageRow } from '../../../shared/bridge/results.ts'
import type { RowFilter, RowSort } from '../../../shared/run/results.ts'
import { ask, queryClient } from '../../bridge/client.ts'
import { NARROWED_BY_VERDICT } from '../../bridge/verdicts.ts'

/** How often rows in view are read again during the run. */
export const REFRESH_MS = 1_000

/** How often they are read again until all matching rows are counted; each answer waits for some more counting. */
export const COUNT_AGAIN_MS = 50

/** Rows fetched at once. */
export const PAGE_ROWS = 100

/** Pages kept; the one used longest ago goes first. */
export const PAGES_KEPT = 60

/** Whether there are that many rows, at least that many, or the number is not known yet. */
export type Counted = 'no' | 'at-least' | 'exactly'

/** A filtered list of rows as the table sees it; pages are read again every second while the run is `live`. */
export function useResultPages(
  runId: string,
  asked: { filter: RowFilter; sort: RowSort | null; columns: readonly string[] },
  live: boolean,
): {
  count: number
  counted: Counted
  rowAt: (index: number) => PageRow | null
  want: (first: number, last: number) => void
  error: unknown
} {
  const { filter, sort, columns } = asked
  const view = useRef({ first: 0, last: 0 })
  const lastCount = useRef(0)
  const pages = useMemo(
    () =>
      createResultPages(queryClient, (offset) =>
        ask.results.page.queryOptions({
          input: {
            ...{ runId, filter, offset, limit: PAGE_ROWS },
            ...(sort !== null && { sort }),
            ...(columns.length > 0 && { columns: [...columns] }),
          },
          ...(filter.verdict !== undefined && { meta: NARROWED_BY_VERDICT }),
        }),
      ),
    [runId, filter, sort, columns],
  )
  const results = useSyncExternalStore(pages.subscribe, pages.results)
  useEffect(() => {
    pages.want(0, view.current.last - view.current.first)
    return pages.forget
  }, [pages])
  useEffect(() => pages.refreshEvery(live ? REFRESH_MS : false), [pages, live])

  const want = useCallback(
    (first: number, last: number) => {
      view.current = { first, last }
      pages.want(first, last)
    },
    [pages],
  )
  // biome-ignore lint/correctness/useExhaustiveDependencies: new results are new rows of the same pages
  const rowAt = useCallback((index: number) => pages.rowAt(index), [pages, results])
  const total = pages.total()
  if (total !== null) lastCount.current = total.rows
  const counted = total === null ? 'no' : total.isCounted ? 'exactly' : 'at-least'
  const error = results.find((result) => result.error !== null)?.error ?? null
  return { count: lastCount.current, counted, rowAt, want, error }
}

/**
 * Reads the pages of one list of rows as they come into view, by the query of their offset. A page stays in place
 * while it is read again, and is given up when it leaves the view before it arrives.
 */
export function createResultPages(
  client: QueryClient,
  toQuery: (offset: number) => { queryKey: QueryKey; queryFn: QueryFunction<BridgePage> },
) {
  const observer = new QueriesObserver(client, [])
  /** Keys of the pages that are kept, the one used longest ago first. */
  const kept = new Map<number, QueryKey>()
  let inView: number[] = []
  let everyMs: number | false = false
  let total: { rows: number; isCounted: boolean; at: number } | null = null

  const toResults = () => observer.getCurrentResult() as QueryObserverResult<BridgePage>[]

  function observe(): void {
    const queries = inView.map((page): QueryObserverOptions<BridgePage> => {
      const query = toQuery(page * PAGE_ROWS)
      kept.delete(page)
      kept.set(page, query.queryKey)
      return {
        ...query,
        gcTime: Number.POSITIVE_INFINITY,
        staleTime: everyMs === false ? Number.POSITIVE_INFINITY : 0,
        refetchInterval: ({ state }) => (state.data?.isCounted === false ? COUNT_AGAIN_MS : everyMs),
      }
    })
    observer.setQueries(queries as QueryObserverOptions[])
    for (const [page, queryKey] of kept) {
      if (kept.size <= PAGES_KEPT) break
      kept.delete(page)
      client.removeQueries({ queryKey, exact: true })
    }
  }

  return {
    /** Reads what is missing between two rows. */
    want(first: number, last: number) {
      const from = Math.floor(Math.max(0, first) / PAGE_ROWS)
      const to = Math.floor(Math.max(0, last) / PAGE_ROWS)
      if (from === inView[0] && to === inView.at(-1)) return
      inView = Array.from({ length: to - from + 1 }, (_, index) => from + index)
      observe()
    },
    /** Reads the pages in view again every so many milliseconds. */
    refreshEvery(ms: number | false) {
      everyMs = ms
      observe()
    },
    /** The row at a place in the list; null until it is read. */
    rowAt(index: number): PageRow | null {
      const key = kept.get(Math.floor(index / PAGE_ROWS))
      const page = key === undefined ? undefined : client.getQueryData<BridgePage>(key)
      return page?.rows[index % PAGE_ROWS] ?? null
    },
    /** How many rows the newest page said there are; null before the first. */
    total: () => total,
    results: toResults,
    /** Calls the listener when a page in view arrives or cannot be read; returns the way to stop it. */
    subscribe(listener: () => void) {
      return observer.subscribe(() => {
        for (const { data, dataUpdatedAt: at } of toResults()) {
          if (data !== undefined && at >= (total?.at ?? 0)) {
            total = { rows: data.total, isCounted: data.isCounted, at }
          }
        }
        listener()
      })
    },
    /** Drops every page. */
    forget() {
      inView = []
      for (const queryKey of kept.values()) client.removeQueries({ queryKey, exact: true })
      kept.clear()
    },
  }
}
