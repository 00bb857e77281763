import { useMutation } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { z } from 'zod'
import type { ConnectionEntry } from '../../../shared/bridge/connections.ts'
import { RETRY_OPTIONS } from '../../../shared/options/retry-options.ts'
import { type Destination, findEntry } from '../../ui/connection/destination.ts'
import { readTyped, toTypedShape } from '../../ui/options/typed-options.ts'

/** A run's pace and retries as typed, with initial values. */
export const sendingSettingsSchema = z.object({
  /** Requests in flight. */
  concurrency: z.int().min(1).default(4),
  retry: z.object(toTypedShape(RETRY_OPTIONS)).prefault({}),
  /** Longest wait for an answer, in seconds. */
  timeoutS: z.int().min(1).default(60),
})

export interface Settings extends z.infer<typeof sendingSettingsSchema> {
  destination: Destination
}

export const DEFAULT_SETTINGS: Settings = {
  destination: { kind: 'sandbox' },
  ...sendingSettingsSchema.parse({}),
}

export function findSettingsGap({ retry }: Settings): string | null {
  const [option] = Object.keys(readTyped(RETRY_OPTIONS, retry).mistakes)
  return option === undefined ? null : `Correct the ${option}`
}

/** Time for sending this many requests, in milliseconds, if each takes `answerMs`, `concurrency` at once. */
export function estimateDurationMs(requests: number, concurrency: number, answerMs: number): number {
  return Math.ceil(requests / Math.max(1, concurrency)) * answerMs
}

/** The settings for another destination; a stored connection has its own timeout. */
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

/** The newest value known for a place; null until there is one, even if another place had one. */
export function useNewestFor<Value>(place: string, value: Value | null): Value | null {
  const newest = useRef<{ place: string; value: Value } | null>(null)
  if (value !== null) newest.current = { place, value }
  return newest.current?.place === place ? newest.current.value : null
}

const QUIET_MS = 500

/**
 * Settings as typed. They are applied once they are valid and the person has stopped typing, since a new
 * address makes the rows be checked again.
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
  const { mutate, isPending, variables, ...applying } = useMutation({ mutationFn: apply })
  const isChanged = JSON.stringify(settings) !== JSON.stringify(applied)
  // Until the person changes something.
  const error = variables === settings ? applying.error : null
  const isRefused = isChanged && error !== null
  const usable = useRef(isUsable)
  usable.current = isUsable
  useEffect(() => {
    // One at a time, so that the last input wins.
    if (!isChanged || isPending || isRefused || !usable.current(settings)) return
    const timer = setTimeout(() => mutate(settings), QUIET_MS)
    return () => clearTimeout(timer)
  }, [settings, isChanged, isPending, isRefused, mutate])
  return { settings, change, isApplying: isPending || (isChanged && !isRefused), error }
}
