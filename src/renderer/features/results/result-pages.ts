import { useCallback, useEffect, useMemo, useReducer, useRef, useState } from 'react'
import type { BridgePage, PageRow } from '../../../shared/bridge/results.ts'
import type { WordedError } from '../../../shared/messages/error-messages.ts'
import type { RowFilter } from '../../../shared/run/results.ts'
import { bridge } from '../../bridge/client.ts'
import { toShownError } from '../../bridge/shown-error.ts'

const REFRESH_MS = 1_000
/** Between two questions about rows that are being counted; each question waits for what is counted meanwhile. */
const COUNT_AGAIN_MS = 50

/** A filtered list of rows as the table sees it. */
interface ResultPages {
  count: number
  /** Whether there are at least so many rows, known exactly or not known at all yet. */
  counted: 'no' | 'at-least' | 'exactly'
  rowAt: (index: number) => PageRow | null
  want: (first: number, last: number) => void
  error: WordedError | null
}

/** The pages of a run's rows under a filter; during the run, those in view are fetched again every second. */
export function useResultPages(runId: string, filter: RowFilter, live: boolean): ResultPages {
  const [version, redraw] = useReducer((count: number) => count + 1, 0)
  const [error, setError] = useState<WordedError | null>(null)
  const view = useRef({ first: 0, last: 0 })
  const lastCount = useRef(0)
  const cache = useMemo(
    () =>
      createPageCache({
        load: (page, signal) => bridge.results.page({ runId, filter, ...page }, { signal }),
        onChange: () => {
          setError(null)
          redraw()
        },
        onError: (thrown) => setError(toShownError(thrown)),
      }),
    [runId, filter],
  )
  useEffect(() => {
    cache.want(0, view.current.last - view.current.first)
    return () => cache.close()
  }, [cache])
  useEffect(() => {
    const again = () => {
      cache.refresh()
      cache.want(view.current.first, view.current.last)
    }
    // Once more when the run has ended: the last pages may hold its last but one state.
    again()
    if (!live) return
    const timer = setInterval(again, REFRESH_MS)
    return () => clearInterval(timer)
  }, [cache, live])

  const isCounting = cache.total() !== null && !cache.isCounted()
  // biome-ignore lint/correctness/useExhaustiveDependencies: each answer that has not counted to the end asks once more
  useEffect(() => {
    if (!isCounting) return
    const timer = setTimeout(() => {
      cache.refresh()
      cache.want(view.current.first, view.current.last)
    }, COUNT_AGAIN_MS)
    return () => clearTimeout(timer)
  }, [cache, isCounting, version])

  const want = useCallback(
    (first: number, last: number) => {
      view.current = { first, last }
      cache.want(first, last)
    },
    [cache],
  )
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new version means new rows behind the same cache
  const rowAt = useCallback((index: number) => cache.rowAt(index), [cache, version])
  const total = cache.total()
  if (total !== null) lastCount.current = total
  const counted = total === null ? 'no' : cache.isCounted() ? 'exactly' : 'at-least'
  return { count: total ?? lastCount.current, counted, rowAt, want, error }
}

/** Rows fetched at once. */
export const PAGE_ROWS = 100

/** Pages kept; the one used longest ago goes first. */
export const PAGES_KEPT = 60

/** Pages of one filtered list of results, fetched when they come into view. */
interface PageCache {
  /** The row at a place in the list, null while it is being fetched. */
  rowAt(index: number): PageRow | null
  /** Fetches what is missing between two places; what is no longer wanted is given up. */
  want(first: number, last: number): void
  /** Rows in all; null until the first page has said so, and at least so many where they are not counted yet. */
  total(): number | null
  /** Whether the newest page knew the total; until then it is worth asking again. */
  isCounted(): boolean
  /** Forgets every page, as when the run has moved on; rows stay on screen until new ones come. */
  refresh(): void
  /** Gives up what is being fetched. */
  close(): void
}

/**
 * A cache over `load`. `onChange` is called after each page that arrives, `onError` when one could not be fetched;
 * that page is asked for again when it is next wanted.
 */
export function createPageCache(options: {
  load: (page: { offset: number; limit: number }, signal: AbortSignal) => Promise<BridgePage>
  onChange: () => void
  onError: (error: unknown) => void
}): PageCache {
  const pages = new Map<number, { rows: PageRow[]; stale: boolean }>()
  const loading = new Map<number, AbortController>()
  let total: number | null = null
  let isCounted = false

  const fetchPage = async (page: number) => {
    const controller = new AbortController()
    loading.set(page, controller)
    try {
      const result = await options.load({ offset: page * PAGE_ROWS, limit: PAGE_ROWS }, controller.signal)
      if (controller.signal.aborted) return
      pages.delete(page)
      pages.set(page, { rows: result.rows, stale: false })
      total = result.total
      isCounted = result.isCounted
      const [oldest] = pages.keys()
      if (pages.size > PAGES_KEPT && oldest !== undefined) pages.delete(oldest)
      options.onChange()
    } catch (error) {
      if (!controller.signal.aborted) options.onError(error)
    } finally {
      if (loading.get(page) === controller) loading.delete(page)
    }
  }

  const giveUp = (keep: (page: number) => boolean) => {
    for (const [page, controller] of loading) {
      if (keep(page)) continue
      loading.delete(page)
      controller.abort()
    }
  }

  return {
    rowAt: (index) => pages.get(Math.floor(index / PAGE_ROWS))?.rows[index % PAGE_ROWS] ?? null,
    want: (first, last) => {
      const from = Math.floor(Math.max(0, first) / PAGE_ROWS)
      const to = Math.floor(Math.max(0, last) / PAGE_ROWS)
      giveUp((page) => page >= from - 1 && page <= to + 1)
      for (let page = from; page <= to; page += 1) {
        const known = pages.get(page)
        if (known) {
          pages.delete(page)
          pages.set(page, known)
        }
        if ((known === undefined || known.stale) && !loading.has(page)) void fetchPage(page)
      }
    },
    total: () => total,
    isCounted: () => isCounted,
    refresh: () => {
      giveUp(() => false)
      for (const page of pages.values()) page.stale = true
    },
    close: () => giveUp(() => false),
  }
}
