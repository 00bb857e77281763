import { Progress, Stack } from '@mantine/core'
import { formatCount, formatRate, formatShare, formatSpan } from '../../../shared/messages/figure-text.ts'
import type { LoadProgress, RunSnapshot } from '../../../shared/run/snapshot.ts'
import { type Figure, Figures, Panel } from '../../ui/layout/screen.tsx'

const PHASES: Record<LoadProgress['phase'], string> = {
  warmup: 'warm-up, not measured',
  measuring: 'measuring',
  stopping: 'stopping: the last answers',
}

/** How a load test goes this moment: its phase, how far it is, how much it sends and what happens to that. */
export function LoadProgressPanel({ snapshot, load }: { snapshot: RunSnapshot; load: LoadProgress }) {
  const { elapsedMs, measuredMs } = load
  const share = measuredMs === null || measuredMs <= 0 ? null : clamp(elapsedMs / measuredMs)
  return (
    <Panel title="Progress" aside={PHASES[load.phase]}>
      <Stack gap="sm">
        {share !== null && <Progress value={share * 100} size="sm" aria-label="Progress of the load test" />}
        <Figures figures={toFigures(snapshot, load)} />
      </Stack>
    </Panel>
  )
}

function clamp(share: number): number {
  return Math.min(1, Math.max(0, share))
}

function toFigures({ inFlight }: RunSnapshot, load: LoadProgress): Figure[] {
  const { phase, elapsedMs, measuredMs, scheduledPerS, achievedPerS, requests, failed } = load
  const figures: Figure[] = [
    phase === 'warmup'
      ? { label: 'Measured', value: '–', note: `measuring begins in ${formatSpan(-elapsedMs)}` }
      : {
          label: 'Measured',
          value: formatSpan(Math.min(elapsedMs, measuredMs ?? elapsedMs)),
          note: measuredMs === null ? 'until the last request' : `of ${formatSpan(measuredMs)}`,
        },
  ]
  if (scheduledPerS !== null) {
    figures.push({ label: 'Scheduled', value: formatRate(scheduledPerS), unit: 'requests/s' })
  }
  figures.push(
    {
      label: 'Achieved',
      value: achievedPerS === null ? '–' : formatRate(achievedPerS),
      unit: 'requests/s',
      note: 'in the last second',
    },
    { label: 'In flight', value: formatCount(inFlight) },
    { label: 'Answered', value: formatCount(requests) },
    {
      label: 'Did not succeed',
      value: formatCount(failed),
      note: requests === 0 ? 'of none yet' : formatShare(failed, requests),
    },
  )
  if (scheduledPerS !== null) figures.push({ label: 'Dropped', value: formatCount(load.dropped) })
  if (load.awaited > 0) figures.push({ label: 'Callbacks awaited', value: formatCount(load.awaited) })
  if (load.limitedSeconds > 0) {
    figures.push({ label: 'Generator-limited', value: formatCount(load.limitedSeconds), unit: 's' })
  }
  return figures
}
