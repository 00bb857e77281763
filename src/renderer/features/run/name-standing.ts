import type { RunPhase } from '../../../shared/snapshot.ts'

const STANDINGS: Record<RunPhase, string> = {
  intake: 'reading the rows for',
  ready: 'waiting to send to',
  running: 'sending to',
  paused: 'paused on the way to',
  draining: 'finishing what is on its way to',
  ended: 'at',
}

/** What a run is doing, in words that go before its address. */
export function nameStanding(phase: RunPhase): string {
  return STANDINGS[phase]
}
