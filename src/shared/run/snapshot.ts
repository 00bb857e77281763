import { z } from 'zod'
import { metricValuesSchema, trendMetricSchema } from '../load/metrics.ts'
import { thresholdResultSchema } from '../load/thresholds.ts'
import { formatClock, formatMoment } from '../messages/moment-text.ts'
import { rowAnswerSchema } from './item-state.ts'
import {
  callbackCountsSchema,
  errorCauseSchema,
  percentilesSchema,
  requestCountsSchema,
  rowCountsSchema,
  runWarningSchema,
  triggeredRuleSchema,
} from './run.ts'

/**
 * What the run's thread is doing. `ready`: the source is read and checked, and the run waits for `start`
 * without sending. `paused`: nothing new is sent until `resume`. `draining`: the last requests are in flight.
 * `awaiting`: everything is sent, callbacks are outstanding.
 */
const runPhaseSchema = z.enum(['intake', 'ready', 'running', 'paused', 'draining', 'awaiting', 'ended'])

export type RunPhase = z.infer<typeof runPhaseSchema>

/** State of a load test. Times are milliseconds. */
const loadProgressSchema = z.object({
  phase: z.enum(['warmup', 'measuring', 'stopping']),
  /** Time since measuring began; negative in the warm-up. */
  elapsedMs: z.number(),
  /** How long measuring lasts; null if it ends with a number of requests. */
  measuredMs: z.number().nullable(),
  /** The currently scheduled rate; null at a closed pace. */
  scheduledPerS: z.number().nullable(),
  /** The rate in the last complete second; null before the first. */
  achievedPerS: z.number().nullable(),
  requests: z.int(),
  failed: z.int(),
  dropped: z.int(),
  awaited: z.int(),
  /** Seconds that the generator shaped, not only the service. */
  limitedSeconds: z.int(),
  /** Time without any answer while requests are in flight; null unless it is unusually long. */
  silentMs: z.number().nullable(),
  thresholds: z.array(thresholdResultSchema),
  /** Metrics that are not latencies, over complete seconds. */
  metrics: metricValuesSchema,
  latencyMs: z.partialRecord(trendMetricSchema, percentilesSchema.nullable()),
})

export type LoadProgress = z.infer<typeof loadProgressSchema>

/**
 * Why a run sends slower than its plan allows. Times are Unix milliseconds.
 *
 * `throttled`: the service answers 429. `pacePerS` is the current pace, requests per second; null while all
 * answers are 429 and only single probes are sent, the next at `nextTryAtMs`. The run stops at `givesUpAtMs`;
 * null while there are other answers too.
 *
 * `unreachable`: requests do not reach the service, for `reason`. The run stops at `givesUpAtMs`.
 *
 * `waiting`: the only rows left wait to be sent again, the first of them until `untilMs`.
 */
const slowdownSchema = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('throttled'),
    pacePerS: z.number().nullable(),
    nextTryAtMs: z.number().nullable(),
    givesUpAtMs: z.number().nullable(),
  }),
  z.object({ kind: z.literal('unreachable'), reason: z.string(), givesUpAtMs: z.number() }),
  z.object({ kind: z.literal('waiting'), untilMs: z.number() }),
])

export type Slowdown = z.infer<typeof slowdownSchema>

/**
 * Why a run paused or stopped by itself, without a full stop, and what to do, in sentences. `code` is for
 * programs; null if the run is read from its journal, which keeps only the words.
 */
const stopNoticeSchema = z.object({
  code: z
    .enum([
      'key_refused',
      'access_refused',
      'unreachable',
      'throttled',
      'asked_to_wait',
      'mostly_errors',
      'ids_rewritten',
      'threshold_crossed',
      'first_refused',
    ])
    .nullable(),
  reason: z.string(),
  advice: z.string().nullable(),
})

export type StopNotice = z.infer<typeof stopNoticeSchema>

/** Why a run paused or stopped, with what to do, as one text. */
export function formatStop(reason: string, advice: string | null): string {
  return advice === null ? reason : `${reason}. ${advice}`
}

/** Most rules, and most causes of errors, in a snapshot while rows are sent. */
export const LIVE_MAX = 10

/** A small snapshot of a run, at most ten a second (docs/architecture.md §5). It never contains rows. */
export const runSnapshotSchema = z.object({
  runId: z.string(),
  phase: runPhaseSchema,
  /** Progress of intake. `total` is the source's size. */
  bytes: z.object({ read: z.number(), total: z.number() }),
  /** Problems found so far, by severity. */
  problems: z.object({ errors: z.int(), warnings: z.int() }),
  rows: rowCountsSchema,
  /** Rows among the unsent ones that were sent before and wait to be sent again. */
  toRepeat: z.int(),
  requests: requestCountsSchema,
  inFlight: z.int(),
  /** Requests ended in the last second, and since the start of sending. */
  ratePerSecond: z.object({ current: z.number(), mean: z.number() }),
  /** Expected time until the last row is settled; null while it is unknown or nothing gets through. */
  etaMs: z.number().nullable(),
  /** Time since sending started. */
  elapsedMs: z.number(),
  /** http_req_duration so far; null before the first answer. */
  latencyMs: percentilesSchema.nullable(),
  /** At most {@link LIVE_MAX} of each while rows are sent, most rows first. */
  triggeredRules: z.array(triggeredRuleSchema),
  errors: z.array(errorCauseSchema),
  /** Problems on the way to the service. */
  warnings: z.array(runWarningSchema),
  retryAfter: z.object({ answers: z.int(), waitedMs: z.number() }),
  /** Why the run sends slower than its plan allows; null if it does not. */
  slowdown: slowdownSchema.nullable(),
  /** Rows by the service's answer; empty for operations without such answers. */
  answers: z.partialRecord(rowAnswerSchema, z.int()),
  /** Null for sync runs. */
  callbacks: callbackCountsSchema.nullable(),
  /** Null unless the run is a load test. */
  load: loadProgressSchema.nullable(),
  /** Null unless the run paused or stopped by itself. */
  notice: stopNoticeSchema.nullable(),
})

export type RunSnapshot = z.infer<typeof runSnapshotSchema>

/** A slowdown on one line: `throttled by the service: sending 198/s`. Times are local, `HH:MM:SS`. */
export function formatSlowdown(slowdown: Slowdown): string {
  if (slowdown.kind === 'unreachable') {
    // What to check is said at the end of the run; here the cause suffices.
    const cause = slowdown.reason.split('; ')[0]
    return `cannot reach the service: ${cause}; trying again until ${formatClock(slowdown.givesUpAtMs)}`
  }
  if (slowdown.kind === 'waiting') {
    return `waiting until ${formatMoment(slowdown.untilMs, Date.now())} to send the last rows again`
  }
  const { pacePerS, nextTryAtMs, givesUpAtMs } = slowdown
  if (pacePerS !== null) return `throttled by the service: sending at most ${formatPace(pacePerS)}/s`
  const parts = [
    'throttled: the service answers only 429',
    ...(nextTryAtMs === null ? [] : [`next try at ${formatClock(nextTryAtMs)}`]),
    ...(givesUpAtMs === null ? [] : [`giving up at ${formatClock(givesUpAtMs)}`]),
  ]
  return parts.join('; ')
}

/** Requests per second, for people: `0.4`, `12`, `198`. */
export function formatPace(perSecond: number): string {
  return perSecond < 9.95 ? perSecond.toFixed(1) : String(Math.round(perSecond))
}
