import type { LoadSnapshot } from '../../../../src/main/cli/progress/load-progress.ts'
import type { LoadProgress, RunSnapshot } from '../../../../src/shared/run/snapshot.ts'

const NO_ROWS = {
  read: 50,
  invalid: 0,
  succeeded: 0,
  rejected: 0,
  failed: 0,
  unknown: 0,
  overdue: 0,
  awaiting: 0,
  not_sent: 50,
}

/** A load test as it might stand after 25 seconds. */
export function createLoadSnapshot(
  load: Partial<LoadProgress> = {},
  changes: Partial<Omit<RunSnapshot, 'load'>> = {},
): LoadSnapshot {
  const duration = {
    count: 5_000,
    min: 9,
    mean: 26,
    p50: 24.1,
    p90: 40,
    p95: 48.2,
    p99: 61.04,
    p99_9: 90,
    max: 120,
  }
  return {
    runId: '20261121-094329-347k3f9',
    phase: 'running',
    bytes: { read: 1_000, total: 1_000 },
    problems: { errors: 0, warnings: 0 },
    rows: NO_ROWS,
    requests: { sent: 5_000, succeeded: 4_958, rejected: 42, failed: 0, unknown: 0, retried: 0 },
    inFlight: 12,
    ratePerSecond: { current: 0, mean: 0 },
    etaMs: null,
    elapsedMs: 25_300,
    latencyMs: null,
    triggeredRules: [],
    errors: [],
    warnings: [],
    retryAfter: { answers: 0, waitedMs: 0 },
    toRepeat: 0,
    slowdown: null,
    answers: {},
    callbacks: null,
    load: {
      phase: 'measuring',
      elapsedMs: 25_300,
      measuredMs: 60_000,
      scheduledPerS: 200,
      achievedPerS: 198,
      requests: 5_000,
      failed: 42,
      dropped: 0,
      metrics: {},
      awaited: 0,
      limitedSeconds: 0,
      silentMs: null,
      thresholds: [
        { expression: 'p(99)<500', value: 61.04, limit: 500, unit: 'ms', ok: true, margin: 438.96 },
      ],
      latencyMs: { http_req_duration: duration, response_time: { ...duration, p99: 75 }, start_lag: null },
      ...load,
    },
    notice: null,
    ...changes,
  }
}
