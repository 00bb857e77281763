import { CloseButton } from '@mantine/core'
import { IconArrowsDiff } from '@tabler/icons-react'
import { create } from 'zustand'
import type { RunEntry } from '../../../shared/bridge/runs.ts'
import { COMPARED_MAX } from '../../../shared/lookback/comparison.ts'
import { formatCounted } from '../../../shared/messages/figure-text.ts'
import type { RunSummary } from '../../../shared/run/run.ts'
import { ActionButton, CheckField } from '../controls.tsx'
import { SafeText } from '../text/safe-text.tsx'

type Ticked = Pick<RunSummary, 'run_id' | 'name' | 'created_at'>

interface RunSelection {
  /** Runs ticked in a list, in the order of ticking. */
  ticked: readonly Ticked[]
}

const useRunSelection = create<RunSelection>(() => ({ ticked: [] }))

function clearSelection(): void {
  useRunSelection.setState({ ticked: [] })
}

export function forgetTick(runId: string): void {
  useRunSelection.setState(({ ticked }) => ({ ticked: ticked.filter((one) => one.run_id !== runId) }))
}

/** A checkbox that selects a run of a list for comparison. */
export function RunTick({ run }: { run: Ticked }) {
  const isTicked = useRunSelection(({ ticked }) => ticked.some((one) => one.run_id === run.run_id))
  const isFull = useRunSelection(({ ticked }) => ticked.length >= COMPARED_MAX)
  return (
    <CheckField
      size="xs"
      aria-label={`Choose ${run.name} to compare`}
      title={isFull && !isTicked ? `At most ${COMPARED_MAX} runs are compared at once` : 'Choose to compare'}
      disabled={isFull && !isTicked}
      value={isTicked}
      onValue={(isWanted) => {
        if (!isWanted) forgetTick(run.run_id)
        else useRunSelection.setState(({ ticked }) => ({ ticked: [...ticked, run] }))
      }}
    />
  )
}

/** Actions for the ticked runs; nothing while there are none. The earliest run comes first. */
export function SelectionBar(props: {
  /** Runs that the list shows; ticked runs outside of it are named. */
  shown: readonly RunEntry[]
  onCompare: (runIds: string[]) => void
}) {
  const ticked = useRunSelection((selection) => selection.ticked)
  if (ticked.length === 0) return null
  const hidden = ticked.filter((one) => !props.shown.some(({ summary }) => summary.run_id === one.run_id))
  const compare = () => {
    const inOrder = [...ticked].sort((a, b) => (a.created_at < b.created_at ? -1 : 1))
    clearSelection()
    props.onCompare(inOrder.map(({ run_id }) => run_id))
  }
  return (
    <section className="row gap-3 p-2-4 border-b bg-accent" aria-label="Chosen runs">
      <span aria-live="polite">
        {formatCounted(ticked.length, 'run')} chosen
        {hidden.length > 0 && (
          <>
            , {hidden.length} not shown below:{' '}
            <SafeText text={hidden.map(({ name }) => name).join(', ')} max={200} />
          </>
        )}
        {ticked.length === 1 && '; choose another one to compare'}
      </span>
      <ActionButton
        label="Compare"
        variant="filled"
        small
        disabled={ticked.length < 2}
        icon={IconArrowsDiff}
        onClick={compare}
      />
      <CloseButton size="sm" aria-label="Clear the choice" onClick={clearSelection} />
    </section>
  )
}
