import { useEffect } from 'react'
import { whenOpen } from './client.ts'

const AGAIN_MS = 500

/**
 * Follows a stream of the engine while a component is shown; restarts it if `about` changes and, if it ended
 * or failed, once the engine is reachable again.
 */
export function useStream<Said>(
  stream: {
    follow: (signal: AbortSignal) => AsyncIterable<Said>
    onSaid: (said: Said) => void
    /** Called with the failure, or null at the end; `over` if nothing more will come. */
    onEnd?: (failure: unknown) => 'over' | undefined
    onBack?: () => void
  },
  about?: unknown,
): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: what the stream is about says when it is another one
  useEffect(() => {
    const controller = new AbortController()
    const { signal } = controller
    const keepFollowing = async () => {
      while (!signal.aborted) {
        let failure: unknown = null
        try {
          for await (const said of stream.follow(signal)) {
            if (signal.aborted) return
            stream.onSaid(said)
          }
        } catch (error) {
          // The connection was lost: the shell says so, and this continues when it is back.
          failure = error
        }
        if (signal.aborted || stream.onEnd?.(failure) === 'over') return
        await new Promise((resolve) => setTimeout(resolve, AGAIN_MS))
        await whenOpen(signal)
        if (!signal.aborted) stream.onBack?.()
      }
    }
    void keepFollowing()
    return () => controller.abort()
  }, [about])
}
