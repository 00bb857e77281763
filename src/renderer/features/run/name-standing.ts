import type { RunState } from '../../../shared/run/run.ts'
import type { RunPhase } from '../../../shared/run/snapshot.ts'
import type { RunStanding } from '../../ui/states/run-state-label.tsx'

/** A run's state as its screen shows it, from what its thread is doing and what its journal says. */
export function toStanding(phase: RunPhase, state: RunState): RunStanding {
  if (phase === 'ended') return state
  return phase === 'paused' || phase === 'ready' || phase === 'awaiting' ? phase : 'running'
}

const STANDINGS: Record<RunPhase, string> = {
  intake: 'reading the rows for',
  ready: 'to be sent to',
  running: 'sending to',
  paused: 'on the way to',
  draining: 'finishing what is on its way to',
  awaiting: 'callbacks from',
  ended: 'at',
}

/** What a run is doing, in words that go before its address. */
export function nameStanding(phase: RunPhase): string {
  return STANDINGS[phase]
}
