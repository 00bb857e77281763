import { expect, it } from 'vitest'
import { takeSummary } from '../../src/renderer/bridge/live-runs.ts'
import type { RunSummary } from '../../src/shared/run/run.ts'

const NOTHING = { errors: {}, summaries: {}, snapshots: {} }

const SUMMARY = {
  run_id: 'a',
  state: 'running',
  triggered_rules: [],
  errors: [],
  warnings: [],
  retries: [],
  rows: { invalid: 0 },
  to_repeat: { rows: 0 },
  requests: {},
  latency_ms: {},
  retry_after: {},
  throughput: { attempted_per_s: 1, duration_s: 1 },
  stop_reason: null,
} as unknown as RunSummary

it('takes no run whose rows may still be read for one that is sending', () => {
  const { snapshots, summaries } = takeSummary(NOTHING, SUMMARY, { unlessLive: true })
  expect(snapshots).toEqual({})
  expect(summaries).toEqual({ a: SUMMARY })
})

it('shows a run that another process sends, and one that has ended', () => {
  const toPhase = (state: RunSummary['state'], unlessLive: boolean) =>
    takeSummary(NOTHING, { ...SUMMARY, state }, { unlessLive }).snapshots['a']?.phase
  expect(toPhase('running', false)).toBe('running')
  expect(toPhase('completed', true)).toBe('ended')
})
