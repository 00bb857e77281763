import { useMutation } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import type { ConnectionEntry } from '../../../shared/bridge/connections.ts'
import { type Destination, findEntry } from '../../ui/connection/destination.ts'

/** Destination, pace, retries and time-out. */
export interface Settings {
  destination: Destination
  /** Requests in flight. */
  concurrency: number
  /** Retries after the first try. */
  retries: number
  /** Longest wait for an answer, in seconds. */
  timeoutS: number
}

/** What a run starts with unless the person says otherwise. */
export const DEFAULT_SETTINGS: Settings = {
  destination: { kind: 'sandbox' },
  concurrency: 4,
  retries: 3,
  timeoutS: 60,
}

/** Time to send so many requests, in milliseconds, when each takes `answerMs` and `concurrency` are in flight. */
export function estimateDurationMs(requests: number, concurrency: number, answerMs: number): number {
  return Math.ceil(requests / Math.max(1, concurrency)) * answerMs
}

/** The settings for another destination: a stored connection says how long to wait for its answers. */
export function withDestination(
  settings: Settings,
  destination: Destination,
  connections: readonly ConnectionEntry[],
): Settings {
  const isSame =
    destination.kind === 'stored' &&
    settings.destination.kind === 'stored' &&
    settings.destination.name === destination.name
  const entry = isSame ? null : findEntry(destination, connections)
  if (entry === null) return { ...settings, destination }
  return { ...settings, destination, timeoutS: Math.max(1, Math.round(entry.connection.timeoutMs / 1000)) }
}

const QUIET_MS = 500

/**
 * Settings as they are typed. They are applied when they are usable and the person has stopped typing, since a new
 * address has the rows checked again.
 */
export function useSettingsDraft(
  applied: Settings,
  apply: (settings: Settings) => Promise<void>,
  isUsable: (settings: Settings) => boolean,
): {
  settings: Settings
  change: (settings: Settings) => void
  isApplying: boolean
  error: unknown
} {
  const [settings, change] = useState(applied)
  const { mutate, isPending, error } = useMutation({ mutationFn: apply })
  const isChanged = JSON.stringify(settings) !== JSON.stringify(applied)
  const usable = useRef(isUsable)
  usable.current = isUsable
  useEffect(() => {
    // One at a time, so that the last input wins.
    if (!isChanged || isPending || !usable.current(settings)) return
    const timer = setTimeout(() => mutate(settings), QUIET_MS)
    return () => clearTimeout(timer)
  }, [settings, isChanged, isPending, mutate])
  return { settings, change, isApplying: isPending || isChanged, error }
}
