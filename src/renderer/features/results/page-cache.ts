import type { BridgePage, PageRow } from '../../../shared/bridge/results.ts'

/** Rows fetched at once. */
export const PAGE_ROWS = 100

/** Pages kept; the one used longest ago goes first. */
export const PAGES_KEPT = 60

/** Pages of one filtered list of results, fetched when they come into view. */
export interface PageCache {
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
