import type { LoadOverview } from '../../../shared/bridge/load.ts'
import type { RunSummary } from '../../../shared/run/run.ts'
import type { RunPhase } from '../../../shared/run/snapshot.ts'
import { bridge } from '../../bridge/client.ts'
import { useConnection } from '../../bridge/connection.ts'
import { useFollowRun, useLiveRuns } from '../../bridge/live-runs.ts'
import { toShownError } from '../../bridge/shown-error.ts'
import { useQuery } from '../../bridge/use-query.ts'
import { ConnectionChip } from '../../ui/connection/connection-chip.tsx'
import type { NamedPlace } from '../../ui/connection/destination.ts'
import { formatCount } from '../../ui/format-number.ts'
import { ErrorNotice } from '../../ui/layout/error-notice.tsx'
import { Notice } from '../../ui/layout/notice.tsx'
import { Screen } from '../../ui/layout/screen.tsx'
import { RunStateLabel, toVerdict } from '../../ui/states/run-state-label.tsx'
import { SafeText } from '../../ui/text/safe-text.tsx'
import { GroupsPanel, LoadErrorsPanel, StatusesPanel } from './answers-panel.tsx'
import { GeneratorNotice, GeneratorPanel } from './generator-panel.tsx'
import styles from './load.module.css'
import { useLoadActions } from './load-actions.tsx'
import { LoadLatencyPanel } from './load-latency-panel.tsx'
import { LoadProgressPanel } from './load-progress-panel.tsx'
import { LoadSummaryPanel } from './load-summary-panel.tsx'
import { ThresholdsPanel } from './thresholds-panel.tsx'
import { toReportInterval } from './to-report-interval.ts'

/** A load test as it goes, and what it came to: whether thresholds hold, latencies, answers, and the machine that sent. */
export function LoadScreen(props: {
  runId: string
  /** What an address is called. */
  namePlace: (baseUrl: string) => NamedPlace
  onExport: () => void
}) {
  const { runId } = props
  useFollowRun(runId)
  const summary = useLiveRuns((live) => live.summaries[runId])
  const snapshot = useLiveRuns((live) => live.snapshots[runId])
  const failure = useLiveRuns((live) => live.errors[runId])
  const phase = snapshot?.phase
  const isLost = useConnection(({ state }) => state === 'lost')
  const actions = useLoadActions(runId, phase, props.onExport)
  const load = snapshot?.load ?? null
  const isOver = phase === 'ended'
  const report = useQuery(
    isOver || load !== null ? `${runId} ${isOver}` : null,
    (signal) => bridge.load.report({ runId }, { signal }),
    { everyMs: isOver ? undefined : toReportInterval(load?.elapsedMs ?? 0), keep: true },
  )
  if (summary === undefined || snapshot === undefined || phase === undefined) {
    return (
      <Screen title="Load test" subtitle={failure === undefined ? 'Reading the run' : undefined}>
        {failure !== undefined && <ErrorNotice error={toShownError(failure)} />}
      </Screen>
    )
  }
  const known = report.data
  const limitedSeconds = (isOver ? known?.generator.limitedSeconds : load?.limitedSeconds) ?? 0
  const isLimited = limitedSeconds > 0 || (isOver && known?.generator.limited === true)
  return (
    <Screen
      title={summary.name}
      subtitle={
        <>
          <RunStateLabel
            state={
              isOver ? toVerdict(summary) : isLost ? 'not connected' : phase === 'ready' ? 'ready' : 'running'
            }
            isLoadTest
          />{' '}
          load test of <ConnectionChip place={props.namePlace(summary.base_url)} />
        </>
      }
      actions={actions.buttons}
    >
      {isLimited && (
        <GeneratorNotice limitedSeconds={limitedSeconds} reasons={known?.generator.reasons ?? []} />
      )}
      {failure !== undefined && failure !== null && <ErrorNotice error={toShownError(failure)} />}
      {report.error !== null && <ErrorNotice error={report.error} onRetry={report.refresh} />}
      {actions.error}
      {isOver && <EndNotice summary={summary} />}
      {known !== null && <FigureNotices report={known} />}
      <LoadHead phase={phase} />
      {!isOver && load !== null && <LoadProgressPanel snapshot={snapshot} load={load} />}
      {isOver && known !== null && <LoadSummaryPanel report={known} />}
      <div className={styles.columns}>
        <div className={styles.column}>
          <ThresholdsPanel
            thresholds={(isOver ? known?.thresholds : load?.thresholds) ?? []}
            report={known}
            isOver={isOver}
          />
          {known !== null && (
            <div className={`${styles.column} ${styles.late}`}>
              <StatusesPanel statuses={known.statuses} />
              <LoadErrorsPanel errors={known.errors} />
            </div>
          )}
        </div>
        <div className={styles.column}>
          <LoadLatencyPanel latencyMs={(isOver ? known?.latencyMs : load?.latencyMs) ?? {}} report={known} />
          {known !== null && hasSeveral(known) && <GroupsPanel groups={known.groups} />}
          {known !== null && <GeneratorPanel report={known} />}
        </div>
      </div>
    </Screen>
  )
}

function LoadHead({ phase }: { phase: RunPhase }) {
  if (phase === 'ready') return <Notice kind="info" title="The rows are checked; nothing is sent yet" />
  return null
}

/** Why a load test ended before its end. */
function EndNotice({ summary }: { summary: RunSummary }) {
  const { state, stop_reason } = summary
  if (state === 'completed' || state === 'running') return null
  const title = stop_reason === null ? `It was ${state} before its end` : `It ended early: ${stop_reason}`
  return (
    <Notice kind="warning" title={<SafeText text={title} max={600} lines />}>
      What was measured until then is below. A load test is not resumed: start another.
    </Notice>
  )
}

/** What has to be known before the figures are read. */
function FigureNotices({ report }: { report: LoadOverview }) {
  const { generator, fromCache, counts } = report
  return (
    <>
      {generator.dropped > 0 && (
        <Notice kind="warning" title={`${formatCount(generator.dropped)} due requests were dropped`}>
          The cap on those in flight was reached. They were never sent, so no percentile holds them.
        </Notice>
      )}
      {fromCache > 0 && (
        <Notice
          kind="info"
          title={`${formatCount(fromCache)} of ${formatCount(counts.sent)} answers came from the service’s cache`}
        >
          Their latency is the cache’s.
        </Notice>
      )}
    </>
  )
}

/** Whether there are several models, or sizes of content, to be distinguished. */
function hasSeveral({ groups }: LoadOverview): boolean {
  return groups.length > new Set(groups.map(({ by }) => by)).size
}
