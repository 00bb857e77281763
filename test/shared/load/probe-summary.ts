import type { RunSummary } from '../../../src/shared/run/run.ts'

/** Differences from a probe that held. */
export interface ProbeParts {
  attempted?: number
  /** Seconds that ended. */
  requests?: number
  generator?: Partial<RunSummary['generator']>
  /** Units of the thresholds that failed. */
  failed?: ('ms' | 'share')[]
  /** The measured latency, whose limit is 500 ms. */
  latencyMs?: number
  /** The requested level. */
  expression?: string
  state?: RunSummary['state']
  stopReason?: string
  /** Answers by status, null for none; and that of the first request. */
  statuses?: (number | null)[]
  firstStatus?: number | null
  /** Answers during the warm-up. */
  warmupAnswered?: number
}

/** The parts of a probe's summary that are judged, at 100 a second. */
export function createProbeSummary({
  attempted = 100,
  requests = 100,
  generator = {},
  failed = [],
  latencyMs,
  expression = 'response_time:p(99)<500',
  state = 'completed',
  stopReason,
  statuses = [200],
  firstStatus,
  warmupAnswered,
}: ProbeParts): RunSummary {
  const thresholds = (['ms', 'share'] as const).map((unit) => ({
    expression: unit === 'ms' ? expression : 'http_req_failed:rate<0.01',
    value: 1,
    ok: !failed.includes(unit),
    limit: 1,
    margin: 0,
    unit,
    ...(unit === 'ms' &&
      latencyMs !== undefined && { value: latencyMs, limit: 500, margin: 500 - latencyMs }),
  }))
  return {
    run_id: 'r',
    state,
    stop_reason: stopReason ?? null,
    stop_advice: null,
    requests: {
      sent: attempted,
      succeeded: 0.9 * requests,
      rejected: 0.1 * requests,
      failed: 0,
      unknown: 0,
      retried: 0,
    },
    throughput: { duration_s: 1, attempted_per_s: attempted, succeeded_per_s: 90 },
    load: {
      scheduled_per_s: 100,
      statuses: statuses.map((status) => ({
        status,
        error_code: null,
        requests: attempted / statuses.length,
      })),
      ...(firstStatus !== undefined && { first_request: { status: firstStatus } }),
      ...(warmupAnswered !== undefined && { warmup_answered: warmupAnswered }),
    },
    latency_ms: {},
    thresholds,
    generator: { limited: false, reasons: ['It stalled.'], dropped: 0, waited: 0, ...generator },
  } as unknown as RunSummary
}
