import { useEffect, useRef } from 'react'
import type { ConnectionEntry } from '../../shared/bridge/connections.ts'
import { isNarrowed, type RowFilter } from '../../shared/run/row-filters.ts'
import { useFollowRun, useLiveRuns } from '../bridge/live-runs.ts'
import { LookBackMenu } from '../features/compare/baseline-menu.tsx'
import { EvaluateScreen } from '../features/evaluate/evaluate-screen.tsx'
import { chooseVerdicts } from '../features/evaluate/question.ts'
import { ExportScreen, LoadExportScreen } from '../features/export/export-screen.tsx'
import { useOutcomeFiles } from '../features/export/outcome-files.tsx'
import { LabellingScreen } from '../features/labelling/labelling-screen.tsx'
import { LoadScreen } from '../features/load/load-screen.tsx'
import { PlanScreen } from '../features/plan/plan-screen.tsx'
import { ResultsScreen } from '../features/results/results-screen.tsx'
import { RunScreen } from '../features/run/run-screen.tsx'
import { SqlScreen } from '../features/sql/sql-screen.tsx'
import { TrendScreen } from '../features/trend/trend-screen.tsx'
import type { NamePlace } from '../ui/connection/destination.ts'
import { ErrorNotice, Screen } from '../ui/layout/screen.tsx'
import { isLoadTest } from '../ui/states/run-state.tsx'
import { mendDraft, openScratchpad, useIsDraftKnown } from './flow.ts'
import { goTo, type Route, toHash } from './route.ts'
import { RunFrame } from './shell/run-frame.tsx'

interface RunScreensProps {
  route: Extract<Route, { runId: string }>
  namePlace: NamePlace
  connections: readonly ConnectionEntry[]
  onContinueRun: (kind: 'resume' | 'retry' | 'correct') => void
}

/** State of the row screens during a visit of a run. Another run starts with a new one. */
interface RowsInView {
  filter: RowFilter
  /** Whether a person asked to export only the filtered rows. */
  isExported: boolean
}

/** The screens of a run, below its name and tabs. Must be mounted anew for each run. */
export function RunScreens(props: RunScreensProps) {
  const { route, namePlace } = props
  const rows = useRef<RowsInView>({ filter: {}, isExported: false })
  useEffect(() => {
    if (route.kind !== 'export') rows.current.isExported = false
  }, [route.kind])
  useFollowRun(route.runId)
  return (
    <RunFrame route={route} namePlace={namePlace} connections={props.connections}>
      <RunTab key={route.kind} {...props} rows={rows.current} />
    </RunFrame>
  )
}

/** One of a run's screens; a load test has its own, and no results by row. */
function RunTab(props: RunScreensProps & { rows: RowsInView }) {
  const { route, rows, namePlace } = props
  const { runId } = route
  const showResults = (filter: RowFilter) => {
    rows.filter = filter
    goTo({ kind: 'results', runId })
  }
  /** The evaluation will have other cells. */
  const forgetCell = () => {
    const { cell: _cell, ...rest } = rows.filter
    rows.filter = rest
  }
  const showExport = () => goTo({ kind: 'export', runId })
  const isLoad = useLiveRuns((live) => {
    const summary = live.summaries[runId]
    return summary !== undefined && isLoadTest(summary)
  })
  const name = useLiveRuns((live) => live.summaries[runId]?.name ?? 'run')
  const isDraftKnown = useIsDraftKnown(runId)
  const outcomeFiles = useOutcomeFiles({ runId, name })
  const unread = useLiveRuns((live) => (live.summaries[runId] === undefined ? live.errors[runId] : undefined))
  if (unread !== undefined) {
    return (
      <Screen title="Run">
        <ErrorNotice error={unread} />
      </Screen>
    )
  }
  if (route.kind === 'trend') {
    return (
      <TrendScreen
        runId={runId}
        namePlace={namePlace}
        hrefOf={(other) => toHash({ kind: 'run', runId: other })}
      />
    )
  }
  if (route.kind === 'plan') return <PlanScreen runId={runId} />
  const lookBack = (
    <LookBackMenu
      runId={runId}
      onCompare={(runIds) => goTo({ kind: 'compare', runIds })}
      onTrend={() => goTo({ kind: 'trend', runId })}
    />
  )
  if (isLoad) {
    if (route.kind === 'export') return <LoadExportScreen runId={runId} />
    return <LoadScreen runId={runId} namePlace={props.namePlace} lookBack={lookBack} onExport={showExport} />
  }
  if (route.kind === 'results') {
    return (
      <ResultsScreen
        runId={runId}
        filter={rows.filter}
        onFilter={(filter) => {
          rows.filter = filter
        }}
        outcomeFiles={outcomeFiles}
        onExport={() => {
          rows.isExported = isNarrowed(rows.filter)
          showExport()
        }}
        onRetry={() => props.onContinueRun('retry')}
        onCorrect={() => props.onContinueRun('correct')}
        onScratchpad={(row) => openScratchpad(runId, row)}
      />
    )
  }
  if (route.kind === 'labelling') {
    return (
      <LabellingScreen
        runId={runId}
        onResults={showResults}
        onEvaluate={() => {
          chooseVerdicts(runId)
          forgetCell()
          goTo({ kind: 'evaluate', runId })
        }}
      />
    )
  }
  if (route.kind === 'sql') return <SqlScreen runId={runId} />
  if (route.kind === 'evaluate')
    return <EvaluateScreen runId={runId} onResults={showResults} onRelabel={forgetCell} />
  if (route.kind === 'export')
    return (
      <ExportScreen
        runId={runId}
        filter={isNarrowed(rows.filter) ? rows.filter : null}
        beginsFiltered={rows.isExported}
      />
    )
  return (
    <RunScreen
      runId={runId}
      namePlace={props.namePlace}
      connections={props.connections}
      lookBack={lookBack}
      outcomeFiles={outcomeFiles}
      onResults={showResults}
      onExport={showExport}
      onContinueRun={props.onContinueRun}
      onCorrections={() => goTo({ kind: 'correct', runId })}
      onMend={isDraftKnown ? mendDraft : null}
      onOpenRun={(other) => goTo({ kind: 'run', runId: other })}
    />
  )
}
