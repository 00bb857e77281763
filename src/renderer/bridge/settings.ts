import { useQuery } from '@tanstack/react-query'
import type { SettingsChange, StoredSettings } from '../../shared/bridge/settings.ts'
import { createChangeQueue, storeShown, useChange } from './change-queue.ts'
import { ask, bridge } from './client.ts'

const changes = createChangeQueue()

/** A person's settings; read again when another window changes them. */
export function useSettings() {
  return useQuery({
    ...ask.settings.read.queryOptions(),
    queryFn: ({ signal }) => changes.read(() => bridge.settings.read(undefined, { signal })),
  })
}

/** Changes some settings in storage, and everywhere in this window. */
export function useChangeSettings() {
  return useChange(changeSettings)
}

/** Changes some settings, at once in this window. Rejects and reverts the change if they cannot be stored. */
export function changeSettings(change: SettingsChange): Promise<void> {
  return storeShown<StoredSettings>({
    changes,
    queryKey: ask.settings.read.queryKey(),
    show: (known) => known && { ...known, settings: { ...known.settings, ...change } },
    store: () => bridge.settings.change(change),
  })
}
