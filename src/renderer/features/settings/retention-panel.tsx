import { skipToken, useQuery } from '@tanstack/react-query'
import type { CleanUpRecord, Settings, WorkspaceUsage } from '../../../shared/bridge/settings.ts'
import { isRetaining, type Retention } from '../../../shared/lookback/retention.ts'
import { formatBytes, formatCounted } from '../../../shared/messages/figure-text.ts'
import { ask } from '../../bridge/client.ts'
import { useChangeSettings } from '../../bridge/settings.ts'
import { ActionButton, SwitchField } from '../../ui/controls.tsx'
import { formatTimestamp } from '../../ui/format-time.ts'
import { ErrorNotice, Figures, Notice, Panel } from '../../ui/layout/screen.tsx'
import { SafeText } from '../../ui/text/safe-text.tsx'
import { SettingRow } from './setting-row.tsx'
import styles from './settings.module.css'

const DAY_MS = 86_400_000

/** How much space the workspace takes, which runs exceed the limits, and whether they are deleted automatically. */
export function RetentionPanel(props: { settings: Settings; onCleanUp: () => void }) {
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
