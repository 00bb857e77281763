import { z } from 'zod'
import type { RowAndRecord } from '../plan/source-place.ts'
import { outcomeSchema, requestsShape } from '../run/item-state.ts'
import { readAsSchema } from '../run/read-as.ts'
import { percentilesSchema, runWarningSchema } from '../run/run.ts'
import type { LoadComparison } from './load-comparison.ts'
import { metricValuesSchema, type TrendMetric, trendMetricSchema } from './metrics.ts'
import { thresholdResultSchema } from './thresholds.ts'

/** Requests by outcome (docs/architecture.md §1), with retries; `sent` is their sum once all have ended. */
const countsSchema = z.object(requestsShape)

export type LoadCounts = z.infer<typeof countsSchema>

/** Requests per second over the measured time; requests that ended later do not count. */
const ratesSchema = z.object({
  /** As scheduled; null at a closed pace. */
  scheduledPerS: z.number().nullable(),
  /** Requests sent, including retries. */
  attemptedPerS: z.number(),
  /** Requests answered, whatever the answer. */
  answeredPerS: z.number(),
  /** Requests that succeeded: the throughput. */
  succeededPerS: z.number(),
})

const latencySchema = z.partialRecord(trendMetricSchema, percentilesSchema)

export const loadSecondSchema = z.object({
  /** Seconds since measuring began, from 0. */
  second: z.int(),
  /** Requests due in it; null at a closed pace. */
  scheduled: z.number().nullable(),
  counts: countsSchema,
  dropped: z.int(),
  /** Most in flight at once. */
  inFlight: z.int(),
  latencyMs: latencySchema,
  /** Longest stall of the generator's event loop; null if it was not watched. */
  eventLoopMaxMs: z.number().nullable(),
  /** Time that collecting garbage took. */
  gcMs: z.number().nullable(),
  /** The generator, not the service, shaped this second (docs/load-tests.md §1). */
  limited: z.boolean(),
})

export type LoadSecond = z.infer<typeof loadSecondSchema>

/** One second of a load test as the window's charts show it. */
export const loadChartSecondSchema = loadSecondSchema.pick({
  second: true,
  limited: true,
  scheduled: true,
  counts: true,
  dropped: true,
  latencyMs: true,
})

export type LoadChartSecond = z.infer<typeof loadChartSecondSchema>

/** Requests with the same status and error code. */
const statusSchema = z.object({
  /** HTTP status; null if there was no answer. */
  status: z.int().nullable(),
  errorCode: z.string().nullable(),
  requests: z.int(),
})

export type LoadStatus = z.infer<typeof statusSchema>

/** Requests that failed in the same way. */
const errorGroupSchema = statusSchema.extend({
  outcome: z.enum(['rejected', 'failed', 'unknown']),
  message: z.string(),
  /** The row of one of them, whose content the message may quote; absent in earlier versions' load tests. */
  row: z.int().exactOptional(),
  /** When the first and the last of them ended, seconds since measuring began. */
  firstSecond: z.number(),
  lastSecond: z.number(),
})

export type LoadErrorGroup = z.infer<typeof errorGroupSchema>

/** Requests of one model, or of one range of content sizes. */
const groupSchema = z.object({
  by: z.enum(['model', 'size']),
  label: z.string(),
  requests: z.int(),
  failed: z.int(),
  httpReqDurationMs: percentilesSchema.nullable(),
})

/** The requests of one stage: those due in it or, with a concurrency, those sent in it. */
const stageSchema = z.object({
  /** From 0, as in the threshold tag `stage`. */
  number: z.int(),
  name: z.string().exactOptional(),
  /** Levels: requests a second, or requests in flight. */
  from: z.number(),
  to: z.number(),
  /** How long it was measured. */
  ranMs: z.number(),
  /** Requests that were due in it; null at a closed pace. */
  scheduled: z.int().nullable(),
  requests: z.int(),
  /** Those of them that did not succeed. */
  failed: z.int(),
  latencyMs: latencySchema,
})

export type LoadStage = z.infer<typeof stageSchema>

/** How the sending machine coped (docs/load-tests.md §1). */
const generatorSchema = z.object({
  /** Whether this machine may have shaped the overall latencies, or sent too little of its schedule. */
  limited: z.boolean(),
  limitedSeconds: z.int(),
  /** Those in which less than 98 % of the schedule was sent; absent in earlier versions. */
  behindSeconds: z.int().optional(),
  /** Why, a sentence each; empty if it was not limited. */
  reasons: z.array(z.string()),
  dropped: z.int(),
  /** Requests that waited for one in flight to end. */
  waited: z.int(),
  startLagP99Ms: z.number().nullable(),
  eventLoopMaxMs: z.number().nullable(),
  gcPauses: z.int(),
  gcMaxMs: z.number().nullable(),
  /** Share of the schedule that was sent, 0 to 1; null at a closed pace. */
  achievedShare: z.number().nullable(),
  workers: z.int(),
})

/** Outcome of the first request, which is sent before all else, with row 1; no other figure includes it. */
const firstRequestSchema = z.object({
  outcome: outcomeSchema,
  status: z.int().nullable(),
  errorCode: z.string().nullable(),
  message: z.string().nullable(),
  durationMs: z.number(),
  /** The traceparent header that it was sent with; absent if it had none. */
  traceparent: z.string().exactOptional(),
  /** Its row, whose content the message may quote; absent in load tests of earlier versions. */
  row: z.int().exactOptional(),
})

export type LoadFirstRequest = z.infer<typeof firstRequestSchema>

/** The longest time with requests in flight and no answer, if it far exceeds their latency. */
const silenceSchema = z.object({
  /** Since measuring began. */
  fromMs: z.number(),
  durationMs: z.number(),
  /** Requests that ended during it, all without an answer. */
  unanswered: z.int(),
  /** It took more than half of the measured time. */
  isMost: z.boolean(),
})

export type LoadSilence = z.infer<typeof silenceSchema>

/** What the service reported about its own load. */
const throttlingSchema = z.object({
  /** Answers with status 429. */
  answers: z.int(),
  /** Answers with a Retry-After, and the sum of its seconds. */
  retryAfterAnswers: z.int(),
  askedS: z.number(),
})

export type LoadThrottling = z.infer<typeof throttlingSchema>

/** Callbacks of an async load test. */
const callbackCountsSchema = z.object({
  /** Includes doubled ones. */
  received: z.int(),
  /** Arrived more than once. */
  doubled: z.int(),
  /**
   * An error beside a result of the same request; absent in earlier versions, which counted them as doubled.
   */
  differing: z.int().exactOptional(),
  /** Reported an error. */
  rejected: z.int(),
  /** Named another post than their address belongs to, and settled nothing; absent in earlier versions. */
  otherPost: z.int().exactOptional(),
  /** Were no result, and settled nothing; absent in earlier versions, which counted them as rejected. */
  unreadable: z.int().exactOptional(),
  /**
   * Arrived when they were overdue, or not promised; absent in earlier versions, which counted them as
   * doubled.
   */
  late: z.int().exactOptional(),
  /** Belong to a request that was refused; absent in earlier versions, which counted them as doubled. */
  ofRefused: z.int().exactOptional(),
  /** Did not arrive within the plan's time; no percentile includes them. */
  overdue: z.int(),
  /** Were still awaited when the load ended. */
  outstanding: z.int(),
})

export type LoadCallbackCounts = z.infer<typeof callbackCountsSchema>

/** What the window and every report show of a load test, without its seconds and its warm-up. */
export const loadReportSchema = z.object({
  appVersion: z.string(),
  runId: z.string(),
  name: z.string(),
  state: z.enum(['completed', 'stopped', 'interrupted']),
  /** Why it ended early, and what to do; null if it did not. */
  stopReason: z.string().nullable(),
  baseUrl: z.string(),
  /** As in `task, sync, v1`. */
  operation: z.string(),
  source: z.string(),
  /** ISO 8601. */
  createdAt: z.string(),
  /** ISO 8601, when measuring began; null if it never did. */
  startedAt: z.string().nullable(),
  warmupMs: z.number(),
  /** Measured time. */
  durationMs: z.number(),
  /** What the plan asked for, a phrase each; see `describeLoad`. */
  plan: z.array(z.string()),
  /** Absent if there was none. */
  firstRequest: firstRequestSchema.exactOptional(),
  counts: countsSchema,
  /** Those of `counts` that were retries. */
  retried: z.int(),
  rates: ratesSchema,
  /** Requests with a complete answer, whatever it said. */
  answered: z.int(),
  /** Answers from the service's cache: their latency is the cache's. */
  fromCache: z.int(),
  throttling: throttlingSchema,
  connections: z.object({ opened: z.int(), reused: z.int() }),
  /** Null if the load is sync. */
  callbacks: callbackCountsSchema.nullable(),
  thresholds: z.array(thresholdResultSchema),
  /** Absent if answers came without a long gap. */
  silence: silenceSchema.exactOptional(),
  /** Metrics that are not latencies; absent in earlier versions. */
  metrics: metricValuesSchema.exactOptional(),
  latencyMs: latencySchema,
  statuses: z.array(statusSchema),
  errors: z.array(errorGroupSchema),
  groups: z.array(groupSchema),
  /** By stage; absent if the pace has none, and in earlier versions. */
  stages: z.array(stageSchema).exactOptional(),
  generator: generatorSchema,
  /** How each file of the source was read; absent if unknown. */
  readAs: z.array(readAsSchema).exactOptional(),
  /** What is doubtful about the run and its rows; absent if nothing is. */
  warnings: z.array(runWarningSchema).exactOptional(),
})

/** Everything in a load test's report: plain data, without the warm-up. */
export interface LoadReport extends z.infer<typeof loadReportSchema> {
  /** Whole distributions: HDR histograms of microseconds, compressed, in base64. */
  histograms: Partial<Record<TrendMetric, string>>
  seconds: LoadSecond[]
  /** Compares an earlier run, `a`, with this one, `b`; null without an earlier run. */
  comparison: LoadComparison | null
}

/** The times of one request in milliseconds; null for phases that it did not have. */
interface LoadSampleTimes {
  httpReqDurationMs: number | null
  httpReqWaitingMs: number | null
  httpReqConnectingMs: number | null
  httpReqTlsHandshakingMs: number | null
  responseTimeMs: number | null
  startLagMs: number | null
  callbackLatencyMs: number | null
}

/** A request that was stored completely. */
export interface LoadSample extends LoadSampleTimes {
  /** Drawn evenly from all requests, or kept because it did not succeed. */
  kept: 'sample' | 'error'
  /** When it was sent, milliseconds since measuring began. */
  sentMs: number
  /** Number of its record. */
  row: number
  postId: string | null
  outcome: 'succeeded' | 'rejected' | 'failed' | 'unknown'
  status: number | null
  errorCode: string | null
  message: string | null
  taskId: string | null
  /** The traceparent header that it was sent with; absent if it had none. */
  traceparent?: string
  /** Bodies as sent and received, cut to the stored size; null if there was none. */
  request: string | null
  response: string | null
}

/** A kept request with its row's numbers, as in a file of samples. */
export type NumberedSample = Omit<LoadSample, 'row'> & RowAndRecord
