import type { ThresholdResult } from '../../../../shared/load/thresholds.ts'
import { type Plan, planSchema } from '../../../../shared/plan/plan.ts'
import type { Percentiles } from '../../../../shared/run/run.ts'

/** Which of k6's kinds of results a file holds. */
export type K6Shape = 'summary-export' | 'handle-summary' | 'machine-readable' | 'json-lines'

export interface K6Latency {
  /** Milliseconds; only the percentiles that the file has. */
  percentiles: Partial<Percentiles>
  /** HDR histogram of microseconds, compressed, in base64; only if the file has every sample. */
  histogram: string | null
}

/** One second of a run, by when requests ended. */
export interface K6Second {
  /** Seconds since the first request began. */
  second: number
  requests: number
  failed: number
  dropped: number
  /** HDR histogram of http_req_duration, as {@link K6Latency.histogram}; null if nothing ended. */
  histogram: string | null
}

/** Requests to which k6 gave the same tags. */
export interface K6Status {
  /** Null if there was no answer. */
  status: number | null
  /** k6's own error code, such as 1050 for a timeout; null without an error. */
  errorCode: string | null
  /** k6's words for it. */
  message: string | null
  requests: number
}

/** A metric of a k6 summary, whatever its shape was. */
export interface K6Metric {
  /** Without tags. */
  name: string
  /** The text between the braces, such as `scenario:main`; '' without any. */
  tags: string
  /** By k6's long names: `avg`, `med`, `p(95)`, `count`, `rate`, `passes`, `fails`. */
  values: Readonly<Record<string, number>>
  thresholds: readonly K6Verdict[]
}

export interface K6Verdict {
  expression: string
  ok: boolean
}

/** What k6 measured, whatever the shape of its results. Null is what the file does not contain. */
export interface K6Result {
  shape: K6Shape
  k6Version: string | null
  /** `main`: the figures cover that scenario only, as in projects exported by Sluice; null: everything. */
  scenario: 'main' | null
  /** ISO 8601, when the first request began. */
  startedAt: string | null
  /** Measured time, seconds, without the warm-up if that is known. */
  durationS: number | null
  requests: number | null
  failed: number | null
  dropped: number | null
  /**
   * By k6's name without tags, such as `http_req_duration`. Connecting and TLS only count opened connections;
   * summaries count every request, so they have neither.
   */
  latencies: Record<string, K6Latency>
  thresholds: ThresholdResult[]
  statuses: K6Status[]
  /** Empty if the file has no samples. */
  seconds: K6Second[]
  /** Caveats about these figures, a sentence each. */
  notes: string[]
}

/** A placeholder plan for a k6 result, which names none. */
export function toK6Plan(path: string): Plan {
  return planSchema.parse({
    connection: { baseUrl: 'http://k6.invalid' },
    source: { path },
    operation: { kind: 'task' },
    load: { pace: { kind: 'closed', concurrency: 1 }, requests: 1 },
  })
}
