import { useCallback, useEffect, useRef, useState } from 'react'
import type { AppDescription, ConnectionEntry } from '../../shared/bridge/app.ts'
import type { WordedError } from '../../shared/messages/error-messages.ts'
import { bridge, useConnection } from './client.ts'
import { useLiveRuns } from './live-runs.ts'
import { toShownError } from './shown-error.ts'

/** What a screen knows of something it asked for. While it asks again, `data` is what it was told last. */
interface Query<T> {
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

/** Something a person set going: whether it is still going, and how it failed. */
export interface Action<A extends unknown[]> {
  busy: boolean
  error: WordedError | null
  run: (...given: A) => Promise<void>
  /** Takes the error off the screen. */
  dismiss: () => void
}

/** Wraps a call to the engine, so that a screen shows that it is under way and what went wrong. */
export function useAction<A extends unknown[]>(act: (...given: A) => Promise<void>): Action<A> {
  const [state, setState] = useState<{ busy: boolean; error: WordedError | null }>({
    busy: false,
    error: null,
  })
  const run = useCallback(
    async (...given: A) => {
      setState({ busy: true, error: null })
      try {
        await act(...given)
        setState({ busy: false, error: null })
      } catch (error) {
        setState({ busy: false, error: toShownError(error) })
      }
    },
    [act],
  )
  const dismiss = useCallback(() => setState((old) => ({ ...old, error: null })), [])
  return { ...state, run, dismiss }
}

/** What the machine knows; asked again when the connection is back and when runs come and go. */
export function useAppDescription(): AppDescription | null {
  const state = useConnection((known) => known.state)
  const revision = useLiveRuns((live) => live.revision)
  return useQuery(
    state === 'lost' ? null : `app ${revision}`,
    (signal) => bridge.app.describe(undefined, { signal }),
    {
      keep: true,
    },
  ).data
}

const NONE: readonly ConnectionEntry[] = []

/** The deployments that the workspace remembers; asked again whenever runs come and go. */
export function useConnections(): readonly ConnectionEntry[] {
  const state = useConnection((known) => known.state)
  const revision = useLiveRuns((live) => live.revision)
  const list = useQuery(
    state === 'lost' ? null : `connections ${revision}`,
    (signal) => bridge.connections.list(undefined, { signal }),
    { keep: true },
  )
  return list.data ?? NONE
}
