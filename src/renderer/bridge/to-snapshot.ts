import type { RunSummary } from '../../shared/run/run.ts'
import type { RunSnapshot } from '../../shared/run/snapshot.ts'

/** The picture of a run that nobody is holding any more, from what its journal says. */
export function toSnapshot(summary: RunSummary): RunSnapshot {
  return {
    runId: summary.run_id,
    // Where a retry is running, the run itself has ended; the retry is followed by its own id.
    phase: summary.state === 'running' && !isRetried(summary) ? 'running' : 'ended',
    bytes: { read: 0, total: 0 },
    problems: { errors: summary.rows.invalid, warnings: 0 },
    rows: summary.rows,
    toRepeat: summary.to_repeat.rows,
    requests: summary.requests,
    inFlight: 0,
    ratePerSecond: { current: 0, mean: summary.throughput.attempted_per_s },
    etaMs: null,
    elapsedMs: summary.throughput.duration_s * 1000,
    latencyMs: summary.latency_ms.http_req_duration ?? null,
    triggeredRules: summary.triggered_rules.slice(0, 10),
    errors: summary.errors.slice(0, 10),
    warnings: summary.warnings,
    retryAfter: { answers: summary.retry_after.answers, waitedMs: summary.retry_after.waited_s * 1000 },
    slowdown: null,
    answers: toAnswers(summary),
    callbacks: summary.callbacks ?? null,
    load: null,
    notice: summary.stop_reason,
  }
}

function isRetried({ retries }: RunSummary): boolean {
  return retries.some(({ state }) => state === 'running')
}

function toAnswers({ terms, appeals }: RunSummary): RunSnapshot['answers'] {
  const { failed, ...others } = terms ?? { failed: [] }
  return { ...others, ...(failed.length > 0 && { failed: failed.length }), ...appeals }
}
