import { useCallback, useState } from 'react'
import type { WordedError } from '../../shared/messages/error-messages.ts'
import { toShownError } from './shown-error.ts'

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
