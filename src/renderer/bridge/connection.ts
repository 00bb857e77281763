import { create } from 'zustand'

/** Whether the engine can be reached. `lost`: it could, and no longer can; it is tried again all the time. */
export type ConnectionState = 'connecting' | 'open' | 'lost'

/** The state of the one connection to the engine. */
export const useConnection = create<{ state: ConnectionState }>(() => ({ state: 'connecting' }))

/** Resolves when the engine can be reached, at once where it can be. */
export function whenOpen(signal?: AbortSignal): Promise<void> {
  if (useConnection.getState().state === 'open') return Promise.resolve()
  return new Promise((resolve) => {
    const stop = useConnection.subscribe(({ state }) => {
      if (state !== 'open' && !signal?.aborted) return
      stop()
      resolve()
    })
    signal?.addEventListener('abort', () => {
      stop()
      resolve()
    })
  })
}
