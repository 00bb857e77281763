import { useCallback, useEffect, useMemo, useReducer, useRef, useState } from 'react'
import type { PageRow } from '../../../shared/bridge/results.ts'
import type { WordedError } from '../../../shared/messages/error-messages.ts'
import type { RowFilter } from '../../../shared/run/results.ts'
import { bridge } from '../../bridge/client.ts'
import { toShownError } from '../../bridge/shown-error.ts'
import { createPageCache } from './page-cache.ts'

const REFRESH_MS = 1_000
/** Between two questions about rows that are being counted; each question waits for what is counted meanwhile. */
const COUNT_AGAIN_MS = 50

/** A filtered list of rows as the table sees it. */
export interface ResultPages {
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
