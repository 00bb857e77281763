import { Stack } from '@mantine/core'
import { IconDownload, IconGauge, IconPlayerStop } from '@tabler/icons-react'
import { keepPreviousData, skipToken, useMutation, useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { toLoadView, toThresholdView } from '../../../shared/load/load-view.ts'
import { listRowWarnings } from '../../../shared/run/run.ts'
import type { RunPhase } from '../../../shared/run/snapshot.ts'
import { ask } from '../../bridge/client.ts'
import { toPollInterval, useLiveRuns } from '../../bridge/live-runs.ts'
import { useShownLatencies } from '../../ui/charts/latency-charts.tsx'
import type { NamePlace } from '../../ui/connection/destination.ts'
import { ActionButton, PrimaryButton } from '../../ui/controls.tsx'
import { ErrorNotice, Notice } from '../../ui/layout/notice.tsx'
import { Screen } from '../../ui/layout/screen.tsx'
import { type Acceptance, BeforeSending, useAcceptance } from '../../ui/problems/before-sending.tsx'
import { RowWarningsNotice } from '../../ui/problems/row-warnings.tsx'
import { ReadAsLine } from '../../ui/runs/read-as-line.tsx'
import styles from './load.module.css'
import { LoadLatencyPanel, LoadRequestsPanel } from './load-latency-panel.tsx'
import {
  GeneratorPanel,
  GroupsPanel,
  LoadErrorsPanel,
  LoadNotices,
  LoadSummaryPanel,
  StatusesPanel,
  ThresholdsPanel,
} from './load-panels.tsx'
import { LoadProgressPanel } from './load-progress-panel.tsx'

const REPORT_EVERY_MS = 2_000

/** A load test during and after sending: thresholds, latencies, answers, and the machine that sent it. */
export function LoadScreen(props: {
  runId: string
  namePlace: NamePlace
  /** What can be done to compare the load test with others. */
  lookBack: ReactNode
  onExport: () => void
}) {
  const { runId } = props
  const summary = useLiveRuns((live) => live.summaries[runId])
  const snapshot = useLiveRuns((live) => live.snapshots[runId])
  const failure = useLiveRuns((live) => live.errors[runId])
  const phase = snapshot?.phase
  const open = useQuery(
    ask.check.openWarnings.queryOptions({ input: phase === 'ready' ? { runId } : skipToken }),
  )
  const place =
    summary === undefined || phase !== 'ready' ? null : props.namePlace(summary.base_url, summary.connection)
  const acceptance = useAcceptance(phase === 'ready' ? (open.data ?? []) : [], place?.kind === 'production')
  const actions = useLoadActions(runId, phase, { acceptance, onExport: props.onExport })
  const load = snapshot?.load ?? null
  const isOver = phase === 'ended'
  const { shown, onShown } = useShownLatencies()
  const report = useQuery(
    ask.load.report.queryOptions({
      input: isOver || load !== null ? { runId, metrics: [...shown] } : skipToken,
      placeholderData: keepPreviousData,
      refetchInterval: isOver ? false : Math.max(REPORT_EVERY_MS, toPollInterval(load?.elapsedMs ?? 0)),
    }),
  )
  const isWarned = summary !== undefined && listRowWarnings(summary.warnings).length > 0
  const problems = useQuery(ask.check.problems.queryOptions({ input: isWarned ? { runId } : skipToken }))
  if (summary === undefined || snapshot === undefined || phase === undefined) {
    return <Screen title="Overview">{failure !== undefined && <ErrorNotice error={failure} />}</Screen>
  }
  const known = report.data ?? null
  const view = known === null ? null : toLoadView(known)
  const thresholds = (isOver ? known?.thresholds : load?.thresholds) ?? []
  return (
    <Screen
      title="Overview"
      subtitle={<ReadAsLine summary={summary} />}
      actions={
        <>
          {isOver && props.lookBack}
          {actions.buttons}
        </>
      }
    >
      {view !== null && <LoadNotices view={view} isOver={isOver} />}
      <RowWarningsNotice groups={problems.data ?? []} />
      {failure !== undefined && failure !== null && <ErrorNotice error={failure} />}
      {report.error !== null && <ErrorNotice error={report.error} onRetry={report.refetch} />}
      {actions.error}
      <LoadHead phase={phase} />
      <BeforeSending acceptance={acceptance} rows={summary.rows.not_sent} place={place} />
      {!isOver && load !== null && <LoadProgressPanel snapshot={snapshot} load={load} />}
      {isOver && known !== null && view !== null && <LoadSummaryPanel report={known} view={view} />}
      <div className={`grid gap-4 items-start ${styles.columns}`}>
        <Stack gap="md">
          <ThresholdsPanel
            thresholds={toThresholdView(thresholds)}
            note={isOver && view !== null ? view.thresholds.note : null}
            isOver={isOver}
          />
          {view !== null && <LoadErrorsPanel errors={view.errors} />}
        </Stack>
        {view !== null && (
          <Stack gap="md">
            <StatusesPanel statuses={view.statuses} />
            {view.groups.length > 0 && <GroupsPanel groups={view.groups} />}
            {known !== null && view.generator !== null && (
              <GeneratorPanel generator={view.generator} seconds={known.seconds} />
            )}
          </Stack>
        )}
      </div>
      <LoadLatencyPanel
        latencyMs={(isOver ? known?.latencyMs : load?.latencyMs) ?? {}}
        thresholds={thresholds}
        report={known}
        shown={shown}
        onShown={onShown}
      />
      {known !== null && <LoadRequestsPanel report={known} />}
    </Screen>
  )
}

function LoadHead({ phase }: { phase: RunPhase }) {
  if (phase === 'ready') return <Notice kind="info" title="The rows are checked; nothing is sent yet" />
  return null
}

/** What can be done with a load test: start it, stop it, export its report. Load tests cannot be paused. */
function useLoadActions(
  runId: string,
  phase: RunPhase | undefined,
  { acceptance, onExport }: { acceptance: Acceptance; onExport: () => void },
) {
  const begin = useMutation(ask.runs.begin.mutationOptions())
  const stop = useMutation(ask.runs.stop.mutationOptions())
  const error = begin.error ?? stop.error
  const isGoing = phase === 'running' || phase === 'draining' || phase === 'awaiting'
  return {
    error: error !== null && <ErrorNotice error={error} />,
    buttons: (
      <>
        {isGoing && (
          <ActionButton
            label="Stop"
            disabled={phase === 'draining'}
            loading={stop.isPending}
            icon={IconPlayerStop}
            onClick={() => stop.mutate({ runId })}
          />
        )}
        {phase === 'ready' && (
          <PrimaryButton
            onPress={() => begin.mutate({ runId, accept: acceptance.accepted })}
            busy={begin.isPending}
            blocked={acceptance.blocked}
            icon={<IconGauge size="1rem" />}
          >
            Start the load test
          </PrimaryButton>
        )}
        {phase === 'ended' && (
          <PrimaryButton onPress={onExport} icon={<IconDownload size="1rem" />}>
            Export the report
          </PrimaryButton>
        )}
      </>
    ),
  }
}
