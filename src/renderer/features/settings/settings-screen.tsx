import { Modal, SegmentedControl, Select, Stack } from '@mantine/core'
import { IconFolderOpen } from '@tabler/icons-react'
import { skipToken, useMutation, useQuery } from '@tanstack/react-query'
import { type ReactNode, useId, useState } from 'react'
import {
  type CleanUpRecord,
  MEDIA_LOOKS,
  type MediaLook,
  type Settings,
  type ShownFolder,
  type WorkspaceUsage,
} from '../../../shared/bridge/settings.ts'
import { isRetaining, type Retention } from '../../../shared/lookback/retention.ts'
import { formatBytes, formatCounted } from '../../../shared/messages/figure-text.ts'
import { INSTALL_COMMAND } from '../../../shared/version.ts'
import { ask, bridge } from '../../bridge/client.ts'
import { useChangeSettings, useSettings } from '../../bridge/settings.ts'
import { useMediaRules } from '../../ui/content/media-view.tsx'
import { useContentRules } from '../../ui/content/user-content.tsx'
import {
  ActionButton,
  bindFields,
  CopyButton,
  ScrollRegion,
  SwitchField,
  toChoices,
} from '../../ui/controls.tsx'
import { formatTimestamp } from '../../ui/format-time.ts'
import { ErrorNotice, Figures, Notice, Panel, Screen } from '../../ui/layout/screen.tsx'
import { SafeText } from '../../ui/text/safe-text.tsx'
import styles from './settings.module.css'

/** A person's settings for the window, where things are stored, and facts about the program. */
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

const THEMES: { value: Settings['theme']; label: string }[] = [
  { value: 'system', label: 'System' },
  { value: 'light', label: 'Light' },
  { value: 'dark', label: 'Dark' },
]

function AppearancePanel({ settings }: { settings: Settings }) {
  const change = useChangeSettings()
  return (
    <Panel title="Appearance" flush>
      <SettingRow
        label="Theme"
        description="System follows the colours of this computer."
        control={(ids) => (
          <SegmentedControl
            {...ids}
            data={THEMES}
            value={settings.theme}
            onChange={(theme) => change.mutate({ theme })}
          />
        )}
      />
      {change.error !== null && <ErrorNotice error={change.error} onDismiss={change.reset} />}
    </Panel>
  )
}

function applyLook({ showsContent, mediaLook }: Settings): void {
  useContentRules.setState({ showsContent })
  useMediaRules.setState({ firstStep: MEDIA_LOOKS.indexOf(mediaLook) })
}

const LOOK_WORDS: Record<MediaLook, string> = {
  hidden: 'Hidden',
  blurred: 'Greyscale, strongly blurred',
  soft: 'Greyscale, blurred',
  grey: 'Greyscale, sharp',
  colour: 'In colour, sharp',
}

const NEVER = 'never'
const HIDE_CHOICES = [
  { value: NEVER, label: 'Never' },
  ...[1, 5, 15, 60].map((minutes) => ({
    value: String(minutes),
    label: `After ${formatCounted(minutes, 'minute')}`,
  })),
]

/** How much user content is visible before a person asks for it. */
function ContentPanel({ settings }: { settings: Settings }) {
  const change = useChangeSettings()
  const { hideAfterMinutes } = settings
  const hideAfter = hideAfterMinutes === null ? NEVER : String(hideAfterMinutes)
  const isListed = HIDE_CHOICES.some(({ value }) => value === hideAfter)
  const field = bindFields(settings, change.mutate)
  const { showsContent, hidings } = useContentRules()
  const { firstStep } = useMediaRules()
  const isHiddenAgain =
    hidings > 0 &&
    ((settings.showsContent && !showsContent) || MEDIA_LOOKS.indexOf(settings.mediaLook) > firstStep)
  return (
    <Panel title="User content" aside="set what suits you" flush>
      {isHiddenAgain && (
        <Notice
          kind="info"
          title="Content is hidden again"
          actions={<ActionButton label="Show it as set here" small onClick={() => applyLook(settings)} />}
        >
          This window was not used for a while. Until you reload it, texts are hidden, and pictures and videos
          start blurred or hidden.
        </Notice>
      )}
      <SwitchRow
        label="Show texts without asking"
        description="Off: texts, terms and addresses of media are hidden on every screen until you reveal them, by row or all at once with “Show content”, for one visit."
        {...field('showsContent')}
      />
      <SettingRow
        label="Pictures and videos start"
        description="M reveals more, step by step, with colour last. Shift with M goes back."
        control={(ids) => (
          <Select
            w="17rem"
            {...ids}
            data={toChoices(LOOK_WORDS)}
            value={settings.mediaLook}
            onChange={(mediaLook) => mediaLook !== null && change.mutate({ mediaLook })}
          />
        )}
      />
      <SwitchRow
        label="Keep what is revealed for the next row"
        description="Off: pictures and videos of each row start as set above."
        {...field('keepsMediaStep')}
      />
      <SwitchRow
        label="Videos start muted"
        description="Nothing plays before you press Play in any case."
        {...field('startsMuted')}
      />
      <SettingRow
        label="Hide everything again"
        description="After this long without keyboard or mouse input in this window."
        control={(ids) => (
          <Select
            w="17rem"
            {...ids}
            data={
              isListed
                ? HIDE_CHOICES
                : [...HIDE_CHOICES, { value: hideAfter, label: `After ${hideAfter} minutes` }]
            }
            value={hideAfter}
            onChange={(value) =>
              change.mutate({ hideAfterMinutes: value === null || value === NEVER ? null : Number(value) })
            }
          />
        )}
      />
      {change.error !== null && <ErrorNotice error={change.error} onDismiss={change.reset} />}
    </Panel>
  )
}

const DAY_MS = 86_400_000

/** The workspace's size, the runs that exceed its limits, and whether they are deleted automatically. */
function RetentionPanel(props: { settings: Settings; onCleanUp: () => void }) {
  const { settings, onCleanUp } = props
  const usage = useQuery(ask.settings.measure.queryOptions())
  const retention = useQuery(ask.history.readRetention.queryOptions())
  const limits = retention.data
  const isLimited = limits !== undefined && isRetaining(limits)
  // Limits that are not loaded yet may be set.
  const isUnlimited = limits !== undefined && !isRetaining(limits)
  const found = useQuery(ask.history.findPrunable.queryOptions({ input: isLimited ? limits : skipToken }))
  const change = useChangeSettings()
  const error = usage.error ?? retention.error ?? found.error ?? change.error
  const failed = [usage, retention, found].filter(({ isError }) => isError)
  const runs = isLimited ? (found.data?.runs.length ?? null) : null
  return (
    <Panel title="Runs on disk" flush>
      {usage.data !== undefined && <Usage usage={usage.data} />}
      <SettingRow
        label="Limits"
        description={
          limits === undefined
            ? 'Reading the workspace'
            : describeLimits(limits, runs, found.data?.size_bytes)
        }
        control={() => <ActionButton label={isUnlimited ? 'Set limits…' : 'Clean up…'} onClick={onCleanUp} />}
      />
      <SwitchRow
        label="Clean up once a day without asking"
        description={
          isUnlimited
            ? 'Set limits first. Until then every run is kept.'
            : 'Runs that exceed the limits are deleted for good while Sluice is open and nothing is being sent. Runs in use and baselines are kept.'
        }
        value={settings.cleansUp && isLimited}
        disabled={!isLimited}
        onValue={(cleansUp) =>
          change.mutate(
            { cleansUp },
            {
              onSettled: () => {
                void usage.refetch()
                void found.refetch()
              },
            },
          )
        }
      />
      {usage.data != null && usage.data.lastCleanUp !== null && (
        <LastCleanUp record={usage.data.lastCleanUp} />
      )}
      {error !== null && (
        <ErrorNotice
          error={error}
          {...(failed.length > 0 && { onRetry: () => failed.forEach((query) => void query.refetch()) })}
        />
      )}
    </Panel>
  )
}

function Usage({ usage }: { usage: WorkspaceUsage }) {
  const { runsBytes, callbacksBytes, otherBytes } = usage
  return (
    <div className={`p-3-4 ${styles.figures}`}>
      <Figures
        figures={[
          toFigure('Workspace', runsBytes + callbacksBytes + otherBytes),
          toFigure('Runs', runsBytes),
          toFigure('Callbacks', callbacksBytes),
          toFigure('Everything else', otherBytes),
        ]}
      />
    </div>
  )
}

function toFigure(label: string, sizeBytes: number) {
  const [value = '', unit = ''] = formatBytes(sizeBytes).split(' ')
  return { label, value, unit }
}

function describeLimits(
  { olderThanMs, largerThanBytes, keepBelowBytes }: Retention,
  runs: number | null,
  sizeBytes: number | undefined,
): string {
  const age =
    olderThanMs === null ? [] : [`older than ${formatCounted(Math.round(olderThanMs / DAY_MS), 'day')}`]
  const size = largerThanBytes === null ? [] : [`larger than ${formatBytes(largerThanBytes)}`]
  const each = [...age, ...size].join(' and ')
  const parts = [
    ...(each === '' ? [] : [`runs ${each}`]),
    ...(keepBelowBytes === null ? [] : [`the oldest runs beyond ${formatBytes(keepBelowBytes)} in all`]),
  ]
  if (parts.length === 0) return 'None: every run is kept until you delete it.'
  const listed = parts.join(', and ')
  const sentence = `${listed.slice(0, 1).toUpperCase()}${listed.slice(1)}.`
  if (runs === null || sizeBytes === undefined) return sentence
  return `${sentence} ${runs === 0 ? 'No run exceeds them' : `${formatCounted(runs, 'run')} ${runs === 1 ? 'exceeds' : 'exceed'} them`} now.`
}

function LastCleanUp({ record }: { record: CleanUpRecord }) {
  const { at, runs, sizeBytes, failure } = record
  if (failure !== null) {
    return (
      <Notice kind="warning" title={`The clean-up of ${formatTimestamp(at)} failed`}>
        <SafeText text={failure} max={400} lines />
      </Notice>
    )
  }
  return (
    <p className={styles.note}>
      {runs === 0
        ? `Nothing exceeded the limits at ${formatTimestamp(at)}.`
        : `${formatCounted(runs, 'run')} (${formatBytes(sizeBytes)}) deleted at ${formatTimestamp(at)}.`}
    </p>
  )
}

/** One setting: its name and effect on the left, its control on the right. */
function SettingRow(props: {
  label: string
  description: ReactNode
  control: (ids: { 'aria-labelledby': string; 'aria-describedby': string }) => ReactNode
}) {
  const id = useId()
  const ids = { 'aria-labelledby': `${id}-label`, 'aria-describedby': `${id}-description` }
  return (
    <div className={`row flex-wrap justify-between p-3-4 ${styles.row}`}>
      <div className={`min-w-0 ${styles.words}`}>
        <p className="bold" id={ids['aria-labelledby']}>
          {props.label}
        </p>
        <p className={styles.description} id={ids['aria-describedby']}>
          {props.description}
        </p>
      </div>
      <div className="flex-none">{props.control(ids)}</div>
    </div>
  )
}

function useAbout() {
  return useQuery(ask.settings.about.queryOptions())
}

function UpdatesPanel() {
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
      <SwitchRow
        label="Look for updates once a day"
        description="Sluice asks before it downloads and again before it installs, and does neither during a run."
        value={looksForUpdates}
        disabled={set.isPending}
        onValue={set.mutate}
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

function FoldersPanel() {
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

function AboutPanel() {
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

function SwitchRow(props: {
  label: string
  description: ReactNode
  value: boolean
  disabled?: boolean
  onValue: (value: boolean) => void
}) {
  const { label, description, ...others } = props
  return (
    <SettingRow
      label={label}
      description={description}
      control={(ids) => <SwitchField {...ids} {...others} />}
    />
  )
}
