import { z } from 'zod'
import type { LatencyBar } from '../load/latency-meter.ts'
import type { LoadReport, LoadSecond } from '../load/load-report.ts'
import { trendMetricSchema } from '../load/metrics.ts'
import { thresholdResultSchema } from '../load/thresholds.ts'
import { percentilesSchema } from '../run/run.ts'
import { base, matchType, runIdSchema } from './procedure.ts'

/** Most seconds that travel to a window; a chart shows no more. */
export const LOAD_SECONDS_MAX = 1_200

/** One second of a load test as the window's charts show it. */
export interface LoadChartSecond extends Pick<LoadSecond, 'second' | 'limited'> {
  latencyMs: Pick<LoadSecond['latencyMs'], 'http_req_duration' | 'response_time'>
}

/** A load test's report as the window shows it: its distributions as bars, its seconds thinned. */
export interface LoadOverview extends Omit<LoadReport, 'seconds' | 'histograms' | 'comparison'> {
  /**
   * At most {@link LOAD_SECONDS_MAX}: of each stretch of a longer test the second with the worst p99, limited where
   * any second of the stretch was.
   */
  seconds: LoadChartSecond[]
  /** Seconds that were measured. */
  measuredSeconds: number
  /** Distribution of http_req_duration. */
  bars: LatencyBar[]
}

const latencySchema = z.partialRecord(trendMetricSchema, percentilesSchema)
const statusSchema = z.int().nullable()

const overviewSchema = matchType<LoadOverview>()(
  z.object({
    appVersion: z.string(),
    runId: z.string(),
    name: z.string(),
    state: z.enum(['completed', 'stopped', 'interrupted']),
    stopReason: z.string().nullable(),
    baseUrl: z.string(),
    operation: z.string(),
    source: z.string(),
    createdAt: z.string(),
    startedAt: z.string().nullable(),
    warmupMs: z.number(),
    durationMs: z.number(),
    plan: z.array(z.string()),
    counts: z.object({
      sent: z.int(),
      succeeded: z.int(),
      rejected: z.int(),
      failed: z.int(),
      unknown: z.int(),
    }),
    rates: z.object({
      scheduledPerS: z.number().nullable(),
      attemptedPerS: z.number(),
      answeredPerS: z.number(),
      succeededPerS: z.number(),
    }),
    answered: z.int(),
    fromCache: z.int(),
    throttling: z.object({ answers: z.int(), retryAfterAnswers: z.int(), askedS: z.number() }),
    connections: z.object({ opened: z.int(), reused: z.int() }),
    callbacks: z
      .object({
        received: z.int(),
        doubled: z.int(),
        rejected: z.int(),
        overdue: z.int(),
        outstanding: z.int(),
      })
      .nullable(),
    thresholds: z.array(thresholdResultSchema),
    latencyMs: latencySchema,
    seconds: z.array(
      z.object({
        second: z.int(),
        limited: z.boolean(),
        latencyMs: z.object({
          http_req_duration: percentilesSchema.exactOptional(),
          response_time: percentilesSchema.exactOptional(),
        }),
      }),
    ),
    measuredSeconds: z.int(),
    bars: z.array(z.object({ fromMs: z.number(), upToMs: z.number(), count: z.int() })),
    statuses: z.array(
      z.object({ status: statusSchema, errorCode: z.string().nullable(), requests: z.int() }),
    ),
    errors: z.array(
      z.object({
        outcome: z.enum(['rejected', 'failed', 'unknown']),
        status: statusSchema,
        errorCode: z.string().nullable(),
        message: z.string(),
        requests: z.int(),
        firstSecond: z.number(),
        lastSecond: z.number(),
      }),
    ),
    groups: z.array(
      z.object({
        by: z.enum(['model', 'size']),
        label: z.string(),
        requests: z.int(),
        failed: z.int(),
        httpReqDurationMs: percentilesSchema.nullable(),
      }),
    ),
    generator: z.object({
      limited: z.boolean(),
      limitedSeconds: z.int(),
      reasons: z.array(z.string()),
      dropped: z.int(),
      waited: z.int(),
      startLagP99Ms: z.number().nullable(),
      eventLoopMaxMs: z.number().nullable(),
      gcPauses: z.int(),
      gcMaxMs: z.number().nullable(),
      achievedShare: z.number().nullable(),
      workers: z.int(),
    }),
  }),
)

/** What load tests measured. */
export const loadContract = {
  /** All that was measured so far. Fails with `BAD_USAGE` where the run is not a load test. */
  report: base.input(runIdSchema).output(overviewSchema),
}
