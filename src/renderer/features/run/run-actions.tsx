import { Button } from '@mantine/core'
import {
  IconKey,
  IconPlayerPause,
  IconPlayerPlay,
  IconPlayerStop,
  IconSend,
  IconTable,
} from '@tabler/icons-react'
import { type ReactNode, useState } from 'react'
import type { RunSummary } from '../../../shared/run/run.ts'
import type { RunPhase } from '../../../shared/run/snapshot.ts'
import { bridge } from '../../bridge/client.ts'
import { PrimaryButton } from '../../ui/controls.tsx'
import { countRetryable, countUnsendable } from '../../ui/states/row-states.tsx'
import { useHotkey } from '../../ui/use-hotkey.ts'

const STOPPABLE: readonly RunPhase[] = ['running', 'paused', 'draining', 'awaiting']

/** What can be done with a run as it stands: pause, resume, stop, take up again, retry, look at the rows. */
export function RunActions(props: {
  runId: string
  summary: RunSummary
  phase: RunPhase
  onResults: () => void
  onContinueRun: (kind: 'resume' | 'retry' | 'correct') => void
  onError: (error: unknown) => void
  /** Asks for another key; null where none can be changed. */
  onKey: (() => void) | null
  lookBack: ReactNode
}) {
  const { runId, summary, phase, onError } = props
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
  useHotkey({ key: 'p' }, toggle === null ? null : () => void toggle())

  // A retry sends what is left of the whole run.
  const rows = summary.whole_run?.rows ?? summary.rows
  const ended = phase === 'ended' && summary.state !== 'running'
  const resumable =
    ended && (summary.state === 'interrupted' || (summary.state === 'stopped' && summary.rows.not_sent > 0))
  return (
    <>
      {props.onKey !== null && phase !== 'ready' && phase !== 'intake' && (
        <Button
          variant="default"
          leftSection={<IconKey size="1rem" />}
          onClick={props.onKey}
          aria-label="Use another key"
          title="Use another key"
        >
          Key…
        </Button>
      )}
      {STOPPABLE.includes(phase) && (
        <Button
          variant="default"
          disabled={phase === 'draining'}
          leftSection={<IconPlayerStop size="1rem" />}
          onClick={() => void act(() => bridge.runs.stop({ runId }))}
        >
          {phase === 'awaiting' ? 'Stop waiting' : 'Stop'}
        </Button>
      )}
      {phase === 'running' && (
        <Button
          variant="default"
          leftSection={<IconPlayerPause size="1rem" />}
          onClick={() => void pause()}
          title="P"
        >
          Pause
        </Button>
      )}
      {phase === 'paused' && (
        <Button
          variant="default"
          leftSection={<IconPlayerPlay size="1rem" />}
          onClick={() => void goOn()}
          title="P"
        >
          Resume
        </Button>
      )}
      {resumable && (
        <Button
          variant="default"
          leftSection={<IconPlayerPlay size="1rem" />}
          onClick={() => props.onContinueRun('resume')}
        >
          Resume…
        </Button>
      )}
      {ended && countRetryable(rows) > 0 && (
        <Button variant="default" onClick={() => props.onContinueRun('retry')}>
          Retry what did not succeed…
        </Button>
      )}
      {ended && summary.thresholds === undefined && countUnsendable(rows) > 0 && (
        <Button variant="default" onClick={() => props.onContinueRun('correct')}>
          Correct and retry…
        </Button>
      )}
      {phase !== 'ready' && phase !== 'intake' && props.lookBack}
      {phase === 'ready' ? (
        <PrimaryButton
          onPress={() => void act(() => bridge.runs.begin({ runId }))}
          busy={busy}
          icon={<IconSend size="1rem" />}
        >
          Send the rows
        </PrimaryButton>
      ) : (
        <PrimaryButton onPress={props.onResults} icon={<IconTable size="1rem" />}>
          View results
        </PrimaryButton>
      )}
    </>
  )
}
