import { useCallback, useEffect, useRef, useState } from 'react'
import type { WordedError } from '../../shared/messages/error-messages.ts'
import { toShownError } from './shown-error.ts'

/** What a screen knows of something it asked for. While it asks again, `data` is what it was told last. */
export interface Query<T> {
  data: T | null
  error: WordedError | null
  busy: boolean
  /** Asks again. */
  refresh: () => void
}

/**
 * Asks the engine for something whenever `key` changes, and every `everyMs` where that is given; an answer that came
 * too late to matter is dropped. A null key asks for nothing. What was known is forgotten when the key changes, unless
 * `keep` is set.
 */
export function useQuery<T>(
  key: string | null,
  load: (signal: AbortSignal) => Promise<T>,
  options: { everyMs?: number | undefined; keep?: boolean } = {},
): Query<T> {
  const { everyMs, keep = false } = options
  const [state, setState] = useState<{
    key: string | null
    data: T | null
    error: WordedError | null
    busy: boolean
  }>({ key: null, data: null, error: null, busy: false })
  const [round, setRound] = useState(0)
  const newest = useRef(load)
  newest.current = load

  // biome-ignore lint/correctness/useExhaustiveDependencies: a new round asks again for the same key
  useEffect(() => {
    if (key === null) return
    const controller = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    const ask = async () => {
      setState((old) => ({ ...old, busy: true }))
      try {
        const data = await newest.current(controller.signal)
        if (!controller.signal.aborted) setState({ key, data, error: null, busy: false })
      } catch (error) {
        if (!controller.signal.aborted) {
          setState((old) => ({
            ...old,
            key,
            data: old.key === key ? old.data : null,
            error: toShownError(error),
            busy: false,
          }))
        }
      }
      if (everyMs !== undefined && !controller.signal.aborted) timer = setTimeout(ask, everyMs)
    }
    void ask()
    return () => {
      controller.abort()
      clearTimeout(timer)
    }
  }, [key, everyMs, round])

  const refresh = useCallback(() => setRound((count) => count + 1), [])
  const isCurrent = state.key === key
  return {
    data: isCurrent || keep ? state.data : null,
    error: isCurrent ? state.error : null,
    busy: key !== null && (state.busy || !isCurrent),
    refresh,
  }
}
