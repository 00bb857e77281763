import { useQuery } from '@tanstack/react-query'
import { useCallback, useEffect, useState } from 'react'
import type { ConnectionEntry } from '../../shared/bridge/connections.ts'
import { ask } from '../bridge/client.ts'
import { useFollowRuns } from '../bridge/live-runs.ts'
import { CallbacksScreen } from '../features/callbacks/callbacks-screen.tsx'
import { CapacityScreen } from '../features/capacity/capacity-screen.tsx'
import { CompareScreen } from '../features/compare/compare-screen.tsx'
import { ConnectionsScreen } from '../features/connections/connections-screen.tsx'
import { ListsScreen } from '../features/lists/lists-screen.tsx'
import { ImportK6Dialog } from '../features/load/import-k6-dialog.tsx'
import { PlanDialog } from '../features/plan/plan-dialog.tsx'
import { CleanUpDialog } from '../features/runs/run-deletion.tsx'
import { RunsScreen } from '../features/runs/runs-screen.tsx'
import { SandboxScreen } from '../features/sandbox/sandbox-screen.tsx'
import { ScratchpadScreen } from '../features/scratchpad/scratchpad-screen.tsx'
import { SettingsScreen } from '../features/settings/settings-screen.tsx'
import { isAskedFor, nameAddress } from '../ui/connection/destination.ts'
import { ContentVisit } from '../ui/content/user-content.tsx'
import { Confirmation } from './confirmation.tsx'
import { ContinueRun, useContinueRequest } from './continue-run.tsx'
import { CorrectRun, useCorrectedRun } from './correct-run.tsx'
import { useDraft } from './draft.ts'
import { DraftScreens } from './draft-screens.tsx'
import {
  beginAt,
  beginWith,
  continueDraft,
  findOtherPlace,
  followConnection,
  openListDraft,
  openSandboxTrial,
} from './flow.ts'
import { useKeptFocus } from './keep-focus.ts'
import { FilePicker, useFileDrop, useOpenFile } from './open-file.tsx'
import { goTo, toPlace, useRoute } from './route.ts'
import { announceEnd, findEnded } from './run-endings.tsx'
import { RunScreens } from './run-screens.tsx'
import { Shell } from './shell/shell.tsx'
import { useStoredSettings } from './stored-settings.ts'

const NO_CONNECTIONS: readonly ConnectionEntry[] = []
const NO_ADDRESSES: readonly string[] = []

const announceEnds: Parameters<typeof useFollowRuns>[0] = (before, now) => {
  for (const runId of findEnded(before, now)) announceEnd(runId).catch(() => {})
}

/** The whole window: the shell around the screen that the address names. */
export function App() {
  const route = useRoute()
  useFollowRuns(announceEnds)
  useStoredSettings()
  const app = useQuery(ask.app.describe.queryOptions()).data ?? null
  const file = useOpenFile()
  const isOver = useFileDrop(file)
  const shownRunId = 'runId' in route ? route.runId : null
  const continueRun = useContinueRequest(shownRunId)
  const [isImporting, setImporting] = useState(false)

  useKeptFocus(route)

  const lastOperation = app?.lastOperation ?? null
  useEffect(() => {
    if (lastOperation !== null) beginWith(lastOperation)
  }, [lastOperation])

  const openRun = useCallback((runId: string) => goTo({ kind: 'run', runId }), [])
  const openResults = useCallback((runId: string) => goTo({ kind: 'results', runId }), [])
  const stored = useQuery(
    ask.connections.list.queryOptions({
      // A store that asks a person to unlock it answers only after that.
      refetchInterval: ({ state }) => (state.data?.some(isAskedFor) ? 1_000 : false),
    }),
  )
  const connections = stored.data ?? NO_CONNECTIONS
  const beginsAt = app?.beginsAt
  const isRestoring = useDraft((draft) => draft.isRestoring)
  useEffect(() => {
    if (beginsAt !== undefined && !isRestoring) beginAt(beginsAt, connections)
  }, [beginsAt, connections, isRestoring])
  const otherPlace = useDraft((draft) => findOtherPlace(draft, connections))
  const sandboxBaseUrls = app?.sandboxBaseUrls ?? NO_ADDRESSES
  const namePlace = useCallback(
    (baseUrl: string, connection?: string) =>
      nameAddress(baseUrl, { sandboxBaseUrls, connections }, connection),
    [sandboxBaseUrls, connections],
  )

  const draftOf = useDraft(({ source }) => source?.sourceId ?? '')
  const correctedRunId = useCorrectedRun(shownRunId)
  const place =
    route.kind === 'correct' ? `correction of ${correctedRunId ?? route.runId}` : toPlace(route, draftOf)

  return (
    <ContentVisit place={place}>
      <Shell route={route} app={app} isOver={isOver}>
        <FilePicker
          picker={file.picker}
          folderPicker={file.folderPicker}
          onFiles={file.openAll}
          onFolder={file.openFolder}
        />
        {route.kind === 'runs' && (
          <RunsScreen
            namePlace={namePlace}
            connections={connections}
            onNew={continueDraft}
            onImportK6={() => setImporting(true)}
            onChoose={file.choose}
            onChooseFolder={file.chooseFolder}
            onSandbox={openSandboxTrial}
            onOpen={openRun}
            onOpenSearch={(searchId) => goTo({ kind: 'capacity', searchId })}
            onResults={openResults}
            onCompare={(runIds) => goTo({ kind: 'compare', runIds })}
          />
        )}
        {route.kind === 'connections' && (
          <ConnectionsScreen draftPlace={otherPlace} onUse={followConnection} onDraft={continueDraft} />
        )}
        {route.kind === 'callbacks' && <CallbacksScreen onOpenRun={openRun} />}
        {route.kind === 'settings' && <SettingsPlace />}
        {route.kind === 'scratchpad' && <ScratchpadScreen connections={connections} />}
        {route.kind === 'sandbox' && <SandboxScreen onRuns={() => goTo({ kind: 'runs' })} />}
        {route.kind === 'compare' && (
          <CompareScreen
            runIds={route.runIds}
            onRuns={(runIds) => goTo({ kind: 'compare', runIds })}
            onOpenRun={openRun}
            onTrend={(runId) => goTo({ kind: 'trend', runId })}
            namePlace={namePlace}
          />
        )}
        {route.kind === 'lists' && (
          <ListsScreen
            key={route.of}
            of={route.of}
            onOf={(of) => goTo({ kind: 'lists', of })}
            namePlace={namePlace}
            onDraft={(draft) => openListDraft(draft, connections)}
            onOpenRun={openResults}
            onNew={continueDraft}
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
            namePlace={namePlace}
            onAsk={(runId) => {
              openResults(runId)
              continueRun.make({ kind: 'correct', runId })
            }}
          />
        )}
        {'runId' in route && route.kind !== 'correct' && (
          <RunScreens
            key={route.runId}
            route={route}
            namePlace={namePlace}
            connections={connections}
            onContinueRun={(kind) => continueRun.make({ kind, runId: route.runId })}
          />
        )}
        {file.planId !== null && (
          <PlanDialog
            key={file.planId}
            planId={file.planId}
            connections={connections}
            onOpen={(runId) => {
              file.closePlan()
              openRun(runId)
            }}
            onClose={file.closePlan}
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
          <ContinueRun
            request={continueRun.request}
            connections={connections}
            namePlace={namePlace}
            onClose={continueRun.drop}
          />
        )}
        <Confirmation />
      </Shell>
    </ContentVisit>
  )
}

function SettingsPlace() {
  const [isCleaningUp, setCleaningUp] = useState(false)
  return (
    <>
      <SettingsScreen onCleanUp={() => setCleaningUp(true)} />
      {isCleaningUp && <CleanUpDialog onClose={() => setCleaningUp(false)} />}
    </>
  )
}
