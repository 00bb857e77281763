import { type UseMutationResult, useMutation } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { parseBridgeError } from '../../shared/bridge/errors.ts'
import type { AcceptCode } from '../../shared/run/accept-code.ts'
import type { ProblemGroup } from '../../shared/run/problem.ts'
import type { RunSummary } from '../../shared/run/run.ts'
import { bridge } from './client.ts'

/** A run whose source was read and checked, before anything is sent. */
interface ReadRun {
  runId: string
  run: RunSummary
  problems: readonly ProblemGroup[]
  /** Warnings that must be accepted before the rows are sent. */
  open: readonly ProblemGroup[]
}

/**
 * Reads and checks the source of a run that `start` begins, and sends it once the person has seen the result.
 * A run that is neither sent nor opened is deleted when the dialog closes.
 */
export function useWaitingRun(options: {
  start: () => Promise<{ runId: string }>
  onOpen: (runId: string) => void
}): {
  waiting: ReadRun | null
  read: UseMutationResult<void, Error, void>
  /** Sends, with the necessary warnings accepted. */
  send: UseMutationResult<void, Error, AcceptCode[]>
  /** Whether the answer to sending was lost, so that it may have been sent. */
  isUnclear: boolean
  open: () => void
} {
  const { start, onOpen } = options
  const [waiting, setWaiting] = useState<ReadRun | null>(null)
  const [isUnclear, setUnclear] = useState(false)
  const isShown = useRef(true)
  const unsent = useRef<string | null>(null)
  useEffect(() => {
    isShown.current = true
    return () => {
      isShown.current = false
      if (unsent.current !== null) void dropUnsent(unsent.current)
    }
  }, [])
  const open = () => {
    if (waiting === null) return
    unsent.current = null
    onOpen(waiting.runId)
  }
  const read = useMutation({
    mutationFn: async () => {
      const { runId } = await start()
      try {
        await bridge.runs.awaitReady({ runId })
        const [run, problems, open] = await Promise.all([
          bridge.runs.summarize({ runId }),
          bridge.check.problems({ runId }),
          bridge.check.openWarnings({ runId }),
        ])
        if (!isShown.current) return await dropUnsent(runId)
        unsent.current = runId
        setWaiting({ runId, run, problems, open })
      } catch (error) {
        await dropUnsent(runId)
        throw error
      }
    },
  })
  const send = useMutation({
    mutationFn: async (accept: AcceptCode[]) => {
      if (waiting === null) return
      const { runId } = waiting
      unsent.current = null
      try {
        await bridge.runs.begin({ runId, accept })
      } catch (error) {
        if (parseBridgeError(error) === null) setUnclear(true)
        if (isShown.current) unsent.current = runId
        else await dropUnsent(runId)
        throw error
      }
      onOpen(runId)
    },
  })
  return { waiting, read, send, isUnclear, open }
}

/** Deletes a run that was read but not sent; if that fails, it stays in the list and waits. */
async function dropUnsent(runId: string): Promise<void> {
  await bridge.runs.drop({ runId }).catch(() => {})
}
