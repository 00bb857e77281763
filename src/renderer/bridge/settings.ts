import { useMutation, useQuery } from '@tanstack/react-query'
import type { SettingsChange } from '../../shared/bridge/settings.ts'
import { ask, bridge, queryClient } from './client.ts'

/** A person's settings; read again when another window changes them. */
export function useSettings() {
  return useQuery(ask.settings.read.queryOptions())
}

/** Changes some settings in storage, and everywhere in this window. */
export function useChangeSettings() {
  return useMutation({ mutationFn: changeSettings })
}

/**
 * Changes some settings, immediately in this window. Rejects and reverts the change if they cannot be stored.
 */
export async function changeSettings(change: SettingsChange): Promise<void> {
  const key = ask.settings.read.queryKey()
  const before = queryClient.getQueryData(key)
  if (before !== undefined) {
    queryClient.setQueryData(key, { ...before, settings: { ...before.settings, ...change } })
  }
  try {
    queryClient.setQueryData(key, await bridge.settings.change(change))
  } catch (error) {
    queryClient.setQueryData(key, before)
    throw error
  }
}
