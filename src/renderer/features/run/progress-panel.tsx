import { Group, NumberInput, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { memo, type ReactNode, useState } from 'react'
import { toShownError } from '../../../shared/bridge/errors.ts'
import { IN_FLIGHT_MAX } from '../../../shared/load/load-pace.ts'
import {
  formatBytes,
  formatCount,
  formatCounted,
  formatRate,
  formatShare,
  formatSpan,
} from '../../../shared/messages/figure-text.ts'
import { countRows } from '../../../shared/run/item-state.ts'
import type { RunState } from '../../../shared/run/run.ts'
import { formatSlowdown, type RunPhase, type RunSnapshot } from '../../../shared/run/snapshot.ts'
import { ask, bridge } from '../../bridge/client.ts'
import { useLiveRuns } from '../../bridge/live-runs.ts'
import { type Figure, Figures, Notice, Panel } from '../../ui/layout/screen.tsx'
import { CountsBar, CountsTable } from '../../ui/states/row-states.tsx'
import type { DisplayState } from '../../ui/states/run-state.tsx'
import { SafeText, toSentence } from '../../ui/text/safe-text.tsx'
import styles from './run.module.css'

/** A run's progress: one bar, counts by state, rate and remaining time; `pace` is a control for the rate. */
export function ProgressPanel({ snapshot, pace }: { snapshot: RunSnapshot; pace?: ReactNode }) {
  const { rows, phase } = snapshot
  const done = rows.read - countRows(rows, 'open')
  return (
    <Panel
      title="Progress"
      aside={
        phase === 'intake'
          ? `${formatBytes(snapshot.bytes.read)} of ${formatBytes(snapshot.bytes.total)} read`
          : `${formatCount(done)} of ${formatCount(rows.read)} rows, ${formatShare(done, rows.read)}`
      }
    >
      <Stack gap="sm">
        {snapshot.slowdown !== null && (
          <Notice kind="warning" title={<SafeText text={toSentence(formatSlowdown(snapshot.slowdown))} />} />
        )}
        <CountsBar rows={rows} label="Progress of the run" />
        <div className={`grid items-start ${styles.top}`}>
          <Group gap="var(--space-3) var(--space-6)" align="flex-start">
            <Figures figures={toFigures(snapshot)} />
            {pace}
          </Group>
          <CountsTable rows={rows} toRepeat={snapshot.toRepeat} hasEnded={phase === 'ended'} />
        </div>
      </Stack>
    </Panel>
  )
}

function toFigures(snapshot: RunSnapshot): Figure[] {
  const { phase, ratePerSecond, etaMs, elapsedMs, requests } = snapshot
  const ended = phase === 'ended'
  const figures: Figure[] = [
    {
      label: ended ? 'Average rate' : 'Rate',
      value: formatRate(ended ? ratePerSecond.mean : ratePerSecond.current),
      unit: 'requests/s',
      ...(!ended && { note: `${formatRate(ratePerSecond.mean)}/s average` }),
    },
    ended
      ? { label: 'Took', value: formatSpan(elapsedMs) }
      : {
          label: 'Time left',
          value: etaMs === null ? '–' : formatSpan(etaMs),
          note: `${formatSpan(elapsedMs)} so far`,
        },
    {
      label: 'Requests sent',
      value: formatCount(requests.sent),
      note: requests.retried === 0 ? 'no retries' : formatCounted(requests.retried, 'retry', 'retries'),
    },
  ]
  const { answers, waitedMs } = snapshot.retryAfter
  if (answers > 0) {
    figures.push({
      label: 'Asked to wait',
      value: formatCount(answers),
      unit: 'times',
      ...(waitedMs > 0 && { note: `rows put off by ${formatSpan(waitedMs)} in total` }),
    })
  }
  const unused = snapshot.warnings.filter(({ code }) => code === 'CONNECTIONS_NOT_REUSED')
  if (unused.length > 0) {
    figures.push({
      label: 'Connections',
      value: 'not reused',
      note: unused.map(({ message }) => message).join(' '),
    })
  }
  return figures
}

/**
 * The number of requests in flight, which can be changed during the run. A typed number applies on Enter or
 * on leaving the field, so that single digits do not; Escape restores the old one.
 */
export const PaceControl = memo(function PaceControl({ runId }: { runId: string }) {
  const plan = useQuery(ask.runs.readPlan.queryOptions({ input: { runId } }))
  const [chosen, setChosen] = useState<number | null>(null)
  const [typed, setTyped] = useState<string | number | null>(null)
  const [problem, setProblem] = useState<string | null>(null)
  const pace = plan.data?.pace
  if (pace?.kind !== 'closed') return null
  const current = chosen ?? pace.concurrency
  const apply = () => {
    setTyped(null)
    if (typeof typed !== 'number' || typed < 1 || typed === current) return
    setChosen(typed)
    setProblem(null)
    bridge.runs.setConcurrency({ runId, concurrency: typed }).catch((error: unknown) => {
      setChosen(null)
      setProblem(toShownError(error).message)
    })
  }
  return (
    <NumberInput
      w="7.5rem"
      label="In flight at most"
      description={typed === null ? <InFlight runId={runId} /> : 'Press Enter to apply'}
      inputWrapperOrder={['label', 'input', 'description', 'error']}
      value={typed ?? current}
      min={1}
      max={IN_FLIGHT_MAX}
      clampBehavior="strict"
      allowDecimal={false}
      error={problem}
      onChange={setTyped}
      onBlur={apply}
      onKeyDown={(event) => {
        if (event.key === 'Enter') apply()
        if (event.key === 'Escape') setTyped(null)
      }}
    />
  )
})

/** A component of its own, since it changes with each snapshot of the run. */
function InFlight({ runId }: { runId: string }) {
  const inFlight = useLiveRuns((live) => live.snapshots[runId]?.inFlight ?? 0)
  return `${formatCount(inFlight)} now`
}

/** A run's state for its screen, from its thread's phase and its journal's state. */
export function toDisplayState(phase: RunPhase, state: RunState): DisplayState {
  if (phase === 'ended') return state
  return phase === 'paused' || phase === 'ready' || phase === 'awaiting' ? phase : 'running'
}

const PHASE_WORDS: Record<RunPhase, string> = {
  intake: 'reading rows for',
  ready: 'to send to',
  running: 'sending to',
  paused: 'sending to',
  draining: 'finishing requests to',
  awaiting: 'callbacks from',
  ended: 'sent to',
}

/** What a run is doing, in words that precede its address. */
export function describePhase(phase: RunPhase): string {
  return PHASE_WORDS[phase]
}
