import type { TrendMetric } from '../load/metrics.ts'
import type { ThresholdResult } from '../load/thresholds.ts'
import type { RowAnswer } from './item-state.ts'
import type {
  CallbackCounts,
  ErrorGroup,
  Percentiles,
  RequestCounts,
  RowCounts,
  RunWarning,
  TriggeredRule,
} from './run.ts'

/**
 * What the run's thread is doing. `ready`: the source is read and checked, nothing is being sent, and the run waits
 * for `start`. `paused`: nothing new is sent until `resume`. `draining`: the last requests are in flight.
 * `awaiting`: everything is sent, callbacks are outstanding.
 */
export type RunPhase = 'intake' | 'ready' | 'running' | 'paused' | 'draining' | 'awaiting' | 'ended'

/** How a load test stands. Times are milliseconds. */
export interface LoadProgress {
  phase: 'warmup' | 'measuring' | 'stopping'
  /** Since measuring began; negative in the warm-up. */
  elapsedMs: number
  /** How long measuring lasts; null where it ends with a number of requests. */
  measuredMs: number | null
  /** What the schedule asks for now; null at a closed pace. */
  scheduledPerS: number | null
  /** What was sent in the last second that is over; null before the first. */
  achievedPerS: number | null
  requests: number
  failed: number
  dropped: number
  /** Callbacks that are outstanding. */
  awaited: number
  /** Seconds that the generator shaped, and not the service. */
  limitedSeconds: number
  thresholds: ThresholdResult[]
  latencyMs: Partial<Record<TrendMetric, Percentiles | null>>
}

/** A small picture of a run, at most ten a second (docs/architecture.md §5). Rows never travel with it. */
export interface RunSnapshot {
  runId: string
  phase: RunPhase
  /** Progress of intake. `total` is the source's size. */
  bytes: { read: number; total: number }
  /** Problems found so far, warnings apart. */
  problems: { errors: number; warnings: number }
  rows: RowCounts
  /** Rows among those not sent that were sent before and wait to be sent again. */
  toRepeat: number
  requests: RequestCounts
  inFlight: number
  /** Requests ended in the last second, and since the start of sending. */
  ratePerSecond: { current: number; mean: number }
  /** Expected time until the last row is settled; null while it cannot be said, or nothing gets through. */
  etaMs: number | null
  /** Time since sending started. */
  elapsedMs: number
  /** http_req_duration so far; null before the first answer. */
  latencyMs: Percentiles | null
  /** At most ten each, most rows first. */
  triggeredRules: TriggeredRule[]
  errors: ErrorGroup[]
  /** What is odd about the way to the service. */
  warnings: RunWarning[]
  retryAfter: { answers: number; waitedMs: number }
  /** What keeps the run from sending as fast as its plan allows; null where nothing does. */
  slowdown: Slowdown | null
  /** Rows by what the service answered of them; empty for operations that have no such answers. */
  answers: Partial<Record<RowAnswer, number>>
  /** Null for sync runs. */
  callbacks: CallbackCounts | null
  /** Null for runs that are no load test. */
  load: LoadProgress | null
  /** Why the run paused or stopped on its own, with what to do; null while it did not. */
  notice: string | null
}

/**
 * What keeps a run from sending as fast as its plan allows. Times are Unix milliseconds.
 *
 * `throttled`: the service answers 429. `pacePerS` is the pace that it is sent at, requests per second; null while it
 * answers nothing but 429 and only single probes go out, the next at `nextTryAtMs`. The run stops at `givesUpAtMs`;
 * null while other answers come, too.
 *
 * `unreachable`: requests do not reach the service, for `reason`. The run stops at `givesUpAtMs`.
 */
export type Slowdown =
  | { kind: 'throttled'; pacePerS: number | null; nextTryAtMs: number | null; givesUpAtMs: number | null }
  | { kind: 'unreachable'; reason: string; givesUpAtMs: number }

/** Says a slowdown in a line: `throttled by the service: sending 198/s`. Times are local, `HH:MM:SS`. */
export function formatSlowdown(slowdown: Slowdown): string {
  if (slowdown.kind === 'unreachable') {
    // What to check is for the end of the run; here the cause is enough.
    const cause = slowdown.reason.split('; ')[0]
    return `cannot reach the service: ${cause}; trying again until ${formatClock(slowdown.givesUpAtMs)}`
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

function formatClock(ms: number): string {
  const date = new Date(ms)
  return [date.getHours(), date.getMinutes(), date.getSeconds()]
    .map((part) => String(part).padStart(2, '0'))
    .join(':')
}
