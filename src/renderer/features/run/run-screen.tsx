import { keepPreviousData, skipToken, useQuery } from '@tanstack/react-query'
import { type ReactNode, useCallback, useState } from 'react'
import type { ConnectionEntry } from '../../../shared/bridge/connections.ts'
import { toErrorKey } from '../../../shared/run/counts.ts'
import type { RowFilter } from '../../../shared/run/results.ts'
import type { ErrorGroup, RunSummary } from '../../../shared/run/run.ts'
import { ask, useConnection } from '../../bridge/client.ts'
import { toPollInterval, useFollowRun, useLiveRuns } from '../../bridge/live-runs.ts'
import { useShownLatencies } from '../../ui/charts/latency-charts.tsx'
import { type NamedPlace, rememberTypedKey, toAddresses } from '../../ui/connection/destination.ts'
import { ConnectionChip } from '../../ui/connection/destination-panel.tsx'
import { ErrorNotice } from '../../ui/layout/notice.tsx'
import { Screen } from '../../ui/layout/screen.tsx'
import { nameAnswers } from '../../ui/states/answers.tsx'
import { RunStateLabel } from '../../ui/states/run-state.tsx'
import { CallbacksPanel } from './callbacks-panel.tsx'
import { FailedRowsPanel, hasFailedRows } from './failed-rows-panel.tsx'
import { KeyDialog } from './key-dialog.tsx'
import { LatencyPanel, RequestsPanel } from './latency-panel.tsx'
import { AnswersPanel, ErrorsPanel, ItemsPanel, RulesPanel } from './outcome-panels.tsx'
import { nameStanding, PaceControl, ProgressPanel, toStanding } from './progress-panel.tsx'
import styles from './run.module.css'
import { RunActions } from './run-actions.tsx'
import { KeyNotice, type NewKey, RetriesNotice, StopNotice } from './run-notices.tsx'

const SUMMARY_EVERY_MS = 2_000

/** A run during and after sending: progress, rate, triggered rules, and errors with what to do about them. */
export function RunScreen(props: {
  runId: string
  /** What an address is called. */
  namePlace: (baseUrl: string) => NamedPlace
  connections: readonly ConnectionEntry[]
  /** What can be done to compare the run with others. */
  lookBack: ReactNode
  onResults: (filter: RowFilter) => void
  onExport: () => void
  onContinueRun: (kind: 'resume' | 'retry' | 'correct') => void
  /** Shows another run of the same whole. */
  onOpenRun: (runId: string) => void
}) {
  const { runId, onResults } = props
  useFollowRun(runId)
  const summary = useLiveRuns((live) => live.summaries[runId])
  const phase = useLiveRuns((live) => live.snapshots[runId]?.phase)
  const isLost = useConnection(({ state }) => state === 'lost')
  const failure = useLiveRuns((live) => live.errors[runId])
  const [actionError, setActionError] = useState<unknown>(null)
  const [keyOpen, setKeyOpen] = useState(false)
  const openKey = useCallback(() => setKeyOpen(true), [])
  const closeKey = useCallback(() => setKeyOpen(false), [])
  const [newKey, setNewKey] = useState<NewKey | null>(null)
  const isHeld = phase !== undefined && phase !== 'ended'
  const access = useQuery(ask.runs.readAccess.queryOptions({ input: isHeld ? { runId } : skipToken }))
  const entry = props.connections.find(({ name }) => name === access.data?.connectionName)

  if (summary === undefined || phase === undefined) {
    return (
      <Screen title="Run" subtitle={failure === undefined ? 'Reading the run' : undefined}>
        {failure !== undefined && <ErrorNotice error={failure} />}
      </Screen>
    )
  }
  const error = actionError ?? failure
  return (
    <Screen
      title={summary.name}
      subtitle={
        <>
          <RunStateLabel
            state={isLost && phase !== 'ended' ? 'not connected' : toStanding(phase, summary.state)}
          />{' '}
          {nameStanding(phase)} <ConnectionChip place={props.namePlace(summary.base_url)} />
        </>
      }
      actions={
        <RunActions
          runId={runId}
          summary={summary}
          phase={phase}
          onResults={() => onResults({})}
          onContinueRun={props.onContinueRun}
          onError={setActionError}
          onKey={isHeld && access.data?.canChangeKey ? openKey : null}
          lookBack={props.lookBack}
        />
      }
    >
      {error !== null && error !== undefined && <ErrorNotice error={error} />}
      <RetriesNotice summary={summary} onOpenRun={props.onOpenRun} />
      <StopNotice runId={runId} onKey={isHeld && access.data?.canChangeKey ? openKey : null} />
      {keyOpen && (
        <KeyDialog
          runId={runId}
          entry={entry ?? null}
          onChanged={(name, typed) => {
            if (typed !== null) rememberTypedKey(toAddresses(summary), typed)
            setNewKey({ name, since: new Date().toISOString() })
          }}
          onClose={closeKey}
        />
      )}
      {isHeld && newKey !== null && <KeyNotice newKey={newKey} isPaused={phase === 'paused'} />}
      <LiveProgress runId={runId} />
      <div className={styles.columns}>
        <div className={styles.column}>
          <LiveOutcomes
            runId={runId}
            operation={summary.operation}
            onResults={onResults}
            onExport={props.onExport}
          />
          <LiveCallbacks runId={runId} live={phase !== 'ended'} />
        </div>
        <div className={styles.column}>
          <LiveErrors
            runId={runId}
            operation={summary.operation}
            onPick={(group) => onResults(toFilter(group))}
          />
          {hasFailedRows(summary.operation) && (
            <FailedRowsPanel
              runId={runId}
              operation={summary.operation}
              live={phase !== 'ended'}
              onResults={onResults}
            />
          )}
        </div>
      </div>
      <LiveLatency runId={runId} summary={summary} live={phase !== 'ended'} />
    </Screen>
  )
}

function toFilter({ outcome, status, error_code, message }: ErrorGroup): RowFilter {
  return { cause: toErrorKey(outcome, status, error_code, message) }
}

function LiveProgress({ runId }: { runId: string }) {
  const snapshot = useLiveRuns((live) => live.snapshots[runId])
  if (snapshot === undefined) return null
  const isSteered = snapshot.phase === 'running' || snapshot.phase === 'paused'
  return (
    <ProgressPanel
      snapshot={snapshot}
      {...(isSteered && { pace: <PaceControl runId={runId} inFlight={snapshot.inFlight} /> })}
    />
  )
}

/** The rows' outcomes in the words of the operation. */
function LiveOutcomes(props: {
  runId: string
  operation: string
  onResults: (filter: RowFilter) => void
  onExport: () => void
}) {
  const { runId, operation, onResults } = props
  const rules = useLiveRuns((live) => live.snapshots[runId]?.triggeredRules)
  const answers = useLiveRuns((live) => live.snapshots[runId]?.answers)
  const succeeded = useLiveRuns((live) => live.snapshots[runId]?.rows.succeeded)
  if (operation === 'index-add' || operation === 'index-remove') {
    return <ItemsPanel kind={operation} items={succeeded ?? 0} onExport={props.onExport} />
  }
  const title = nameAnswers(operation)
  if (title !== null) {
    return <AnswersPanel title={title} answers={answers ?? {}} onPick={(answer) => onResults({ answer })} />
  }
  return <RulesPanel rules={rules ?? []} onPick={(ruleId) => onResults({ ruleIds: [ruleId] })} />
}

function LiveCallbacks({ runId, live }: { runId: string; live: boolean }) {
  const callbacks = useLiveRuns((known) => known.snapshots[runId]?.callbacks)
  const rows = useLiveRuns((known) => known.snapshots[runId]?.rows)
  if (callbacks === null || callbacks === undefined || rows === undefined) return null
  return <CallbacksPanel callbacks={callbacks} rows={rows} live={live} />
}

function LiveErrors(props: { runId: string; operation: string; onPick: (group: ErrorGroup) => void }) {
  const { runId, operation, onPick } = props
  const errors = useLiveRuns((live) => live.snapshots[runId]?.errors)
  return <ErrorsPanel errors={errors ?? []} operation={operation} onPick={onPick} />
}

function LiveLatency({ runId, summary, live }: { runId: string; summary: RunSummary; live: boolean }) {
  const newest = useLiveRuns((known) => known.snapshots[runId]?.latencyMs)
  const everyMs = useLiveRuns((known) => toPollInterval(known.snapshots[runId]?.elapsedMs ?? 0))
  const { shown, onShown } = useShownLatencies()
  const hasAnswers = newest !== null && newest !== undefined
  const series = useQuery(
    ask.results.latency.queryOptions({
      input: hasAnswers ? { runId, metrics: [...shown] } : skipToken,
      placeholderData: keepPreviousData,
      refetchInterval: live ? everyMs : false,
    }),
  )
  const current = useQuery(
    ask.runs.summarize.queryOptions({
      input: hasAnswers && live ? { runId } : skipToken,
      refetchInterval: Math.max(SUMMARY_EVERY_MS, everyMs),
    }),
  )
  const { latency_ms: measured } = live ? (current.data ?? summary) : summary
  return (
    <>
      <LatencyPanel
        newest={newest ?? null}
        measured={measured}
        series={series.data ?? null}
        shown={shown}
        onShown={onShown}
      />
      <RequestsPanel series={series.data ?? null} />
    </>
  )
}
