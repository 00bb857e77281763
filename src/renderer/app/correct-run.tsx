import { useQuery } from '@tanstack/react-query'
import { create } from 'zustand'
import { matchColumns } from '../../shared/mapping/match-columns.ts'
import type { Fix } from '../../shared/plan/fixes.ts'
import { bridge } from '../bridge/client.ts'
import { followAgain } from '../bridge/live-runs.ts'
import { CheckScreen } from '../features/check/check-screen.tsx'
import { ErrorNotice } from '../ui/layout/notice.tsx'
import { Screen } from '../ui/layout/screen.tsx'
import { goTo } from './route.ts'

/** What a person chose for a retry, apart from how its rows are corrected. */
type Choice = Omit<Parameters<typeof bridge.runs.correctRun>[0], 'runId' | 'fixes'>

/** The choice for the retry that is being corrected; in memory alone, since a key may be among it. */
const useCorrection = create<{ choice: Choice }>(() => ({ choice: { onUnknown: 'skip' } }))

/** Makes a retry that corrects what did not succeed in a run, holds it, and shows what is wrong with its rows. */
export async function beginCorrection(runId: string, choice: Choice): Promise<void> {
  const { retries } = await bridge.runs.summarize({ runId })
  const { fixes = [] } = await bridge.runs.readPlan({ runId: retries.at(-1)?.run_id ?? runId })
  const retry = await bridge.runs.correctRun({ runId, fixes, ...choice })
  useCorrection.setState({ choice })
  goTo({ kind: 'correct', runId: retry.runId })
}

/** The check of a retry that is held: its rows are corrected like those of a new run, then sent again. */
export function CorrectRun({ runId }: { runId: string }) {
  const retry = useQuery({
    queryKey: ['correction', runId],
    queryFn: async () => {
      // Before that it may not even have a journal.
      await bridge.runs.awaitReady({ runId })
      const [plan, summary, columns] = await Promise.all([
        bridge.runs.readPlan({ runId }),
        bridge.runs.summarize({ runId }),
        bridge.results.columns({ runId }),
      ])
      return { runId, plan, columns, parentRunId: summary.parent_run_id ?? runId }
    },
    placeholderData: (previous) => previous,
  })
  if (retry.data === undefined) {
    return (
      <Screen title="Correct and retry" subtitle={retry.error === null ? 'Checking the rows' : undefined}>
        {retry.error !== null && <ErrorNotice error={retry.error} />}
      </Screen>
    )
  }
  const { plan, columns, parentRunId, runId: shown } = retry.data
  return (
    <CheckScreen
      runId={shown}
      operation={plan.operation}
      isLoad={false}
      columns={columns}
      mapping={{ ...matchColumns(columns, plan.operation), ...plan.mapping }}
      fixes={plan.fixes ?? []}
      isRetry
      onFixes={(fixes) => correctAgain(shown, parentRunId, fixes)}
      onBack={() => {
        bridge.runs.deleteRun({ runId: shown }).catch(() => {})
        goTo({ kind: 'results', runId: parentRunId })
      }}
      onContinue={async () => {
        await bridge.runs.begin({ runId: shown })
        followAgain(shown)
        goTo({ kind: 'run', runId: shown })
      }}
    />
  )
}

/** The retry has sent nothing: another one, with other fixes, takes its rows. */
async function correctAgain(runId: string, parentRunId: string, fixes: Fix[]): Promise<void> {
  await bridge.runs.deleteRun({ runId })
  const { choice } = useCorrection.getState()
  const next = await bridge.runs.correctRun({ runId: parentRunId, fixes, ...choice })
  await bridge.runs.awaitReady({ runId: next.runId })
  goTo({ kind: 'correct', runId: next.runId }, { replace: true })
}
