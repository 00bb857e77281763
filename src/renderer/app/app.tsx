import { useQuery } from '@tanstack/react-query'
import { useCallback, useEffect, useState } from 'react'
import type { ConnectionEntry } from '../../shared/bridge/connections.ts'
import type { RowFilter } from '../../shared/run/results.ts'
import { ask } from '../bridge/client.ts'
import { useFollowRuns } from '../bridge/live-runs.ts'
import { CapacityScreen } from '../features/capacity/capacity-screen.tsx'
import { CompareScreen } from '../features/compare/compare-screen.tsx'
import { ConnectionsScreen } from '../features/connections/connections-screen.tsx'
import { ListsScreen } from '../features/lists/lists-screen.tsx'
import { ImportK6Dialog } from '../features/load/import-k6-dialog.tsx'
import { RunsScreen } from '../features/runs/runs-screen.tsx'
import { nameAddress } from '../ui/connection/destination.ts'
import { ContinueRun, useContinueRequest } from './continue-run.tsx'
import { CorrectRun } from './correct-run.tsx'
import { DraftScreens } from './draft-screens.tsx'
import { beginAt, beginWith, openListDraft, openSandboxTrial } from './flow.ts'
import { FilePicker, useFileDrop, useOpenFile } from './open-file.tsx'
import { goTo, useRoute } from './route.ts'
import { RunScreens } from './run-screens.tsx'
import { Shell } from './shell/shell.tsx'

const NO_FILTER: RowFilter = {}
const NO_CONNECTIONS: readonly ConnectionEntry[] = []

/** The whole window: the shell, and in it the screen that the address names. */
export function App() {
  const route = useRoute()
  useFollowRuns()
  const app = useQuery(ask.app.describe.queryOptions()).data ?? null
  const file = useOpenFile()
  const isOver = useFileDrop(file)
  const continueRun = useContinueRequest()
  const [filter, setFilter] = useState<RowFilter | null>(null)
  const [isImporting, setImporting] = useState(false)

  // biome-ignore lint/correctness/useExhaustiveDependencies: a new screen takes the focus, as a new page would
  useEffect(() => {
    document.getElementById('screen')?.focus({ preventScroll: true })
  }, [route])

  const lastOperation = app?.lastOperation ?? null
  useEffect(() => {
    if (lastOperation !== null) beginWith(lastOperation)
  }, [lastOperation])

  const openRun = useCallback((runId: string) => goTo({ kind: 'run', runId }), [])
  const openResults = useCallback((runId: string, chosen: RowFilter) => {
    setFilter(Object.keys(chosen).length === 0 ? null : chosen)
    goTo({ kind: 'results', runId })
  }, [])
  const openExport = useCallback((runId: string, chosen: RowFilter) => {
    setFilter(Object.keys(chosen).length === 0 ? null : chosen)
    goTo({ kind: 'export', runId })
  }, [])
  const connections = useQuery(ask.connections.list.queryOptions()).data ?? NO_CONNECTIONS
  const beginsAt = app?.beginsAt
  useEffect(() => {
    if (beginsAt !== undefined) beginAt(beginsAt, connections)
  }, [beginsAt, connections])
  const sandboxBaseUrl = app?.sandboxBaseUrl ?? null
  const namePlace = useCallback(
    (baseUrl: string) => nameAddress(baseUrl, { sandboxBaseUrl, connections }),
    [sandboxBaseUrl, connections],
  )

  return (
    <Shell route={route} app={app} isOver={isOver}>
      <FilePicker
        picker={file.picker}
        folderPicker={file.folderPicker}
        onFile={file.open}
        onFolder={file.openFolder}
      />
      {route.kind === 'runs' && (
        <RunsScreen
          namePlace={namePlace}
          connections={connections}
          onNew={() => goTo({ kind: 'draft', step: 'operation' })}
          onImportK6={() => setImporting(true)}
          onChoose={file.choose}
          onChooseFolder={file.chooseFolder}
          onSandbox={openSandboxTrial}
          onOpen={openRun}
          onResults={(runId) => openResults(runId, NO_FILTER)}
          onCompare={(runIds) => goTo({ kind: 'compare', runIds })}
        />
      )}
      {route.kind === 'connections' && <ConnectionsScreen />}
      {route.kind === 'compare' && (
        <CompareScreen
          runIds={route.runIds}
          onRuns={(runIds) => goTo({ kind: 'compare', runIds })}
          onOpenRun={openRun}
          onTrend={(runId) => goTo({ kind: 'trend', runId })}
        />
      )}
      {route.kind === 'lists' && (
        <ListsScreen
          key={route.of}
          of={route.of}
          onOf={(of) => goTo({ kind: 'lists', of })}
          namePlace={namePlace}
          onDraft={(draft) => openListDraft(draft, connections)}
          onOpenRun={(runId) => openResults(runId, NO_FILTER)}
          onNew={() => goTo({ kind: 'draft', step: 'operation' })}
        />
      )}
      {route.kind === 'draft' && (
        <DraftScreens step={route.step} app={app} connections={connections} file={file} />
      )}
      {route.kind === 'capacity' && (
        <CapacityScreen
          key={route.searchId}
          searchId={route.searchId}
          namePlace={namePlace}
          onOpenRun={openRun}
        />
      )}
      {route.kind === 'correct' && (
        <CorrectRun
          runId={route.runId}
          onAsk={(runId) => {
            openResults(runId, NO_FILTER)
            continueRun.make({ kind: 'correct', runId })
          }}
        />
      )}
      {'runId' in route && route.kind !== 'correct' && (
        <RunScreens
          key={`${route.kind} ${route.runId}`}
          route={route}
          namePlace={namePlace}
          connections={connections}
          filter={filter}
          onRun={() => openRun(route.runId)}
          onResults={(chosen) => openResults(route.runId, chosen)}
          onExport={(chosen) => openExport(route.runId, chosen)}
          onContinueRun={(kind) => continueRun.make({ kind, runId: route.runId })}
        />
      )}
      {isImporting && (
        <ImportK6Dialog
          onImported={(runId) => {
            setImporting(false)
            openRun(runId)
          }}
          onClose={() => setImporting(false)}
        />
      )}
      {continueRun.request !== null && (
        <ContinueRun request={continueRun.request} namePlace={namePlace} onClose={continueRun.drop} />
      )}
    </Shell>
  )
}
