import { Modal } from '@mantine/core'
import { IconFolderOpen } from '@tabler/icons-react'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { ShownFolder } from '../../../shared/bridge/settings.ts'
import { INSTALL_COMMAND } from '../../../shared/version.ts'
import { ask, bridge } from '../../bridge/client.ts'
import { ActionButton, CopyButton, SwitchField } from '../../ui/controls.tsx'
import { ErrorNotice, Panel } from '../../ui/layout/screen.tsx'
import { ScrollRegion } from '../../ui/layout/scroll-region.tsx'
import { SafeText } from '../../ui/text/safe-text.tsx'
import { SettingRow } from './setting-row.tsx'
import styles from './settings.module.css'

function useAbout() {
  return useQuery(ask.settings.about.queryOptions())
}

/** Whether the desktop app looks for updates; nothing where it cannot. */
export function UpdatesPanel() {
  const about = useAbout()
  const set = useMutation({
    mutationFn: async (isAutomatic: boolean) => {
      await bridge.settings.setUpdates({ isAutomatic })
      await about.refetch()
    },
  })
  const check = useMutation(ask.settings.checkForUpdates.mutationOptions())
  const looksForUpdates = about.data?.desktop?.looksForUpdates ?? null
  if (looksForUpdates === null) return null
  const error = set.error ?? check.error
  return (
    <Panel title="Updates" flush>
      <SettingRow
        label="Look for updates once a day"
        description="Sluice asks before it downloads and again before it installs, and does neither during a run."
        control={(ids) => (
          <SwitchField {...ids} checked={looksForUpdates} disabled={set.isPending} onValue={set.mutate} />
        )}
      />
      <SettingRow
        label="Look now"
        description="A dialog says what was found."
        control={() => <ActionButton label="Check for updates" onClick={() => check.mutate(undefined)} />}
      />
      {error !== null && <ErrorNotice error={error} />}
    </Panel>
  )
}

const FOLDERS: Record<ShownFolder, { label: string; holds: string }> = {
  workspace: {
    label: 'Workspace',
    holds: 'Runs, callbacks, connections and settings.',
  },
  logs: { label: 'Log', holds: 'Starts, crashes, beginnings and ends of runs, without content.' },
  diagnostics: { label: 'Diagnostics', holds: 'What you collected to send to whoever helps you.' },
}

/** Where things are kept; the desktop app opens the folders. */
export function FoldersPanel() {
  const about = useAbout()
  const open = useMutation(ask.settings.openFolder.mutationOptions())
  const collect = useMutation(ask.settings.collectDiagnostics.mutationOptions())
  const isDesktop = about.data?.desktop != null
  const error = about.error ?? open.error ?? collect.error
  return (
    <Panel title="Where things are kept" flush>
      {about.data?.folders.map(({ kind, path }) => (
        <SettingRow
          key={kind}
          label={FOLDERS[kind].label}
          description={
            <>
              {FOLDERS[kind].holds}
              <code className={`block mt-1 breaks ${styles.path}`}>
                <SafeText text={path} max={400} lines />
              </code>
            </>
          }
          control={() =>
            isDesktop ? (
              <ActionButton
                label="Open"
                icon={IconFolderOpen}
                aria-label={`Open the folder: ${FOLDERS[kind].label}`}
                onClick={() => open.mutate({ folder: kind })}
              />
            ) : (
              <CopyButton label="Copy the path" text={() => path} />
            )
          }
        />
      ))}
      {isDesktop && (
        <SettingRow
          label="Collect diagnostics"
          description="Versions, counts and the log in a new folder. Nothing is sent."
          control={() => (
            <ActionButton
              label="Collect"
              loading={collect.isPending}
              onClick={() => collect.mutate(undefined)}
            />
          )}
        />
      )}
      {error !== null && <ErrorNotice error={error} />}
    </Panel>
  )
}

/** Versions, licences, and how to get the command line and its documentation. */
export function AboutPanel() {
  const about = useAbout().data
  const [hasNotices, setNotices] = useState(false)
  if (about === undefined) return null
  const versions = about.runtimes.map(({ name, version }) => `${name} ${version}`).join(', ')
  return (
    <Panel title={`Sluice ${about.version}`} flush>
      <SettingRow
        label="Runs on"
        description={`${versions}; ${about.platform}`}
        control={() => (
          <CopyButton label="Copy" text={() => `Sluice ${about.version}, ${versions}, ${about.platform}`} />
        )}
      />
      <SettingRow
        label="Command line"
        description={
          <>
            The same engine and workspace in a terminal. Install the file of the release:
            <code className={`block mt-1 breaks ${styles.path}`}>{INSTALL_COMMAND}</code>
          </>
        }
        control={() => <CopyButton label="Copy the command" text={() => INSTALL_COMMAND} />}
      />
      <SettingRow
        label="Documentation"
        description={
          <>
            <code>sluice help</code> lists its pages, <code>sluice help PAGE</code> shows one. They are also
            in the <code>docs</code> folder of the sources.
          </>
        }
        control={() => <CopyButton label="Copy the command" text={() => 'sluice help'} />}
      />
      <SettingRow
        label="Licences"
        description="Sluice is under the MIT licence. The packages in it have licences of their own."
        control={() => <ActionButton label="Show licences" onClick={() => setNotices(true)} />}
      />
      {hasNotices && <NoticesDialog onClose={() => setNotices(false)} />}
    </Panel>
  )
}

function NoticesDialog({ onClose }: { onClose: () => void }) {
  const notices = useQuery(ask.settings.readNotices.queryOptions())
  return (
    <Modal opened size="xl" onClose={onClose} title="Licences of the packages in Sluice">
      {notices.error !== null && <ErrorNotice error={notices.error} onRetry={notices.refetch} />}
      {notices.data !== undefined && notices.data.text === null && (
        <p>Sluice runs from its sources, without a build. npm run build writes the licences.</p>
      )}
      {notices.data !== undefined && notices.data.text !== null && (
        <ScrollRegion className={styles.notices} label="Licences">
          <pre>{notices.data.text}</pre>
        </ScrollRegion>
      )}
    </Modal>
  )
}
