import { Progress, Stack } from '@mantine/core'
import { IconDownload, IconGauge, IconPlayerStop } from '@tabler/icons-react'
import { keepPreviousData, skipToken, useMutation, useQuery } from '@tanstack/react-query'
import { type ReactNode, useMemo } from 'react'
import type { LoadOverview } from '../../../shared/bridge/results.ts'
import { sayLiveSilence } from '../../../shared/load/load-silence.ts'
import { listLatencies, toLoadView, toThresholdView } from '../../../shared/load/load-view.ts'
import { METRICS, type TrendMetric } from '../../../shared/load/metrics.ts'
import { listLatencyLimits } from '../../../shared/load/threshold-parser.ts'
import type { ThresholdResult } from '../../../shared/load/thresholds.ts'
import { formatCount, formatRate, formatShare, formatSpan } from '../../../shared/messages/figure-text.ts'
import { listRowWarnings, listRunWarnings, type Percentiles } from '../../../shared/run/run.ts'
import type { LoadProgress, RunPhase, RunSnapshot } from '../../../shared/run/snapshot.ts'
import { ask } from '../../bridge/client.ts'
import { toPollInterval, useLiveRuns } from '../../bridge/live-runs.ts'
import { LatencyCharts, useShownLatencies } from '../../ui/charts/latency-charts.tsx'
import { RequestsOverTime } from '../../ui/charts/requests-over-time.tsx'
import type { NamePlace } from '../../ui/connection/destination.ts'
import { ActionButton, PrimaryButton } from '../../ui/controls.tsx'
import { ErrorNotice, type Figure, Figures, Notice, Panel, Screen } from '../../ui/layout/screen.tsx'
import { type Acceptance, BeforeSending, useAcceptance } from '../../ui/problems/before-sending.tsx'
import { RowWarningsNotice } from '../../ui/problems/row-warnings.tsx'
import { ReadAsLine } from '../../ui/runs/read-as-line.tsx'
import { SafeText } from '../../ui/text/safe-text.tsx'
import styles from './load.module.css'
import {
  GeneratorPanel,
  GroupPanel,
  LoadErrorsPanel,
  LoadNotices,
  LoadSummaryPanel,
  StagesPanel,
  StatusesPanel,
  ThresholdsPanel,
} from './load-panels.tsx'

const REPORT_EVERY_MS = 2_000

/** A load test during and after sending: thresholds, latencies, answers, and the machine that sent it. */
export function LoadScreen(props: {
  runId: string
  namePlace: NamePlace
  /** Controls for comparing the load test with others. */
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
      {view !== null && <LoadNotices view={view} isOver={isOver} runId={runId} first={known?.firstRequest} />}
      {listRunWarnings(isOver ? summary.warnings : []).map((message) => (
        <Notice key={message} kind="warning" title={<SafeText text={message} max={600} lines />} />
      ))}
      <RowWarningsNotice groups={problems.data ?? []} />
      {failure !== undefined && failure !== null && <ErrorNotice error={failure} />}
      {report.error !== null && <ErrorNotice error={report.error} onRetry={report.refetch} />}
      {actions.error}
      <LoadHead phase={phase} />
      <BeforeSending acceptance={acceptance} rows={summary.rows.not_sent} place={place} />
      {!isOver && load !== null && <LoadProgressPanel snapshot={snapshot} load={load} />}
      {isOver && known !== null && view !== null && <LoadSummaryPanel report={known} view={view} />}
      <div className={`grid gap-4 items-start two-columns ${styles.columns}`}>
        <Stack gap="md">
          <ThresholdsPanel
            thresholds={toThresholdView(thresholds)}
            note={isOver && view !== null ? view.thresholds.note : null}
            isOver={isOver}
          />
          {view !== null && <LoadErrorsPanel runId={runId} errors={view.errors} />}
        </Stack>
        {view !== null && (
          <Stack gap="md">
            <StatusesPanel statuses={view.statuses} />
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
      {view !== null && view.stages.length > 0 && <StagesPanel stages={view.stages} />}
      {view?.groups.map((group) => (
        <GroupPanel key={group.by} group={group} />
      ))}
      {known !== null && <LoadRequestsPanel report={known} />}
    </Screen>
  )
}

function LoadHead({ phase }: { phase: RunPhase }) {
  if (phase === 'ready') return <Notice kind="info" title="The rows are checked; nothing is sent yet" />
  return null
}

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

const PHASES: Record<LoadProgress['phase'], string> = {
  warmup: 'warm-up, not measured',
  measuring: 'measuring',
  stopping: 'stopping: the last answers',
}

/** The current state of a load test: its phase, progress, rate and results. */
function LoadProgressPanel({ snapshot, load }: { snapshot: RunSnapshot; load: LoadProgress }) {
  const { elapsedMs, measuredMs } = load
  const share = measuredMs === null || measuredMs <= 0 ? null : clamp(elapsedMs / measuredMs)
  return (
    <Panel title="Progress" aside={PHASES[load.phase]}>
      <Stack gap="sm">
        {load.silentMs !== null && (
          <Notice kind="warning" isSilent title={`The service has given ${sayLiveSilence(load.silentMs)}`} />
        )}
        {share !== null && <Progress value={share * 100} size="sm" aria-label="Progress of the load test" />}
        <Figures figures={toFigures(snapshot, load)} />
      </Stack>
    </Panel>
  )
}

function clamp(share: number): number {
  return Math.min(1, Math.max(0, share))
}

function toFigures({ inFlight }: RunSnapshot, load: LoadProgress): Figure[] {
  const { phase, elapsedMs, measuredMs, scheduledPerS, achievedPerS, requests, failed } = load
  const figures: Figure[] = [
    phase === 'warmup'
      ? { label: 'Measured', value: '–', note: `measuring begins in ${formatSpan(-elapsedMs)}` }
      : {
          label: 'Measured',
          value: formatSpan(Math.min(elapsedMs, measuredMs ?? elapsedMs)),
          note: measuredMs === null ? 'until the last request' : `of ${formatSpan(measuredMs)}`,
        },
  ]
  if (scheduledPerS !== null) {
    figures.push({ label: 'Scheduled', value: formatRate(scheduledPerS), unit: 'requests/s' })
  }
  figures.push(
    {
      label: 'Achieved',
      value: achievedPerS === null ? '–' : formatRate(achievedPerS),
      unit: 'requests/s',
      note: 'in the last second',
    },
    { label: 'In flight', value: formatCount(inFlight) },
    { label: 'Answered', value: formatCount(requests) },
    {
      label: 'Did not succeed',
      value: formatCount(failed),
      note: requests === 0 ? 'of none yet' : formatShare(failed, requests),
    },
  )
  if (scheduledPerS !== null) figures.push({ label: 'Dropped', value: formatCount(load.dropped) })
  if (load.awaited > 0) figures.push({ label: 'Callbacks awaited', value: formatCount(load.awaited) })
  if (load.limitedSeconds > 0) {
    figures.push({ label: 'Generator-limited', value: formatCount(load.limitedSeconds), unit: 's' })
  }
  return figures
}

/** Every measured latency, with its course and distribution if the report has them. */
function LoadLatencyPanel(props: {
  latencyMs: Partial<Record<TrendMetric, Percentiles | null>>
  thresholds: readonly ThresholdResult[]
  report: LoadOverview | null
  shown: readonly TrendMetric[]
  onShown: (shown: readonly TrendMetric[]) => void
}) {
  const { latencyMs, thresholds, report } = props
  const series = listLatencies(latencyMs)
  const limits = useMemo(
    () =>
      Object.groupBy(
        listLatencyLimits(thresholds.map(({ expression }) => expression)),
        ({ metric }) => metric,
      ),
    [thresholds],
  )
  const limited = useMemo(() => listLimited(report), [report])
  return (
    <Panel
      title="Latency"
      aside={
        latencyMs.response_time
          ? `response_time: ${METRICS.response_time.meaning}`
          : `http_req_duration: ${METRICS.http_req_duration.meaning}`
      }
    >
      {series.length === 0 ? (
        <p className="quiet">Measured from the first answer after the warm-up on.</p>
      ) : (
        <LatencyCharts
          series={series}
          shown={props.shown}
          onShown={props.onShown}
          measured={report}
          limits={limits}
          limited={limited}
        />
      )}
    </Panel>
  )
}

function LoadRequestsPanel({ report }: { report: LoadOverview }) {
  const seconds = useMemo(
    () =>
      report.seconds.map(({ second, scheduled, counts, dropped }) => ({
        second,
        scheduled,
        sent: counts.sent,
        succeeded: counts.succeeded,
        unsuccessful: counts.rejected + counts.failed + counts.unknown + dropped,
      })),
    [report.seconds],
  )
  const limited = useMemo(() => listLimited(report), [report])
  return (
    <Panel
      title="Requests per second"
      aside={limited.length > 0 ? 'shaded: may include delays of this machine' : undefined}
    >
      {seconds.length === 0 ? (
        <p className="quiet">Counted from the first measured second on.</p>
      ) : (
        <RequestsOverTime seconds={seconds} limited={limited} />
      )}
    </Panel>
  )
}

function listLimited(report: LoadOverview | null): number[] {
  return (report?.seconds ?? []).flatMap(({ second, limited }) => (limited ? [second] : []))
}
