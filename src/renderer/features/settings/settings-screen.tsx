import { Stack } from '@mantine/core'
import { useSettings } from '../../bridge/settings.ts'
import { ErrorNotice, Notice, Screen } from '../../ui/layout/screen.tsx'
import { SafeText } from '../../ui/text/safe-text.tsx'
import { AboutPanel, FoldersPanel, UpdatesPanel } from './about-panels.tsx'
import { AppearancePanel, ContentPanel } from './content-panels.tsx'
import { RetentionPanel } from './retention-panel.tsx'
import styles from './settings.module.css'

/** What a person can set for the window, where things are kept, and what there is to know about the program. */
export function SettingsScreen({ onCleanUp }: { onCleanUp: () => void }) {
  const stored = useSettings()
  return (
    <Screen title="Settings" subtitle="Kept in the workspace, for the desktop app and the browser">
      {stored.error !== null && <ErrorNotice error={stored.error} onRetry={stored.refetch} />}
      {stored.data !== undefined && stored.data.damage !== null && (
        <Notice kind="warning" title="settings.json cannot be read, so the defaults apply">
          <p>
            <SafeText text={stored.data.damage} max={600} lines />
          </p>
          <p>
            The file is in the workspace. Repair it and reload the window, or change a setting: Sluice then
            writes a new file and keeps the damaged one next to it.
          </p>
        </Notice>
      )}
      {stored.data !== undefined && stored.data.keptAs !== null && (
        <Notice kind="good" title="The settings were written to a new file">
          The damaged file is kept as <SafeText text={stored.data.keptAs} max={400} lines />
        </Notice>
      )}
      {stored.data !== undefined && (
        <div className={`grid items-start gap-4 ${styles.columns}`}>
          <Stack gap="md">
            <AppearancePanel settings={stored.data.settings} />
            <ContentPanel settings={stored.data.settings} />
            <UpdatesPanel />
          </Stack>
          <Stack gap="md">
            <RetentionPanel settings={stored.data.settings} onCleanUp={onCleanUp} />
            <FoldersPanel />
            <AboutPanel />
          </Stack>
        </div>
      )}
    </Screen>
  )
}
