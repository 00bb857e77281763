import { expect, it } from 'vitest'
import { toShownState } from '../../src/shared/run/run.ts'

const REQUESTS = { sent: 3, succeeded: 0, rejected: 3, failed: 0, unknown: 0, retried: 0 }
const HELD = { expression: 'p(99)<500', value: 1, ok: true, limit: 500, margin: 499, unit: 'ms' as const }

it.each([
  ['no success', { state: 'completed', thresholds: [], requests: REQUESTS }],
  ['no success', { state: 'completed', thresholds: [HELD], requests: REQUESTS }],
  ['threshold failed', { state: 'completed', thresholds: [{ ...HELD, ok: false }], requests: REQUESTS }],
  ['completed', { state: 'completed', thresholds: [HELD], requests: { ...REQUESTS, succeeded: 1 } }],
  [
    'stopped, threshold failed',
    { state: 'stopped', thresholds: [{ ...HELD, ok: false }], requests: REQUESTS },
  ],
  ['ready', { state: 'running', phase: 'ready', requests: REQUESTS }],
  ['stopped', { state: 'stopped', thresholds: [], requests: REQUESTS }],
  ['running', { state: 'running', thresholds: [], requests: REQUESTS }],
  // If a run sends each row once, its rows decide.
  ['completed', { state: 'completed', requests: REQUESTS }],
] as const)('a run is called "%s" after its end: %j', (verdict, run) => {
  expect(toShownState(run as unknown as Parameters<typeof toShownState>[0])).toBe(verdict)
})
