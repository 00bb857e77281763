import { useQuery } from '@tanstack/react-query'
import { create } from 'zustand'
import { parseBridgeError } from '../../shared/bridge/errors.ts'
import { toWholeMapping } from '../../shared/mapping/match-columns.ts'
import type { Fix } from '../../shared/plan/fixes.ts'
import { bridge } from '../bridge/client.ts'
import { followAgain } from '../bridge/live-runs.ts'
import { CheckScreen } from '../features/check/check-screen.tsx'
import type { NamePlace } from '../ui/connection/destination.ts'
import { ErrorNotice, Screen } from '../ui/layout/screen.tsx'
import { openScratchpad } from './flow.ts'
import { goTo } from './route.ts'

/** A person's choices for a retry, except corrections. */
type Choice = Omit<Parameters<typeof bridge.runs.correctRun>[0], 'runId' | 'fixes'>

/** What is known about corrections, by corrected run; only in memory, since this may include a key. */
interface Corrections {
  /** The held retry, and the choices for it. */
  held: Readonly<Record<string, { retryId: string; choice: Choice }>>
  /** The run that each retry corrects; each correction creates another retry of it. */
  parents: Readonly<Record<string, string>>
  /** The newest fixes; those of the retry on screen may be older while its rows are checked again. */
  fixes: Readonly<Record<string, readonly Fix[]>>
}

const useCorrections = create<Corrections>(() => ({ held: {}, parents: {}, fixes: {} }))

/** Creates and holds a retry that corrects a run's unsuccessful rows, and shows what is wrong with them. */
export async function beginCorrection(runId: string, choice: Choice): Promise<void> {
  const { retries } = await bridge.runs.summarize({ runId })
  const { fixes = [] } = await bridge.runs.readPlan({ runId: retries.at(-1)?.run_id ?? runId })
  const retryId = await holdRetry(runId, choice, useCorrections.getState().fixes[runId] ?? fixes)
  goTo({ kind: 'correct', runId: retryId })
}

async function holdRetry(runId: string, choice: Choice, fixes: readonly Fix[]): Promise<string> {
  const { runId: retryId } = await bridge.runs.correctRun({ runId, fixes: [...fixes], ...choice })
  useCorrections.setState(({ held, parents }) => ({
    held: { ...held, [runId]: { retryId, choice } },
    parents: { ...parents, [retryId]: runId },
  }))
  return retryId
}

/** Forgets the choices for a retry that was dropped or sent. */
function forgetHeld(runId: string): void {
  useCorrections.setState(({ held: { [runId]: _dropped, ...held } }) => ({ held }))
}

/** Forgets the fixes of a retry that is sent with them. */
function forgetFixes(runId: string): void {
  useCorrections.setState(({ fixes: { [runId]: _known, ...fixes } }) => ({ fixes }))
}

/** The run that a retry corrects; null if this window did not begin the correction. */
export function useCorrectedRun(retryId: string | null): string | null {
  return useCorrections(({ parents }) => (retryId === null ? null : (parents[retryId] ?? null)))
}

/** The check of a held retry: its rows are corrected like those of a new run, then resent. */
export function CorrectRun(props: {
  runId: string
  namePlace: NamePlace
  /** Asks again how to retry the run, since a reload of the page loses the choices. */
  onAsk: (parentRunId: string) => void
}) {
  const { runId } = props
  const correctedRunId = useCorrectedRun(runId)
  const retry = useQuery({
    queryKey: ['correction', runId],
    queryFn: async () => {
      // Before this, it may not even have a journal.
      await bridge.runs.awaitReady({ runId })
      const [plan, summary, columns] = await Promise.all([
        bridge.runs.readPlan({ runId }),
        bridge.runs.summarize({ runId }),
        bridge.results.columns({ runId }),
      ])
      return { runId, plan, columns, summary, parentRunId: summary.parent_run_id ?? runId }
    },
    // Only of the same run, so that "Send" sends what is shown.
    placeholderData: (previous) => (previous?.parentRunId === correctedRunId ? previous : undefined),
  })
  const newest = useCorrections((known) => known.fixes[retry.data?.parentRunId ?? runId])
  if (retry.data === undefined) {
    return (
      <Screen title="Correct and retry" subtitle={retry.error === null ? 'Checking the rows' : undefined}>
        {retry.error !== null && <ErrorNotice error={retry.error} />}
      </Screen>
    )
  }
  const { plan, columns, summary, parentRunId, runId: shown } = retry.data
  return (
    <CheckScreen
      runId={shown}
      operation={plan.operation}
      isLoad={false}
      columns={columns}
      mapping={toWholeMapping(plan, columns)}
      fixes={newest ?? plan.fixes ?? []}
      parentRunId={parentRunId}
      place={props.namePlace(summary.base_url, summary.connection)}
      onFixes={(fixes) => correctAgain(shown, parentRunId, fixes, props.onAsk)}
      onBack={async () => {
        // A correction that was just made may replace the retry, and would show that again.
        await correcting
        // While the retry exists, its rows count as not sent. The next one gets the same fixes.
        await dropRetry(useCorrections.getState().held[parentRunId]?.retryId ?? shown).catch(() => {})
        forgetHeld(parentRunId)
        goTo({ kind: 'results', runId: parentRunId })
      }}
      onContinue={async (accept) => {
        const { runId: begun } = await bridge.runs.begin({ runId: shown, accept })
        forgetHeld(parentRunId)
        forgetFixes(parentRunId)
        followAgain(begun)
        goTo({ kind: 'run', runId: begun })
      }}
      onScratchpad={openScratchpad}
    />
  )
}

let correcting: Promise<void> = Promise.resolve()

/**
 * The held retry has sent nothing: another one with other fixes replaces it. Only one can be held at a time,
 * so the fixes are kept here until the other one has them. Of several changes at once, the last counts.
 */
function correctAgain(
  shown: string,
  parentRunId: string,
  fixes: readonly Fix[],
  onAsk: (parentRunId: string) => void,
): Promise<void> {
  useCorrections.setState((known) => ({ fixes: { ...known.fixes, [parentRunId]: fixes } }))
  const recheck = correcting.then(async () => {
    const { held, fixes: newest } = useCorrections.getState()
    if (newest[parentRunId] !== fixes) return
    const known = held[parentRunId]
    await dropRetry(known?.retryId ?? shown)
    if (known === undefined) return onAsk(parentRunId)
    const retryId = await holdRetry(parentRunId, known.choice, fixes)
    await bridge.runs.awaitReady({ runId: retryId })
    goTo({ kind: 'correct', runId: retryId }, { replace: true })
  })
  correcting = recheck.catch(() => {})
  return recheck
}

/** It may already be gone if its successor could not be created. */
async function dropRetry(runId: string): Promise<void> {
  await bridge.runs.drop({ runId }).catch((error: unknown) => {
    if (parseBridgeError(error)?.code !== 'RUN_NOT_FOUND') throw error
  })
}
