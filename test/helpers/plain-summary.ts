import type { RunSummary } from '../../src/shared/run/run.ts'

/** What a run's picture is made of in its summary, with nothing to tell. */
export const PLAIN_SUMMARY = {
  run_id: 'a',
  state: 'completed',
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
