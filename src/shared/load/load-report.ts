import type { Percentiles } from '../run/run.ts'
import type { LoadComparison } from './compare.ts'
import type { TrendMetric } from './metrics.ts'
import type { ThresholdResult } from './thresholds.ts'

/** Requests by outcome (docs/architecture.md §1); `sent` is their sum, except those that are still awaited. */
export interface LoadCounts {
  sent: number
  succeeded: number
  rejected: number
  failed: number
  unknown: number
}

/** Requests a second over the measured time; what ended after it is in none of them. */
interface LoadRates {
  /** What the schedule asked for; null at a closed pace. */
  scheduledPerS: number | null
  /** What was sent, retries left out. */
  attemptedPerS: number
  /** What was answered, whatever the answer. */
  answeredPerS: number
  /** What succeeded: the throughput. */
  succeededPerS: number
}

/** One measured second. */
export interface LoadSecond {
  /** Seconds since measuring began, from 0. */
  second: number
  /** Requests that the schedule had due in it; null at a closed pace. */
  scheduled: number | null
  counts: LoadCounts
  dropped: number
  /** Most in flight at once. */
  inFlight: number
  latencyMs: Partial<Record<TrendMetric, Percentiles>>
  /** Longest time that the generator's event loop stood still; null where it was not watched. */
  eventLoopMaxMs: number | null
  /** Time that collecting garbage took. */
  gcMs: number | null
  /** The generator, not the service, shaped this second (docs/load-tests.md §1). */
  limited: boolean
}

/** Requests that got the same status and error code. */
export interface LoadStatus {
  /** HTTP status; null where there was no answer. */
  status: number | null
  errorCode: string | null
  requests: number
}

/** Requests that did not succeed, alike in how. */
export interface LoadErrorGroup {
  outcome: 'rejected' | 'failed' | 'unknown'
  status: number | null
  errorCode: string | null
  message: string
  requests: number
  /** Seconds since measuring began, of the first and the last of them. */
  firstSecond: number
  lastSecond: number
}

/** Requests of one model, or of one range of content sizes. */
interface LoadGroup {
  by: 'model' | 'size'
  label: string
  requests: number
  failed: number
  httpReqDurationMs: Percentiles | null
}

/** How the machine that sent the load did (docs/load-tests.md §1). */
interface GeneratorHealth {
  /** Whether any second was {@link LoadSecond.limited}, or the whole. */
  limited: boolean
  limitedSeconds: number
  /** Why, a sentence each; empty where it was not limited. */
  reasons: string[]
  dropped: number
  /** Requests that waited for one in flight to end. */
  waited: number
  startLagP99Ms: number | null
  eventLoopMaxMs: number | null
  gcPauses: number
  gcMaxMs: number | null
  /** Share of the schedule that was sent, 0 to 1; null at a closed pace. */
  achievedShare: number | null
  workers: number
}

/** What the service said of its own load. */
export interface LoadThrottling {
  /** Answers of 429. */
  answers: number
  /** Answers with a Retry-After, and the seconds they asked for, added up. */
  retryAfterAnswers: number
  askedS: number
}

/** Callbacks of an async load test. */
export interface LoadCallbackCounts {
  /** Those that came again are among them. */
  received: number
  /** Came again. */
  doubled: number
  /** Said error. */
  rejected: number
  /** Did not come within the plan's time; no percentile holds them. */
  overdue: number
  /** Were awaited still when the load ended. */
  outstanding: number
}

/** All that a report of a load test shows: plain data, warm-up left out of every figure. */
export interface LoadReport {
  appVersion: string
  runId: string
  name: string
  state: 'completed' | 'stopped' | 'interrupted'
  /** Why it ended before its end, with what to do; null where it did not. */
  stopReason: string | null
  baseUrl: string
  /** As in `task, sync, v1`. */
  operation: string
  source: string
  /** ISO 8601. */
  createdAt: string
  /** ISO 8601, when measuring began; null where it never did. */
  startedAt: string | null
  warmupMs: number
  /** Measured time. */
  durationMs: number
  /** What was asked for, a phrase each; see `describeLoad`. */
  plan: string[]
  counts: LoadCounts
  rates: LoadRates
  /** Requests that got a whole answer, whatever it said. */
  answered: number
  /** Answers from the service's cache: their latency is the cache's. */
  fromCache: number
  throttling: LoadThrottling
  connections: { opened: number; reused: number }
  /** Null where the load is sync. */
  callbacks: LoadCallbackCounts | null
  thresholds: ThresholdResult[]
  latencyMs: Partial<Record<TrendMetric, Percentiles>>
  /** Whole distributions: HDR histograms of microseconds, compressed, in base64. */
  histograms: Partial<Record<TrendMetric, string>>
  seconds: LoadSecond[]
  statuses: LoadStatus[]
  errors: LoadErrorGroup[]
  groups: LoadGroup[]
  generator: GeneratorHealth
  /** Beside an earlier run, `a` being that one and `b` this. */
  comparison: LoadComparison | null
}

/** The times of one request; milliseconds, null for what it did not have. */
interface LoadSampleTimes {
  httpReqDurationMs: number | null
  httpReqWaitingMs: number | null
  httpReqConnectingMs: number | null
  httpReqTlsHandshakingMs: number | null
  responseTimeMs: number | null
  startLagMs: number | null
  callbackLatencyMs: number | null
}

/** A request that was kept whole. */
export interface LoadSample extends LoadSampleTimes {
  /** Drawn evenly from all requests, or kept since it did not succeed. */
  kept: 'sample' | 'error'
  /** Milliseconds since measuring began, when it was sent. */
  sentMs: number
  row: number
  postId: string | null
  outcome: 'succeeded' | 'rejected' | 'failed' | 'unknown'
  status: number | null
  errorCode: string | null
  message: string | null
  taskId: string | null
  /** Bodies as they were sent and received, cut to what is stored; null where there was none. */
  request: string | null
  response: string | null
}
