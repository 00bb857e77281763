import { z } from 'zod'
import { trendMetricSchema } from '../load/metrics.ts'
import { thresholdResultSchema } from '../load/thresholds.ts'
import { rowAnswerSchema } from '../run/item-state.ts'
import { callbackCountsSchema, percentilesSchema, runSummarySchema } from '../run/run.ts'
import type { LoadProgress, RunSnapshot, Slowdown } from '../run/snapshot.ts'
import { matchType } from './match-type.ts'

const { rows, requests, triggered_rules, errors, warnings } = runSummarySchema.shape

const loadProgressSchema = matchType<LoadProgress>()(
  z.object({
    phase: z.enum(['warmup', 'measuring', 'stopping']),
    elapsedMs: z.number(),
    measuredMs: z.number().nullable(),
    scheduledPerS: z.number().nullable(),
    achievedPerS: z.number().nullable(),
    requests: z.int(),
    failed: z.int(),
    dropped: z.int(),
    awaited: z.int(),
    limitedSeconds: z.int(),
    thresholds: z.array(thresholdResultSchema),
    latencyMs: z.partialRecord(trendMetricSchema, percentilesSchema.nullable()),
  }),
)

const slowdownSchema = matchType<Slowdown>()(
  z.discriminatedUnion('kind', [
    z.object({
      kind: z.literal('throttled'),
      pacePerS: z.number().nullable(),
      nextTryAtMs: z.number().nullable(),
      givesUpAtMs: z.number().nullable(),
    }),
    z.object({ kind: z.literal('unreachable'), reason: z.string(), givesUpAtMs: z.number() }),
  ]),
)

/** See {@link RunSnapshot}. */
export const snapshotSchema = matchType<RunSnapshot>()(
  z.object({
    runId: z.string(),
    phase: z.enum(['intake', 'ready', 'running', 'paused', 'draining', 'awaiting', 'ended']),
    bytes: z.object({ read: z.number(), total: z.number() }),
    problems: z.object({ errors: z.int(), warnings: z.int() }),
    rows,
    toRepeat: z.int(),
    requests,
    inFlight: z.int(),
    ratePerSecond: z.object({ current: z.number(), mean: z.number() }),
    etaMs: z.number().nullable(),
    elapsedMs: z.number(),
    latencyMs: percentilesSchema.nullable(),
    triggeredRules: triggered_rules,
    errors,
    warnings,
    retryAfter: z.object({ answers: z.int(), waitedMs: z.number() }),
    slowdown: slowdownSchema.nullable(),
    answers: z.partialRecord(rowAnswerSchema, z.int()),
    callbacks: callbackCountsSchema.nullable(),
    load: loadProgressSchema.nullable(),
    notice: z.string().nullable(),
  }),
)
