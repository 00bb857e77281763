import { useEffect, useState } from 'react'
import { followReceiver } from '../../shared/bridge/follow.ts'
import type { ReceiverState } from '../../shared/run/callback-overview.ts'
import { ask, bridge, queryClient, whenOpen } from './client.ts'

const AGAIN_MS = 1_000

/**
 * The receiver of this process as it stands, null while it is not open, undefined until that is known. Has the overview of
 * callbacks read again at each change.
 */
export function useReceiver(): ReceiverState | null | undefined {
  const [receiver, setReceiver] = useState<ReceiverState | null | undefined>(undefined)
  useEffect(() => {
    const controller = new AbortController()
    const { signal } = controller
    const follow = async () => {
      while (!signal.aborted) {
        try {
          for await (const state of followReceiver(bridge, signal)) {
            if (signal.aborted) return
            setReceiver(state)
            void queryClient.invalidateQueries({ queryKey: ask.receiver.overview.key() })
          }
        } catch {
          // The connection was lost; the shell says so, and this goes on when it is back.
        }
        await new Promise((resolve) => setTimeout(resolve, AGAIN_MS))
        await whenOpen(signal)
      }
    }
    void follow()
    return () => controller.abort()
  }, [])
  return receiver
}
