import type { ConnectionEntry } from '../../shared/bridge/connections.ts'
import type { RowFilter } from '../../shared/run/results.ts'
import { useLiveRuns } from '../bridge/live-runs.ts'
import { LookBackMenu } from '../features/compare/look-back-menu.tsx'
import { EvaluateScreen } from '../features/evaluate/evaluate-screen.tsx'
import { ExportScreen } from '../features/export/export-screen.tsx'
import { LoadExportScreen } from '../features/export/load-export-screen.tsx'
import { LabellingScreen } from '../features/labelling/labelling-screen.tsx'
import { LoadScreen } from '../features/load/load-screen.tsx'
import { ResultsScreen } from '../features/results/results-screen.tsx'
import { RunScreen } from '../features/run/run-screen.tsx'
import { TrendScreen } from '../features/trend/trend-screen.tsx'
import type { NamedPlace } from '../ui/connection/destination.ts'
import { isLoadTest } from '../ui/states/run-state.tsx'
import { goTo, type Route, toHash } from './route.ts'

/** The screens of a run; a load test has its own, and no results by row. */
export function RunScreens(props: {
  route: Extract<Route, { runId: string }>
  /** What an address is called. */
  namePlace: (baseUrl: string) => NamedPlace
  connections: readonly ConnectionEntry[]
  /** The filter of the results, where one was set. */
  filter: RowFilter | null
  onRun: () => void
  onResults: (filter: RowFilter) => void
  onExport: (filter: RowFilter) => void
  onContinueRun: (kind: 'resume' | 'retry' | 'correct') => void
}) {
  const { route, namePlace, filter, onExport } = props
  const { runId } = route
  const isLoad = useLiveRuns((live) => {
    const summary = live.summaries[runId]
    return summary !== undefined && isLoadTest(summary)
  })
  if (route.kind === 'trend') {
    return <TrendScreen runId={runId} hrefOf={(other) => toHash({ kind: 'run', runId: other })} />
  }
  const lookBack = (
    <LookBackMenu
      runId={runId}
      onCompare={(runIds) => goTo({ kind: 'compare', runIds })}
      onTrend={() => goTo({ kind: 'trend', runId })}
    />
  )
  if (isLoad) {
    if (route.kind === 'export') return <LoadExportScreen runId={runId} />
    return (
      <LoadScreen runId={runId} namePlace={namePlace} lookBack={lookBack} onExport={() => onExport({})} />
    )
  }
  if (route.kind === 'results') {
    return (
      <ResultsScreen
        runId={runId}
        filter={filter ?? {}}
        onExport={onExport}
        onRun={props.onRun}
        onEvaluate={() => goTo({ kind: 'evaluate', runId })}
        onRetry={() => props.onContinueRun('retry')}
        onLabel={() => goTo({ kind: 'labelling', runId })}
        onCorrect={() => props.onContinueRun('correct')}
      />
    )
  }
  if (route.kind === 'labelling') {
    return (
      <LabellingScreen
        runId={runId}
        onResults={props.onResults}
        onEvaluate={() => goTo({ kind: 'evaluate', runId })}
      />
    )
  }
  if (route.kind === 'evaluate') return <EvaluateScreen runId={runId} onResults={props.onResults} />
  if (route.kind === 'export') return <ExportScreen runId={runId} filter={filter} />
  return (
    <RunScreen
      runId={runId}
      namePlace={namePlace}
      connections={props.connections}
      lookBack={lookBack}
      onResults={props.onResults}
      onExport={() => onExport({})}
      onContinueRun={props.onContinueRun}
      onOpenRun={(other) => goTo({ kind: 'run', runId: other })}
    />
  )
}
