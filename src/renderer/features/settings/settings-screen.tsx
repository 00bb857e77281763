import { SegmentedControl, Select, Stack } from '@mantine/core'
import { skipToken, useQuery } from '@tanstack/react-query'
import {
  type CleanUpRecord,
  MEDIA_LOOKS,
  type MediaLook,
  type Settings,
  settingsSchema,
  type WorkspaceUsage,
} from '../../../shared/bridge/settings.ts'
import { isRetaining, type Retention } from '../../../shared/lookback/retention.ts'
import { formatBytes, formatCounted } from '../../../shared/messages/figure-text.ts'
import { ask } from '../../bridge/client.ts'
import { useChangeSettings, useSettings } from '../../bridge/settings.ts'
import { ActionButton, SwitchField } from '../../ui/controls.tsx'
import { formatTimestamp } from '../../ui/format-time.ts'
import { ErrorNotice, Figures, Notice, Panel, Screen } from '../../ui/layout/screen.tsx'
import { SafeText } from '../../ui/text/safe-text.tsx'
import { AboutPanel, FoldersPanel, UpdatesPanel } from './about-panels.tsx'
import { SettingRow } from './setting-row.tsx'
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

const THEMES = [
  { value: 'system', label: 'System' },
  { value: 'light', label: 'Light' },
  { value: 'dark', label: 'Dark' },
]

/** Light, dark, or as the system has it. */
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
            onChange={(theme) => change.mutate({ theme: settingsSchema.shape.theme.parse(theme) })}
          />
        )}
      />
      {change.error !== null && <ErrorNotice error={change.error} onDismiss={change.reset} />}
    </Panel>
  )
}

const LOOK_WORDS: Record<MediaLook, string> = {
  hidden: 'Hidden',
  blurred: 'Greyscale, strongly blurred',
  soft: 'Greyscale, blurred',
  grey: 'Greyscale, sharp',
  colour: 'In colour, sharp',
}

const MEDIA_CHOICES = MEDIA_LOOKS.map((value) => ({ value, label: LOOK_WORDS[value] }))

const NEVER = 'never'
const HIDE_CHOICES = [
  { value: NEVER, label: 'Never' },
  ...[1, 5, 15, 60].map((minutes) => ({
    value: String(minutes),
    label: `After ${formatCounted(minutes, 'minute')}`,
  })),
]

/** How much of what users wrote and posted is seen before a person asks for it. */
function ContentPanel({ settings }: { settings: Settings }) {
  const change = useChangeSettings()
  const { hideAfterMinutes } = settings
  const hideAfter = hideAfterMinutes === null ? NEVER : String(hideAfterMinutes)
  const isListed = HIDE_CHOICES.some(({ value }) => value === hideAfter)
  return (
    <Panel title="User content" aside="set what suits you" flush>
      <SettingRow
        label="Show texts without asking"
        description="Off: texts, terms and addresses of media are hidden on every screen until you reveal them, by row or all at once with “Show content”, for one visit."
        control={(ids) => (
          <SwitchField
            {...ids}
            checked={settings.showsContent}
            onValue={(showsContent) => change.mutate({ showsContent })}
          />
        )}
      />
      <SettingRow
        label="Pictures and videos start"
        description="M reveals more, step by step, with colour last. Shift with M goes back."
        control={(ids) => (
          <Select
            w="17rem"
            {...ids}
            data={MEDIA_CHOICES}
            value={settings.mediaLook}
            onChange={(look) => change.mutate({ mediaLook: settingsSchema.shape.mediaLook.parse(look) })}
          />
        )}
      />
      <SettingRow
        label="Keep what is revealed for the next row"
        description="Off: pictures and videos of each row start as set above."
        control={(ids) => (
          <SwitchField
            {...ids}
            checked={settings.keepsMediaStep}
            onValue={(keepsMediaStep) => change.mutate({ keepsMediaStep })}
          />
        )}
      />
      <SettingRow
        label="Videos start muted"
        description="Nothing plays before you press Play in any case."
        control={(ids) => (
          <SwitchField
            {...ids}
            checked={settings.startsMuted}
            onValue={(startsMuted) => change.mutate({ startsMuted })}
          />
        )}
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

/** How much space the workspace takes, which runs exceed the limits, and whether they are deleted automatically. */
function RetentionPanel(props: { settings: Settings; onCleanUp: () => void }) {
  const { settings, onCleanUp } = props
  const usage = useQuery(ask.settings.measure.queryOptions())
  const retention = useQuery(ask.history.readRetention.queryOptions())
  const limits = retention.data
  const isLimited = limits !== undefined && isRetaining(limits)
  // Limits that are not read yet may be set.
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
      <SettingRow
        label="Clean up once a day without asking"
        description={
          isUnlimited
            ? 'Set limits first. Until then every run is kept.'
            : 'Runs that exceed the limits are deleted for good while Sluice is open and nothing is being sent. Runs in use and baselines are kept.'
        }
        control={(ids) => (
          <SwitchField
            {...ids}
            checked={settings.cleansUp && isLimited}
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
        )}
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
