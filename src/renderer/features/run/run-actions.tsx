import {
  IconKey,
  IconPlayerPause,
  IconPlayerPlay,
  IconPlayerStop,
  IconSend,
  IconTable,
} from '@tabler/icons-react'
import { type ReactNode, useState } from 'react'
import { formatCounted } from '../../../shared/messages/figure-text.ts'
import { countRows } from '../../../shared/run/item-state.ts'
import { canResume, countTrial, type RunSummary } from '../../../shared/run/run.ts'
import type { RunPhase } from '../../../shared/run/snapshot.ts'
import { bridge } from '../../bridge/client.ts'
import { readResultsAhead } from '../../bridge/read-ahead.ts'
import { ActionButton, PrimaryButton, type SecondaryAction, SecondaryActions } from '../../ui/controls.tsx'
import type { Acceptance } from '../../ui/problems/before-sending.tsx'
import { useShortcut } from '../../ui/shortcuts.ts'

const STOPPABLE: readonly RunPhase[] = ['running', 'paused', 'draining', 'awaiting']

/** The actions for a run in its current state: pause, resume, stop, continue, retry, view rows. */
export function RunActions(props: {
  runId: string
  summary: RunSummary
  phase: RunPhase
  /** What must be accepted before a held run is sent. */
  acceptance: Acceptance
  onResults: () => void
  onContinueRun: (kind: 'resume' | 'retry' | 'correct') => void
  /** Goes back to the corrections of a retry that is not sent yet. */
  onCorrections: () => void
  onError: (error: unknown) => void
  /** Asks for another key; null if the key cannot be changed. */
  onKey: (() => void) | null
  lookBack: ReactNode
  /** Writes succeeded and unsuccessful rows to two files, after the run has ended. */
  outcomeFiles: SecondaryAction
}) {
  const { runId, summary, phase, acceptance, onError } = props
  const [busy, setBusy] = useState(false)
  const act = async (work: () => Promise<unknown>) => {
    setBusy(true)
    onError(null)
    try {
      await work()
    } catch (error) {
      onError(error)
    } finally {
      setBusy(false)
    }
  }
  const pause = () => act(() => bridge.runs.pause({ runId }))
  const goOn = () => act(() => bridge.runs.resume({ runId }))
  const toggle = phase === 'running' ? pause : phase === 'paused' ? goOn : null
  useShortcut({ key: 'p' }, toggle === null ? null : () => void toggle())

  // A retry sends what is left of the whole run.
  const rows = summary.whole_run?.rows ?? summary.rows
  const ended = phase === 'ended' && summary.state !== 'running'
  const resumable = ended && canResume(summary)
  const secondary: SecondaryAction[] = []
  if (props.onKey !== null && phase !== 'ready' && phase !== 'intake') {
    secondary.push({ label: 'API key…', title: 'Use another API key', icon: IconKey, onPress: props.onKey })
  }
  if (ended && countRows(rows, 'unsuccessful') > 0) {
    secondary.push({ label: 'Retry what did not succeed…', onPress: () => props.onContinueRun('retry') })
  }
  if (ended && summary.thresholds === undefined && countRows(rows, 'unsuccessful', 'unsent') > 0) {
    secondary.push({ label: 'Correct and retry…', onPress: () => props.onContinueRun('correct') })
  }
  if (phase === 'ready' && summary.parent_run_id !== null) {
    secondary.push({ label: 'Correct the rows…', onPress: props.onCorrections })
  }
  if (ended) secondary.push(props.outcomeFiles)
  return (
    <>
      <SecondaryActions actions={secondary} />
      {STOPPABLE.includes(phase) && (
        <ActionButton
          label={phase === 'awaiting' ? 'Stop waiting' : 'Stop'}
          disabled={phase === 'draining'}
          icon={IconPlayerStop}
          onClick={() => void act(() => bridge.runs.stop({ runId }))}
        />
      )}
      {phase === 'running' && (
        <ActionButton label="Pause" icon={IconPlayerPause} onClick={() => void pause()} title="P" />
      )}
      {phase === 'paused' && (
        <ActionButton
          label="Resume"
          variant="light"
          icon={IconPlayerPlay}
          onClick={() => void goOn()}
          title="P"
        />
      )}
      {resumable && (
        <ActionButton
          label={
            countTrial(summary) === null
              ? 'Resume…'
              : `Send the other ${formatCounted(rows.not_sent, 'row')}…`
          }
          variant="light"
          icon={IconPlayerPlay}
          onClick={() => props.onContinueRun('resume')}
        />
      )}
      {phase !== 'ready' && phase !== 'intake' && props.lookBack}
      {phase === 'ready' ? (
        <PrimaryButton
          onPress={() => void act(() => bridge.runs.begin({ runId, accept: acceptance.accepted }))}
          busy={busy}
          blocked={acceptance.blocked}
          icon={<IconSend size="1rem" />}
        >
          Send the rows
        </PrimaryButton>
      ) : (
        <PrimaryButton
          onPress={props.onResults}
          onApproach={() => readResultsAhead(runId)}
          icon={<IconTable size="1rem" />}
        >
          View results
        </PrimaryButton>
      )}
    </>
  )
}
