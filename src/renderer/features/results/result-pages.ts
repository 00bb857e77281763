import {
  hashKey,
  QueriesObserver,
  type QueryClient,
  type QueryFunction,
  type QueryKey,
  type QueryObserverOptions,
  type QueryObserverResult,
} from '@tanstack/react-query'
import { useCallback, useEffect, useMemo, useRef, useSyncExternalStore } from 'react'
import type { BridgePage, PageRow } from '../../../shared/bridge/results.ts'
import type { RowSort } from '../../../shared/run/results.ts'
import type { RowFilter } from '../../../shared/run/row-filters.ts'
import { ask, bridge, queryClient } from '../../bridge/client.ts'
import { PAGE_ROWS } from '../../bridge/read-ahead.ts'
import { listKeptRows, NARROWED_BY_VERDICT, whenStored } from '../../bridge/verdicts.ts'

/** How often rows in view are read again during the run, milliseconds. */
export const REFRESH_MS = 1_000

/** How often pages are read again until all rows are counted, milliseconds; each waits for more counting. */
export const COUNT_AGAIN_MS = 50

/** Rows prefetched beyond the view while it scrolls. */
const AHEAD_ROWS = 50

/** Pages cached; the least recently used goes first. */
export const PAGES_KEPT = 120

/** The range in view until rows are wanted. */
const NOTHING = { first: 0, last: -1 }

/** Whether the number of rows is exact, a lower bound, or not known yet. */
export type Counted = 'no' | 'at-least' | 'exactly'

/** A filtered list of rows for the table; while the run is `live`, pages are read again every second. */
export function useResultPages(
  runId: string,
  asked: { filter: RowFilter; sort: RowSort | null; columns: readonly string[] },
  live: boolean,
): {
  count: number
  counted: Counted
  pages: ResultPages
  /** A row's position in the list, even outside the loaded pages; null if the list does not have it. */
  findOffset: (row: number, signal: AbortSignal) => Promise<number | null>
  error: unknown
} {
  const { filter, sort, columns } = asked
  const rowsInView = useRef(0)
  const lastCount = useRef(0)
  const toInput = useCallback(() => {
    const { verdict } = filter
    return {
      runId,
      // Keeps every row in its place when pages are read again.
      filter: verdict === undefined ? filter : { ...filter, keptRows: listKeptRows(runId, verdict) },
      ...(sort !== null && { sort }),
    }
  }, [runId, filter, sort])
  const pages = useMemo(
    () =>
      createResultPages(queryClient, (offset) => {
        const page = { offset, limit: PAGE_ROWS, ...(columns.length > 0 && { columns: [...columns] }) }
        const input = { runId, filter, ...(sort !== null && { sort }), ...page }
        if (filter.verdict === undefined) return ask.results.page.queryOptions({ input })
        return {
          ...ask.results.page.queryOptions({ input, meta: NARROWED_BY_VERDICT }),
          queryFn: async ({ signal }: { signal: AbortSignal }) => {
            // The list must include the verdicts that the table already shows.
            await whenStored()
            return bridge.results.page({ ...toInput(), ...page }, { signal })
          },
        }
      }),
    [runId, filter, sort, columns, toInput],
  )
  const findOffset = useCallback(
    async (row: number, signal: AbortSignal) => {
      if (filter.verdict !== undefined) await whenStored()
      return bridge.results.findOffset({ ...toInput(), row }, { signal })
    },
    [filter, toInput],
  )
  const total = useSyncExternalStore(pages.subscribe, pages.total)
  const error = useSyncExternalStore(pages.subscribe, pages.error)
  useEffect(() => {
    // A drawn table has already asked for its rows, wherever it is scrolled to.
    if (!pages.isWanted()) pages.want(0, rowsInView.current)
    return () => {
      rowsInView.current = pages.rowsInView()
      pages.forget()
    }
  }, [pages])
  useEffect(() => pages.refreshEvery(live ? REFRESH_MS : false), [pages, live])

  if (total !== null) lastCount.current = total.rows
  const counted = total === null ? 'no' : total.isCounted ? 'exactly' : 'at-least'
  return { count: lastCount.current, counted, pages, findOffset, error }
}

/** Reads rows in view; the function changes whenever one of them arrives or changes. */
export function usePageRows(pages: ResultPages): (index: number) => PageRow | null {
  const arrivals = useSyncExternalStore(pages.subscribe, pages.arrivals)
  // biome-ignore lint/correctness/useExhaustiveDependencies: what arrives is new rows of the same pages
  return useCallback((index: number) => pages.rowAt(index), [pages, arrivals])
}

export type ResultPages = ReturnType<typeof createResultPages>

/**
 * Reads the pages of one list of rows as they come into view, with the query for their offset. A page stays
 * while it is read again; a pending page that leaves the view is cancelled.
 */
export function createResultPages(
  client: QueryClient,
  toQuery: (offset: number) => { queryKey: QueryKey; queryFn: QueryFunction<BridgePage> },
) {
  const observer = new QueriesObserver(client, [])
  /** Keys of the cached pages, the least recently used first. */
  const kept = new Map<number, { queryKey: QueryKey; hash: string }>()
  const cache = client.getQueryCache()
  let inView: number[] = []
  let wanted = NOTHING
  let arrivals = 0
  let everyMs: number | false = false
  let total: { rows: number; isCounted: boolean } | null = null
  let totalAt = 0
  /** The pages in view at the last notification. */
  let drawn: (BridgePage | undefined)[] = []

  const toResults = () => observer.getCurrentResult() as QueryObserverResult<BridgePage>[]

  function observe(): void {
    const queries = inView.map((page): QueryObserverOptions<BridgePage> => {
      const query = toQuery(page * PAGE_ROWS)
      kept.delete(page)
      kept.set(page, { queryKey: query.queryKey, hash: hashKey(query.queryKey) })
      return {
        ...query,
        gcTime: Number.POSITIVE_INFINITY,
        staleTime: everyMs === false ? Number.POSITIVE_INFINITY : 0,
        refetchInterval: ({ state }) => (state.data?.isCounted === false ? COUNT_AGAIN_MS : everyMs),
      }
    })
    observer.setQueries(queries as QueryObserverOptions[])
    for (const [page, { queryKey }] of kept) {
      if (kept.size <= PAGES_KEPT) break
      kept.delete(page)
      client.removeQueries({ queryKey, exact: true })
    }
  }

  function take(): void {
    const results = toResults()
    if (results.some(({ data }, at) => data !== drawn[at])) arrivals += 1
    drawn = results.map(({ data }) => data)
    for (const { data, dataUpdatedAt } of results) {
      if (data === undefined || dataUpdatedAt < totalAt) continue
      totalAt = dataUpdatedAt
      if (data.total === total?.rows && data.isCounted === total.isCounted) continue
      total = { rows: data.total, isCounted: data.isCounted }
    }
  }

  function read(page: number): BridgePage | undefined {
    const known = kept.get(page)
    return known && (cache.get(known.hash)?.state.data as BridgePage | undefined)
  }

  return {
    /** Loads missing rows in a range, and around it if the view scrolls. */
    want(first: number, last: number) {
      const isScrolled = first !== wanted.first && first <= wanted.last && last >= wanted.first
      wanted = { first, last }
      const ahead = isScrolled ? AHEAD_ROWS : 0
      const end = Math.max(last, Math.min(last + ahead, (total?.rows ?? 0) - 1))
      const from = Math.floor(Math.max(0, first - ahead) / PAGE_ROWS)
      const to = Math.floor(Math.max(0, end) / PAGE_ROWS)
      if (from === inView[0] && to === inView.at(-1)) return
      inView = Array.from({ length: to - from + 1 }, (_, index) => from + index)
      observe()
    },
    /** Reads the pages in view again at this interval, milliseconds. */
    refreshEvery(ms: number | false) {
      everyMs = ms
      observe()
    },
    /** The row at a position; null until it is loaded. */
    rowAt(index: number): PageRow | null {
      return read(Math.floor(index / PAGE_ROWS))?.rows[index % PAGE_ROWS] ?? null
    },
    isRead: (index: number) => read(Math.floor(index / PAGE_ROWS)) !== undefined,
    /** The position of a row in the pages in view; null if they do not have it. */
    findIndex(row: number): number | null {
      for (const page of inView) {
        const index = read(page)?.rows.findIndex((one) => one.row === row) ?? -1
        if (index !== -1) return page * PAGE_ROWS + index
      }
      return null
    },
    /** Whether any rows were wanted since the last `forget`. */
    isWanted: () => wanted !== NOTHING,
    /** Number of rows from the first to the last in view. */
    rowsInView: () => Math.max(0, wanted.last - wanted.first),
    /** Number of rows according to the newest page; null before the first. */
    total: () => total,
    /** Why a page in view cannot be read; null if all can. */
    error: () => toResults().find(({ error }) => error !== null)?.error ?? null,
    results: toResults,
    /** Increases when rows of a page in view arrive or change. */
    arrivals: () => arrivals,
    /** Calls the listener when a page in view arrives or fails; returns a function that stops it. */
    subscribe(listener: () => void) {
      // Prefetched pages have arrived without a notification.
      take()
      return observer.subscribe(() => {
        take()
        listener()
      })
    },
    /** Drops every page. */
    forget() {
      inView = []
      wanted = NOTHING
      for (const { queryKey } of kept.values()) client.removeQueries({ queryKey, exact: true })
      kept.clear()
    },
  }
}
