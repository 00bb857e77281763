import { z } from 'zod'
import { rowAnswerSchema } from '../row-answer.ts'
import { callbackCountsSchema, runSummarySchema } from '../run.ts'
import type { RunSnapshot } from '../snapshot.ts'
import { matchType } from './match-type.ts'

const { rows, requests, triggered_rules, errors, latency_ms } = runSummarySchema.shape

/** See {@link RunSnapshot}. */
export const snapshotSchema = matchType<RunSnapshot>()(
  z.object({
    runId: z.string(),
    phase: z.enum(['intake', 'ready', 'running', 'paused', 'draining', 'awaiting', 'ended']),
    bytes: z.object({ read: z.number(), total: z.number() }),
    problems: z.object({ errors: z.int(), warnings: z.int() }),
    rows,
    requests,
    inFlight: z.int(),
    ratePerSecond: z.object({ current: z.number(), mean: z.number() }),
    etaMs: z.number().nullable(),
    elapsedMs: z.number(),
    latencyMs: latency_ms.shape.http_req_duration.unwrap().nullable(),
    triggeredRules: triggered_rules,
    errors,
    retryAfter: z.object({ answers: z.int(), waitedMs: z.number() }),
    answers: z.partialRecord(rowAnswerSchema, z.int()),
    callbacks: callbackCountsSchema.nullable(),
    notice: z.string().nullable(),
  }),
)
