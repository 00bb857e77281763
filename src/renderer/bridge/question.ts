import { useEffect, useState } from 'react'
import { followQuestion } from '../../shared/bridge/follow.ts'
import type { WaitingQuestion } from '../../shared/bridge/production.ts'
import { bridge, whenOpen } from './client.ts'

const AGAIN_MS = 500

/** The question before production that this window waits for, and the wall-clock time until which; null without one. */
export function useWaitingQuestion(): (WaitingQuestion & { untilMs: number }) | null {
  const [waiting, setWaiting] = useState<(WaitingQuestion & { untilMs: number }) | null>(null)
  useEffect(() => {
    const controller = new AbortController()
    const { signal } = controller
    const follow = async () => {
      while (!signal.aborted) {
        try {
          for await (const question of followQuestion(bridge, signal)) {
            if (signal.aborted) return
            setWaiting(question && { ...question, untilMs: Date.now() + question.waitsMs })
          }
        } catch {
          // The connection was lost; the shell says so, and this goes on when it is back.
        }
        if (signal.aborted) return
        // What this window asked for ends with its connection.
        setWaiting(null)
        await new Promise((resolve) => setTimeout(resolve, AGAIN_MS))
        await whenOpen(signal)
      }
    }
    void follow()
    return () => controller.abort()
  }, [])
  return waiting
}
