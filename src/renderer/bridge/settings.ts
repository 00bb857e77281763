import { useMutation, useQuery } from '@tanstack/react-query'
import type { SettingsChange } from '../../shared/bridge/settings.ts'
import { ask, bridge, queryClient } from './client.ts'

/** What a person has set; read again when another window changes it. */
export function useSettings() {
  return useQuery(ask.settings.read.queryOptions())
}

/** Changes some settings where they are kept, and everywhere in this window. */
export function useChangeSettings() {
  return useMutation({ mutationFn: changeSettings })
}

/** Changes some settings, at once in this window. Rejects if they cannot be kept, and takes the change back. */
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
