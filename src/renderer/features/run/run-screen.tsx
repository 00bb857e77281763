import { keepPreviousData, skipToken, useQuery } from '@tanstack/react-query'
import { type ReactNode, useCallback, useMemo, useState } from 'react'
import type { ConnectionEntry } from '../../../shared/bridge/connections.ts'
import { listLatencies } from '../../../shared/load/load-view.ts'
import type { TrendMetric } from '../../../shared/load/metrics.ts'
import { formatCount, formatCounted } from '../../../shared/messages/figure-text.ts'
import type { MendingStep } from '../../../shared/messages/outcome-advice.ts'
import { findOperation, subjectOf } from '../../../shared/operations/operations.ts'
import { sayRefusal } from '../../../shared/run/callback-overview.ts'
import { countRows } from '../../../shared/run/item-state.ts'
import type { LatencySeries } from '../../../shared/run/results.ts'
import type { RowFilter } from '../../../shared/run/row-filters.ts'
import {
  type ErrorCause,
  listRowWarnings,
  type Percentiles,
  type RunSummary,
} from '../../../shared/run/run.ts'
import type { RunSnapshot } from '../../../shared/run/snapshot.ts'
import { toCauseFilter } from '../../bridge/asked-request.ts'
import { ask, bridge } from '../../bridge/client.ts'
import { toPollInterval, useLiveRuns } from '../../bridge/live-runs.ts'
import { LatencyCharts, useShownLatencies } from '../../ui/charts/latency-charts.tsx'
import { RequestsOverTime } from '../../ui/charts/requests-over-time.tsx'
import { type NamePlace, rememberTypedKey, toAddresses } from '../../ui/connection/destination.ts'
import type { SecondaryAction } from '../../ui/controls.tsx'
import { Columns, ErrorNotice, type Figure, Figures, Panel, Screen } from '../../ui/layout/screen.tsx'
import { BeforeSending, useAcceptance } from '../../ui/problems/before-sending.tsx'
import { RowWarningsNotice } from '../../ui/problems/row-warnings.tsx'
import { SentBeforeNote } from '../../ui/problems/sent-before.tsx'
import { ReadAsLine } from '../../ui/runs/read-as-line.tsx'
import { Table } from '../../ui/table/table.tsx'
import { SafeText } from '../../ui/text/safe-text.tsx'
import { FailedRowsPanel, hasFailedRows } from './failed-rows-panel.tsx'
import { KeyDialog } from './key-dialog.tsx'
import { AnswersPanel, EchoesPanel, ErrorsPanel, ItemsPanel, RulesPanel } from './outcome-panels.tsx'
import { PaceControl, ProgressPanel } from './progress-panel.tsx'
import styles from './run.module.css'
import { RunActions } from './run-actions.tsx'
import {
  KeyNotice,
  LostNotice,
  type NewKey,
  NotesPanel,
  RefusedNotice,
  RetriesNotice,
  StopNotice,
} from './run-notices.tsx'

const SUMMARY_EVERY_MS = 2_000

/** How often to ask the engine to continue counting the content of answers, milliseconds. */
const COUNT_AGAIN_MS = 50

/** A run during and after sending: progress, rate, triggered rules, and errors with what to do about them. */
export function RunScreen(props: {
  runId: string
  namePlace: NamePlace
  connections: readonly ConnectionEntry[]
  /** Controls for comparing the run with others. */
  lookBack: ReactNode
  /** Writes succeeded and unsuccessful rows to two files, and says where they are. */
  outcomeFiles: { action: SecondaryAction; notice: ReactNode }
  onResults: (filter: RowFilter) => void
  onExport: () => void
  onContinueRun: (kind: 'resume' | 'retry' | 'correct') => void
  /** Goes back to the corrections of a retry that is not sent yet. */
  onCorrections: () => void
  /** Takes the rows back to a step of a new run; null if this window does not know how they were sent. */
  onMend: ((step: MendingStep) => void) | null
  /** Shows another run of the same whole. */
  onOpenRun: (runId: string) => void
}) {
  const { runId, onResults } = props
  const summary = useLiveRuns((live) => live.summaries[runId])
  const phase = useLiveRuns((live) => live.snapshots[runId]?.phase)
  const isKeyRefused = useLiveRuns((live) => live.snapshots[runId]?.notice?.code === 'key_refused')
  /** Requests that were rejected when the key in use was; it changes nothing while the run is paused. */
  const refusedAt = useLiveRuns((live) => {
    const snapshot = live.snapshots[runId]
    return snapshot?.notice?.code === 'key_refused' ? snapshot.requests.rejected : 0
  })
  const failure = useLiveRuns((live) => live.errors[runId])
  const [actionError, setActionError] = useState<unknown>(null)
  const [keyOpen, setKeyOpen] = useState(false)
  const openKey = useCallback(() => setKeyOpen(true), [])
  const closeKey = useCallback(() => setKeyOpen(false), [])
  const [newKey, setNewKey] = useState<NewKey | null>(null)
  const isHeld = phase !== undefined && phase !== 'ended'
  const access = useQuery(ask.runs.readAccess.queryOptions({ input: isHeld ? { runId } : skipToken }))
  const entry = props.connections.find(({ name }) => name === access.data?.keyConnection)
  // Counted while a person views the ended run, so that its results and evaluation open without waiting.
  useQuery(
    ask.results.foundFacets.queryOptions({
      input: phase === 'ended' && summary?.operation === 'task' ? { runId, filter: {} } : skipToken,
      refetchInterval: ({ state }) => (state.data?.isCounted === false ? COUNT_AGAIN_MS : false),
    }),
  )

  const isWarned = summary !== undefined && listRowWarnings(summary.warnings).length > 0
  const problems = useQuery(ask.check.problems.queryOptions({ input: isWarned ? { runId } : skipToken }))
  const open = useQuery(
    ask.check.openWarnings.queryOptions({ input: phase === 'ready' ? { runId } : skipToken }),
  )
  const place =
    summary === undefined || phase !== 'ready' ? null : props.namePlace(summary.base_url, summary.connection)
  const acceptance = useAcceptance(phase === 'ready' ? (open.data ?? []) : [], place?.kind === 'production')

  if (summary === undefined || phase === undefined) {
    return <Screen title="Overview">{failure !== undefined && <ErrorNotice error={failure} />}</Screen>
  }
  const error = actionError ?? failure
  return (
    <Screen
      title="Overview"
      subtitle={<ReadAsLine summary={summary} />}
      actions={
        <RunActions
          runId={runId}
          summary={summary}
          phase={phase}
          acceptance={acceptance}
          onResults={() => onResults({})}
          onContinueRun={props.onContinueRun}
          onCorrections={props.onCorrections}
          onError={setActionError}
          onKey={isHeld && access.data?.canChangeKey ? openKey : null}
          lookBack={props.lookBack}
          outcomeFiles={props.outcomeFiles.action}
        />
      }
    >
      {error !== null && error !== undefined && <ErrorNotice error={error} />}
      {props.outcomeFiles.notice}
      <RetriesNotice summary={summary} onOpenRun={props.onOpenRun} />
      <StopNotice
        runId={runId}
        onKey={isHeld && access.data?.canChangeKey ? openKey : null}
        onGoOn={(options) => void bridge.runs.resume({ runId, ...options }).catch(setActionError)}
      />
      <BeforeSending
        acceptance={acceptance}
        rows={summary.rows.not_sent}
        place={place}
        sentBefore={
          phase === 'ready' && summary.sent_before !== undefined ? <SentBeforeNote summary={summary} /> : null
        }
      />
      <RowWarningsNotice groups={problems.data ?? []} />
      <LostNotice summary={summary} />
      {phase === 'ended' && props.onMend !== null && (
        <RefusedNotice summary={summary} onMend={props.onMend} />
      )}
      {keyOpen && (
        <KeyDialog
          runId={runId}
          entry={entry ?? null}
          isRefused={isKeyRefused}
          onChanged={(name, typed) => {
            if (typed !== null) rememberTypedKey(toAddresses(summary), typed)
            setNewKey({ name, since: new Date().toISOString(), refusedAt })
          }}
          onClose={closeKey}
        />
      )}
      {isHeld && newKey !== null && refusedAt <= newKey.refusedAt && (
        <KeyNotice newKey={newKey} isPaused={phase === 'paused'} />
      )}
      <LiveProgress runId={runId} />
      <Columns least="max(30rem, 40%)">
        <LiveOutcomes
          runId={runId}
          operation={summary.operation}
          live={phase !== 'ended'}
          onResults={onResults}
          onExport={props.onExport}
        />
        <LiveErrors
          runId={runId}
          operation={summary.operation}
          onPick={(cause) => onResults(toCauseFilter(cause))}
        />
      </Columns>
      {hasFailedRows(summary.operation) && (
        <FailedRowsPanel
          runId={runId}
          operation={summary.operation}
          live={phase !== 'ended'}
          onResults={onResults}
        />
      )}
      {/* A summary is not read again during sending, so its counts would not match the rest of the screen. */}
      {phase === 'ended' && (
        <>
          <EchoesPanel echoes={summary.echoes} />
          <NotesPanel summary={summary} />
        </>
      )}
      <LiveCallbacks runId={runId} live={phase !== 'ended'} />
      <LiveLatency runId={runId} summary={summary} live={phase !== 'ended'} />
    </Screen>
  )
}

function LiveProgress({ runId }: { runId: string }) {
  const snapshot = useLiveRuns((live) => live.snapshots[runId])
  if (snapshot === undefined) return null
  const isSteered = snapshot.phase === 'running' || snapshot.phase === 'paused'
  return <ProgressPanel snapshot={snapshot} {...(isSteered && { pace: <PaceControl runId={runId} /> })} />
}

function LiveOutcomes(props: {
  runId: string
  operation: string
  live: boolean
  onResults: (filter: RowFilter) => void
  onExport: () => void
}) {
  const { runId, operation, live, onResults } = props
  const rules = useLiveRuns((known) => known.snapshots[runId]?.triggeredRules)
  const answers = useLiveRuns((known) => known.snapshots[runId]?.answers)
  const succeeded = useLiveRuns((known) => known.snapshots[runId]?.rows.succeeded)
  if (findOperation(operation)?.subject === 'item') {
    return <ItemsPanel operation={operation} items={succeeded ?? 0} onExport={props.onExport} />
  }
  const title = subjectOf(operation).answers
  if (title !== null) {
    return (
      <AnswersPanel
        title={title}
        answers={answers ?? {}}
        live={live}
        onPick={(answer) => onResults({ answer })}
      />
    )
  }
  return <RulesPanel rules={rules ?? []} live={live} onPick={(ruleId) => onResults({ ruleIds: [ruleId] })} />
}

function LiveCallbacks({ runId, live }: { runId: string; live: boolean }) {
  const callbacks = useLiveRuns((known) => known.snapshots[runId]?.callbacks)
  const rows = useLiveRuns((known) => known.snapshots[runId]?.rows)
  if (callbacks === null || callbacks === undefined || rows === undefined) return null
  return <CallbacksPanel callbacks={callbacks} rows={rows} live={live} />
}

function LiveErrors(props: { runId: string; operation: string; onPick: (cause: ErrorCause) => void }) {
  const { runId, operation, onPick } = props
  const errors = useLiveRuns((live) => live.snapshots[runId]?.errors)
  const rows = useLiveRuns((live) => {
    const counts = live.snapshots[runId]?.rows
    return counts === undefined ? 0 : counts.invalid + countRows(counts, 'unsuccessful')
  })
  return <ErrorsPanel runId={runId} rows={rows} errors={errors ?? []} operation={operation} onPick={onPick} />
}

function LiveLatency({ runId, summary, live }: { runId: string; summary: RunSummary; live: boolean }) {
  const second = useLiveRuns((known) => Math.floor((known.snapshots[runId]?.elapsedMs ?? 0) / 1000))
  // A paused run has no further seconds, and its last answers arrive after the last one.
  const lastAnswers = useLiveRuns((known) => {
    const snapshot = known.snapshots[runId]
    return snapshot === undefined || snapshot.phase === 'running' ? null : snapshot.latencyMs?.count
  })
  // Tables and charts of figures that change with each picture cost too much ten times a second.
  // biome-ignore lint/correctness/useExhaustiveDependencies: see above
  const newest = useMemo(
    () => useLiveRuns.getState().snapshots[runId]?.latencyMs ?? null,
    [runId, second, lastAnswers, summary, live],
  )
  const everyMs = useLiveRuns((known) => toPollInterval(known.snapshots[runId]?.elapsedMs ?? 0))
  const { shown, onShown } = useShownLatencies()
  const hasAnswers = newest !== null
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
        newest={newest}
        measured={measured}
        series={series.data ?? null}
        shown={shown}
        onShown={onShown}
      />
      <RequestsPanel series={series.data ?? null} />
    </>
  )
}

/** How long the service takes: percentiles, and each latency over time and as a distribution. */
function LatencyPanel(props: {
  /** Newest percentiles of http_req_duration; `measured` has the other latencies. */
  newest: Percentiles | null
  measured: RunSummary['latency_ms']
  series: LatencySeries | null
  shown: readonly TrendMetric[]
  onShown: (shown: readonly TrendMetric[]) => void
}) {
  const { newest, measured, series } = props
  const latencies = listLatencies({ ...measured, ...(newest !== null && { http_req_duration: newest }) })
  return (
    <Panel title="Latency">
      {latencies.length === 0 ? (
        <p className="quiet">Measured from the first answer on.</p>
      ) : (
        <LatencyCharts series={latencies} shown={props.shown} onShown={props.onShown} measured={series} />
      )}
    </Panel>
  )
}

function RequestsPanel({ series }: { series: LatencySeries | null }) {
  const seconds = useMemo(
    () =>
      series?.seconds.map(({ second, sent, succeeded, rejected, failed, unknown }) => ({
        second,
        sent,
        succeeded,
        scheduled: null,
        unsuccessful: rejected + failed + unknown,
      })) ?? [],
    [series],
  )
  return (
    <Panel title="Requests per second">
      {seconds.length === 0 ? (
        <p className="quiet">Counted from the first answer on.</p>
      ) : (
        <RequestsOverTime seconds={seconds} />
      )}
    </Panel>
  )
}

const RECEIVER_EVERY_MS = 2_000

/** Unusual callbacks, each kind with a name and its effect. */
const ODD = [
  ['early', 'early', 'before the acknowledgement; each settled its row'],
  ['late', 'late', 'when the row was overdue or unknown already; each settled it'],
  ['doubled', 'doubled', 'said the same again; nothing was changed'],
  ['differing', 'differing', 'said something else than the one that counts; kept with their row'],
  ['other_post', 'another post', 'named another post or item than their row; they settled nothing'],
  ['unreadable', 'unreadable', 'not as the interface has them; kept with their row'],
  ['in_doubt', 'in doubt', 'settled their row, and may answer what was sent before a correction'],
] as const satisfies readonly [keyof NonNullable<RunSnapshot['callbacks']>, string, string][]

/** Callbacks of an async run: received ones, awaited ones, and unusual ones if there are any. */
function CallbacksPanel(props: {
  callbacks: NonNullable<RunSnapshot['callbacks']>
  rows: RunSnapshot['rows']
  live: boolean
}) {
  const { callbacks, rows } = props
  const receiver = useQuery(
    ask.receiver.status.queryOptions({ refetchInterval: props.live ? RECEIVER_EVERY_MS : false }),
  )
  const refused = Object.entries(receiver.data?.refused ?? {}).filter(([, times]) => times > 0)
  return (
    <Panel
      title="Callbacks"
      aside={rows.awaiting > 0 ? `${formatCount(rows.awaiting)} awaited` : 'none awaited'}
    >
      <Figures figures={toFigures(callbacks, rows)} />
      <UnexpectedCallbacks callbacks={callbacks} />
      {refused.length > 0 && (
        <p className="mt-3 quiet">
          The receiver of this workspace has refused{' '}
          {refused.map(([why, times], index) => (
            <span key={why}>
              {index > 0 && ', '}
              <SafeText text={`${formatCounted(times, 'post')} ${sayRefusal(why)}`} max={120} />
            </span>
          ))}{' '}
          of any run. They changed nothing.
        </p>
      )}
    </Panel>
  )
}

function toFigures(callbacks: NonNullable<RunSnapshot['callbacks']>, rows: RunSnapshot['rows']): Figure[] {
  const figures: Figure[] = [
    { label: 'Received', value: formatCount(callbacks.received) },
    { label: 'Settled their row', value: formatCount(callbacks.settled) },
  ]
  if (rows.overdue > 0) {
    figures.push({
      label: 'Overdue',
      value: formatCount(rows.overdue),
      note: 'a late one still settles its row',
    })
  }
  return figures
}

function UnexpectedCallbacks({ callbacks }: { callbacks: NonNullable<RunSnapshot['callbacks']> }) {
  const odd = ODD.filter(([kind]) => (callbacks[kind] ?? 0) > 0)
  if (odd.length === 0) return null
  return (
    <Table
      look="plain"
      className={styles.odd}
      caption="Callbacks that were not as usual"
      hasNoHead
      rows={odd}
      columns={[
        { isNumber: true, cell: ([kind]) => formatCount(callbacks[kind] ?? 0) },
        { isRowHead: true, cell: ([, word]) => word },
        { className: 'quiet', cell: ([, , meaning]) => meaning },
      ]}
    />
  )
}
